"""Moving a branch forward, also under the feet of a person who has it checked out.

The files of the checkout come first, then they and the index are made durable, then the branch is
moved: whoever finds it moved finds everything whole. A person's own changes stay: git itself holds
every file against its index, and what git ignores is looked at here, because git would write over
it. What a call before this one left when it was killed has the new contents, or their beginning:
only that is taken away.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors import GitFailed
from standfast.git import Git, contents, entries, standing
from standfast.git.durable import object_paths, sync_all
from standfast.git.snapshot import SUBMODULE
from standfast.lane_errors import BaseMoved, BaseRefused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_REBASES = ("rebase-merge/head-name", "rebase-apply/head-name")
_WORDS = "standfast: fast-forward"
_NEVER_NS = 2**63


class _Change(NamedTuple):
    """A path that is not the same in the two commits; an object is empty where there is none."""

    name: str
    old: str
    new: str
    mode: str


class _Checkout(NamedTuple):
    """A worktree that has the branch, and what has to change in it."""

    git: Git
    top: str
    old: str
    new: str
    changes: list[_Change]


def advance(git: Git, branch: str, old: str, new: str) -> None:
    """Move *branch* from *old* to *new*, its checkouts with it, durably."""
    ref = f"refs/heads/{branch}"
    at = git.resolve(ref)
    if at is not None and git.is_ancestor(new, at):
        _settle(git, branch)
        return
    if at != old:
        raise BaseMoved(f"{branch} is at {at or 'no commit'}, not at {old}")
    if not git.is_ancestor(old, new):
        raise BaseMoved(f"{branch} is at {old}, from where no way leads forward to {new}")
    _refuse_rebased(git, branch)
    places = _checkouts(git, branch, old, new)
    for place in places:
        _refuse_others(place)
    for place in places:
        _bring_forward(place)
    _move(places[0].git if places else git, ref, old, new)
    _settle(git, branch)


def _checkouts(git: Git, branch: str, old: str, new: str) -> list[_Checkout]:
    tops = _tops(git, branch)
    changes = _changes(git, old, new) if tops else []
    return [
        _Checkout(Git(directory=Path(top), program=git.program), top, old, new, changes)
        for top in tops
    ]


def _tops(git: Git, branch: str) -> list[str]:
    tops = [each.path for each in standing.listed(git) if each.branch == branch]
    return [top for top in tops if os.path.lexists(os.path.join(top, ".git"))]


def _changes(git: Git, old: str, new: str) -> list[_Change]:
    said = os.fsdecode(git.read("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new))
    fields = iter(said.split("\0")[:-1])
    found = []
    for facts, name in zip(fields, fields, strict=True):
        _, mode, was, will_be, _ = facts.split(" ")
        found.append(_Change(name, was.strip("0") and was, will_be.strip("0") and will_be, mode))
    return found


# May it be moved?


def _refuse_rebased(git: Git, branch: str) -> None:
    """A rebase has the branch checked out in secret, and would put it back at its end."""
    common = git.common_directory()
    for home in (common, *standing.folders(common)):
        heads = {standing.read_line(home / name) for name in _REBASES}
        if f"refs/heads/{branch}" in heads or standing.read_line(home / "BISECT_START") == branch:
            raise BaseRefused(f"{branch} is in the middle of a rebase or a bisection")


def _refuse_others(place: _Checkout) -> None:
    """Look before anything is changed: at what is unfinished, and at files that git ignores."""
    home = place.git.git_directory()
    _clear((home / "index.lock", home / "HEAD.lock"), place.top)
    doing = standing.unfinished(place.git)
    if doing is not None:
        raise BaseRefused(f"{doing} is not finished there", file=place.top)
    added = [each for each in place.changes if not each.old and each.mode != SUBMODULE]
    found = (_somebodys(place, each) for each in added)
    _refuse(place, sorted({name for name in found if name is not None}))


def _refuse(place: _Checkout, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise BaseRefused(f"it would write over {names[0]!r:.200}{more}", file=place.top)


def _somebodys(place: _Checkout, change: _Change) -> str | None:
    """What stands where a new file is to be, in its folders' places or below it; None: nothing."""
    names = {each.name for each in place.changes}
    path = os.path.join(place.top, change.name)
    if _is_folder(path):
        below = (os.path.relpath(each, place.top) for each in _files_below(path))
        return next((name for name in below if name not in names), None)
    if os.path.lexists(path):
        return None if _is_known(place, change) else change.name
    above = os.path.dirname(change.name)
    while above and not os.path.lexists(os.path.join(place.top, above)):
        above = os.path.dirname(above)
    is_fine = above in {"", *names} or _is_folder(os.path.join(place.top, above))
    return None if is_fine else above


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _files_below(folder: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        yield from (os.path.join(at, name) for name in (*names, *links))


def _is_known(place: _Checkout, change: _Change) -> bool:
    """Whether a file is what one of the two commits has there, or begins as the new one does."""
    held = contents.held(place.top, change.name)
    if held is None:
        return os.path.isdir(os.path.join(place.top, change.name)) and not change.new
    if contents.blob(held, place.new) in {change.old, change.new}:
        return True
    return bool(
        (change.new and contents.begins(place.git, held, f"{place.new}:{change.name}"))
        or (change.old and contents.is_all(place.git, held, f"{place.old}:{change.name}"))
    )


# The files.


def _bring_forward(place: _Checkout) -> None:
    try:
        _write_files(place)
    except GitFailed:
        if not _is_indexed(place):
            _try_again(place)
    _complete(place)
    contents.sync_files(place.top, [each.name for each in place.changes])


def _try_again(place: _Checkout) -> None:
    _undo(place)
    try:
        _write_files(place)
    except GitFailed as error:
        raise BaseRefused(error.problem, file=place.top) from error


def _is_indexed(place: _Checkout) -> bool:
    """Whether the index is the new one already: git wrote it after the files, and died."""
    rows = entries(place.git.read("ls-files", "-z", "--stage", "--full-name"))
    found = {name: (facts[0], facts[1]) for facts, name in rows}
    wanted = {each.name: (each.mode, each.new) if each.new else None for each in place.changes}
    return all(found.get(name) == at for name, at in wanted.items())


def _write_files(place: _Checkout) -> None:
    place.git.write("read-tree", "-m", "-u", place.old, place.new)


def _undo(place: _Checkout) -> None:
    """Git says no: perhaps only to times, or to what a call that was killed had written."""
    there = [each for each in place.changes if _is_there(place, each)]
    _refuse(place, [each.name for each in there if not _is_known(place, each)])
    left = [each for each in there if each.new and not _is_old(place, each)]
    if left:
        _unlink(place.top, [each.name for each in left])
        contents.restore(place.git, [each.name for each in place.changes if each.old], place.old)
    place.git.ask("update-index", "-q", "--refresh")


def _is_there(place: _Checkout, change: _Change) -> bool:
    is_link = change.mode == SUBMODULE
    return not is_link and os.path.lexists(os.path.join(place.top, change.name))


def _is_old(place: _Checkout, change: _Change) -> bool:
    held = contents.held(place.top, change.name)
    if held is None or not change.old:
        return False
    is_same = contents.blob(held, place.new) == change.old
    return is_same or contents.is_all(place.git, held, f"{place.old}:{change.name}")


def _unlink(top: str, names: Iterable[str]) -> None:
    for name in names:
        os.unlink(os.path.join(top, name))
        contents.remove_empty(top, os.path.dirname(name))


def _complete(place: _Checkout) -> None:
    """The index is the new one; after a power cut its files may have been cut off."""
    said = os.fsdecode(place.git.read("diff-files", "--name-only", "-z")).split("\0")[:-1]
    wanted = {each.name: each for each in place.changes if each.new and each.mode != SUBMODULE}
    broken = [name for name in said if name in wanted and _is_cut(place, name)]
    contents.restore(place.git, broken, place.new)
    gone = [each for each in place.changes if not each.new and _is_there(place, each)]
    _unlink(place.top, [each.name for each in gone if _is_old(place, each)])


def _is_cut(place: _Checkout, name: str) -> bool:
    if not os.path.lexists(os.path.join(place.top, name)):
        return True
    held = contents.held(place.top, name)
    return held is not None and contents.begins(place.git, held, f"{place.new}:{name}")


# The branch.


def _move(git: Git, ref: str, old: str, new: str) -> None:
    """The commits first: they may be somebody's, who did not sync them."""
    common = git.common_directory()
    sync_all(object_paths(common, _objects(git, old, new)))
    _clear((common / f"{ref}.lock",))
    try:
        git.write("update-ref", "-m", _WORDS, ref, new, old)
    except GitFailed as error:
        at = git.resolve(ref)
        if at == old:
            raise
        if at is None or not git.is_ancestor(new, at):  # else the git of a dead caller did it
            raise BaseMoved(f"{ref} was moved meanwhile") from error


def _settle(git: Git, branch: str) -> None:
    """It is there: nobody finds a lock of a git that died, and a power cut changes nothing."""
    _clear((git.common_directory() / "refs" / "heads" / f"{branch}.lock",))
    doors = [Git(directory=Path(top), program=git.program) for top in _tops(git, branch)]
    for door in doors:
        _clear((door.git_directory() / "HEAD.lock",), str(door.directory))
    for door in doors or [git]:
        door.make_durable(objects_since_ns=_NEVER_NS)


def _clear(locks: Collection[Path], top: str | None = None) -> None:
    busy = standing.clear(locks, top)
    if busy is not None:
        raise BaseRefused(f"another git is at work: {busy}", file=top)


def _objects(git: Git, old: str, new: str) -> list[str]:
    how = ("--objects", "--no-object-names", new, f"^{old}")
    return git.read("rev-list", *how).decode().split()

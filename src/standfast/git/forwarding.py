"""Bringing the files of a checkout from one commit to a later one; what is a person's stays.

Git itself holds every file against its index. What git ignores is looked at here, because git would
write over it; and what a call before this one left when it was killed, which has the new contents
or their beginning: only that is taken away.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors import GitFailed
from standfast.git import Git, contents, entries, held, standing
from standfast.git.changes import filtered
from standfast.git.snapshot import SUBMODULE
from standfast.lane_errors import BaseRefused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from standfast.git.held import Held


_REFUSALS = ("not uptodate", "would be overwritten", "would be removed", "would lose untracked")


class Change(NamedTuple):
    """A path that is not the same in the two commits; an object is empty where there is none."""

    name: str
    old: str
    new: str
    mode: str  # the new one
    was: str  # the mode before


class Checkout(NamedTuple):
    """A worktree that has the branch, and what has to change in it."""

    git: Git
    top: str
    old: str
    new: str
    changes: list[Change]
    died: bool = False  # a call before this one was cut off in the middle of the same


def changes(git: Git, old: str, new: str) -> list[Change]:
    """What has to change on the way."""
    said = os.fsdecode(git.read("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new))
    fields = iter(said.split("\0")[:-1])
    found = []
    for facts, name in zip(fields, fields, strict=True):
        before, mode, was, will_be, _ = facts.split(" ")
        objects = (was.strip("0") and was, will_be.strip("0") and will_be)
        found.append(Change(name, *objects, mode, before.removeprefix(":")))
    return found


def refuse_others(place: Checkout) -> None:
    """Look before anything is changed: at what is unfinished, and at files that git ignores."""
    doing = standing.unfinished(place.git)
    if doing is not None:
        raise BaseRefused(f"{doing} is not finished there", file=place.top)
    added = [each for each in place.changes if not each.old and each.mode != SUBMODULE]
    names = {each.name for each in place.changes}
    found = (_somebodys(place, each, names) for each in added)
    _refuse(place, sorted({name for name in found if name is not None}))


def _refuse(place: Checkout, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise BaseRefused(f"it would write over {names[0]!r:.200}{more}", file=place.top)


def _somebodys(place: Checkout, change: Change, names: Collection[str]) -> str | None:
    """What stands where a new file is to be, in its folders' places or below it; None: nothing."""
    path = os.path.join(place.top, change.name)
    if _is_folder(path):
        below = (os.path.relpath(each, place.top) for each in _files_below(path))
        return next((name for name in below if name not in names), None)
    if os.path.lexists(path):
        return None if _is_known(place, change) else change.name
    above = os.path.dirname(change.name)
    while above and not os.path.lexists(os.path.join(place.top, above)):
        above = os.path.dirname(above)
    is_fine = not above or above in names or _is_folder(os.path.join(place.top, above))
    return None if is_fine else above


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _files_below(folder: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        yield from (os.path.join(at, name) for name in (*names, *links))


def _is_known(place: Checkout, change: Change) -> bool:
    """Whether a file is what one of the two commits has there, or begins as the new one does."""
    found = held.look(place.top, change.name)
    if found is None:
        return os.path.isdir(os.path.join(place.top, change.name)) and not change.new
    if found.blob(place.new) in {change.old, change.new}:
        return True
    return bool(
        (change.new and _may_be_cut(place, found))
        or (change.old and found.is_all(place.git, f"{place.old}:{change.name}"))
    )


# The files.


def bring_forward(place: Checkout) -> None:
    """Write the new files and the new index, durably; the branch is not moved here.

    What goes through a filter of git is refused: filters of a repository are not run.
    """
    _refuse_filtered(place)
    try:
        _write_files(place)
    except GitFailed as error:
        if not _is_indexed(place):
            # One that refuses has looked at everything before it wrote anything.
            _try_again(place if _is_refusal(error) else place._replace(died=True))
    _complete(place)
    contents.sync_files(place.top, [each.name for each in place.changes])
    disk.sync_folder(str(place.git.git_directory()))  # the index, before HEAD says the same


def _refuse_filtered(place: Checkout) -> None:
    named = [each.name for each in place.changes if each.new and each.mode != SUBMODULE]
    found = filtered(place.git, named) if named else []
    if found:
        why = "goes through a filter of git (as with git-crypt or LFS), which is not run here"
        raise BaseRefused(f"{found[0]!r:.200} {why}", file=place.top)


def take_back(place: Checkout) -> None:
    """It does not go forward after all: the files are as the old commit has them."""
    _undo(place)


def mend_index(place: Checkout) -> None:
    """The branch was moved, and whoever did it died before the index: nobody touched that since."""
    if _entries(place) != {e.name: (e.was, e.old) for e in place.changes if e.old}:
        return
    none = "0" * len(place.new)
    lines = "".join(
        f"{each.mode} {each.new}\t{each.name}\0" if each.new else f"0 {none}\t{each.name}\0"
        for each in place.changes
    )
    place.git.write("update-index", "-z", "--index-info", stdin=os.fsencode(lines))
    place.git.ask("update-index", "-q", "--refresh")


def _entries(place: Checkout) -> dict[str, tuple[str, str]]:
    """What the index has for the files that change."""
    rows = entries(place.git.read("ls-files", "-z", "--stage", "--full-name"))
    wanted = {each.name for each in place.changes}
    return {name: (facts[0], facts[1]) for facts, name in rows if name in wanted}


def _try_again(place: Checkout) -> None:
    _undo(place)
    try:
        _write_files(place)
    except GitFailed as error:
        if not _is_refusal(error):
            raise  # it was cut off: the next call goes on
        raise BaseRefused(error.problem, file=place.top) from error


def _is_refusal(error: GitFailed) -> bool:
    return any(words in error.problem for words in _REFUSALS)


def _is_indexed(place: Checkout) -> bool:
    """Whether the index is the new one already: git wrote it after the files, and died."""
    return _entries(place) == {e.name: (e.mode, e.new) for e in place.changes if e.new}


def _write_files(place: Checkout) -> None:
    place.git.write("read-tree", "-m", "-u", place.old, place.new)


def _undo(place: Checkout) -> None:
    """Git says no: perhaps only to times, or to what a call that was killed had written."""
    there = [each for each in place.changes if _is_there(place, each)]
    _refuse(place, [each.name for each in there if not _is_known(place, each)])
    left = [each for each in there if each.new and not _is_old(place, each)]
    if left:
        _unlink(place.top, [each.name for each in left])
        contents.restore(place.git, [each.name for each in place.changes if each.old], place.old)
    place.git.ask("update-index", "-q", "--refresh")


def _is_there(place: Checkout, change: Change) -> bool:
    is_link = change.mode == SUBMODULE
    return not is_link and os.path.lexists(os.path.join(place.top, change.name))


def _is_old(place: Checkout, change: Change) -> bool:
    found = held.look(place.top, change.name)
    if found is None or not change.old:
        return False
    is_same = found.blob(place.new) == change.old
    return is_same or found.is_all(place.git, f"{place.old}:{change.name}")


def _unlink(top: str, names: Iterable[str]) -> None:
    for name in names:
        os.unlink(os.path.join(top, name))
        contents.remove_empty(top, os.path.dirname(name))


def _complete(place: Checkout) -> None:
    """The index is the new one; after a power cut its files may have been cut off."""
    said = os.fsdecode(place.git.read("diff-files", "--name-only", "-z")).split("\0")[:-1]
    wanted = {each.name: each for each in place.changes if each.new and each.mode != SUBMODULE}
    broken = [name for name in said if name in wanted and _is_cut(place, name)]
    contents.restore(place.git, broken, place.new)
    gone = [each for each in place.changes if not each.new and _is_there(place, each)]
    _unlink(place.top, [each.name for each in gone if _is_old(place, each)])


def _is_cut(place: Checkout, name: str) -> bool:
    if not os.path.lexists(os.path.join(place.top, name)):
        return True
    found = held.look(place.top, name)
    return found is not None and _may_be_cut(place, found)


def _may_be_cut(place: Checkout, found: Held) -> bool:
    """The beginning of a new file is a dead call's only where one died: a person shortens files."""
    compare = found.begins if place.died else found.is_all
    return compare(place.git, f"{place.new}:{found.name}")


def clear(locks: Collection[Path], top: str | None = None) -> None:
    """Sweep locks of gits that are gone; somebody's who is at work in the checkout is refused."""
    busy = standing.clear(locks, top)
    if busy is not None:
        raise BaseRefused(f"another git is at work: {busy}", file=top)

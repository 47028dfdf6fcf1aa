"""Bringing the files of a checkout from one commit to a later one; what is a person's stays.

What is changed is refused before anything is done. The new files are written where nobody works
(merge_room.py) and change places with the old ones (file_exchange.py); what they displaced is
looked at, and if somebody saved in that moment, all of it is taken back (saves.py). So it is after
a crash.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import GitFailed
from standfast.errors.lanes import BaseRefused
from standfast.git import (
    file_difference,
    file_exchange,
    merge_room,
    saves,
    worktree_contents,
    worktree_state,
)
from standfast.git.changes import filtered
from standfast.git.command import Git, entries, names
from standfast.git.snapshot import LINK, PLAIN, PROGRAM, SUBMODULE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from standfast.git.merge_room import Room


_REFUSALS = ("not uptodate", "would be overwritten", "would be removed", "would lose untracked")


_KINDS = {"file": PLAIN, "program": PROGRAM, "link": LINK}


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
    doing = worktree_state.unfinished(place.git)
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
    link = _link_above(place.top, change.name)
    if link is not None:  # what lies behind it is somewhere else
        return None if link in names else link
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


def _link_above(top: str, name: str) -> str | None:
    parts = name.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return next((each for each in above if os.path.islink(os.path.join(top, each))), None)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _files_below(folder: str) -> Iterator[str]:
    for at, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        yield from (os.path.join(at, name) for name in (*files, *links))


def _is_known(place: Checkout, change: Change) -> bool:
    """Whether a file is what one of the two commits has there, or begins as the new one does."""
    found = file_difference.look(place.top, change.name)
    if found is None:
        return os.path.isdir(os.path.join(place.top, change.name)) and not change.new
    return (
        saves.is_new(place, change, found)
        or found.blob(place.new) == change.old
        or bool(change.old and found.is_all(place.git, f"{place.old}:{change.name}"))
    )


# The files.


def bring_forward(place: Checkout) -> None:
    """Put the new files in place and write the new index, durably; the branch is not moved here.

    What goes through a filter of git is refused: filters of a repository are not run.
    """
    _refuse_filtered(place)
    settle(place)
    _refuse_changed(place)
    staged = _staged(place)
    at = merge_room.empty(place)
    _draft(place, at)
    brought = merge_room.settle(at, place.new)
    try:
        file_exchange.put_in_place(place, at, brought, staged)
        _refuse_saved(place, at)
    except OSError as error:
        raise disk.disk_error(error, error.filename or place.top) from error
    _complete(place)
    place.git.ask("update-index", "-q", "--refresh")
    worktree_contents.sync_folders(place.top, [each.name for each in place.changes])
    worktree_contents.sync_folders(at.path, [os.path.join("new", name) for name in brought])
    disk.sync_folder(str(place.git.git_directory()))  # the index, before HEAD says the same


def settle(place: Checkout) -> None:
    """What a call that died had put in place is taken back; saved words are named."""
    _name_kept(place, take_back(place))


def _refuse_changed(place: Checkout) -> None:
    """Look at what git calls changed before anything is: most who have changed a file are no race.

    What is as the new commit has it may be replaced by that; what is staged as it is stays.
    """
    place.git.ask("update-index", "-q", "--refresh")
    said = {*names(place.git.read("diff-files", "--name-only", "-z"))}
    there = [each for each in place.changes if each.name in said and _is_there(place, each)]
    staged = _entries(place) if there else {}
    theirs = [each for each in there if not _may_go(place, each)]
    _refuse(place, [e.name for e in theirs if not e.new or staged.get(e.name) != (e.mode, e.new)])


def _may_go(place: Checkout, change: Change) -> bool:
    found = file_difference.look(place.top, change.name)
    if found is None:
        return _is_known(place, change)
    return saves.is_new(place, change, found)


def _staged(place: Checkout) -> set[str]:
    """Of the files that go, those that git has: another of that name is a person's."""
    if all(each.new for each in place.changes):
        return set()
    return {*_entries(place)}


def _draft(place: Checkout, at: Room) -> None:
    """Have git write the new files where nobody works, and the new index."""
    given = {**place.git.variables, "GIT_WORK_TREE": at.draft}
    door = place.git.at(place.git.directory, **given)
    try:
        door.write("read-tree", "-m", "-u", place.old, place.new)
    except GitFailed as error:
        if any(words in error.problem for words in _REFUSALS):
            raise BaseRefused(error.problem, file=place.top) from error
        raise


def _refuse_saved(place: Checkout, at: Room) -> None:
    saved = saves.found(place, at)
    if saved:
        more = f" and {len(saved) - 1} more" if len(saved) > 1 else ""
        why = f"somebody saved {saved[0]!r:.200}{more} while the merge was written"
        raise BaseRefused(f"{why}; the file is as it was saved", file=place.top)


def _refuse_filtered(place: Checkout) -> None:
    named = [each.name for each in place.changes if each.new and each.mode != SUBMODULE]
    found = filtered(place.git, named) if named else []
    if found:
        why = "goes through a filter of git (as with git-crypt or LFS), which is not run here"
        raise BaseRefused(f"{found[0]!r:.200} {why}", file=place.top)


def take_back(place: Checkout) -> list[str]:
    """It does not go forward after all: the files are as they were; gives where words are kept."""
    if not merge_room.exists(place):
        return []
    at = merge_room.of(place)
    kept = file_exchange.take_back(place, at)
    worktree_contents.sync_folders(place.top, [each.name for each in place.changes])
    merge_room.drop(at)
    return kept


def finish(place: Checkout) -> bool:
    """The branch has moved; whether nobody can write into a file that was displaced any more."""
    if not merge_room.exists(place):
        return True
    is_final = saves.are_final(merge_room.of(place))
    if is_final:
        merge_room.drop(merge_room.of(place))
    return is_final


def unlike(place: Checkout) -> list[str]:
    """The branch has moved; files that should have come with it and are another, or not there."""
    wanted = [each for each in place.changes if each.new and each.mode != SUBMODULE]
    rows = [(e.mode, e.new, e.name) for e in wanted if not _is_plainly_new(place, e)]
    return worktree_contents.unlike(place.git, rows) if rows else []


def _is_plainly_new(place: Checkout, change: Change) -> bool:
    """Byte for byte: most files are, and then git need not be asked what it makes of them."""
    found = merge_room.form(place.top, change.name, place.new)
    return found is not None and found.blob == change.new and _KINDS.get(found.kind) == change.mode


def clear_room(place: Checkout) -> None:
    """What a call left that is over: words that somebody saved meanwhile are kept and named."""
    if merge_room.exists(place):
        at = merge_room.of(place)
        kept = file_exchange.clear(place, at)
        merge_room.drop(at)
        _name_kept(place, kept)


def _name_kept(place: Checkout, kept: list[str]) -> None:
    if kept:
        raise BaseRefused(naming(kept), file=place.top)


def naming(kept: list[str]) -> str:
    """What a person is told of words that have lost their place."""
    said = "what somebody saved while a merge was written is in the file no more"
    return f"{said}: it is kept in {', '.join(kept)}"


def has_landed(place: Checkout) -> bool:
    """Whether the branch came to where a call that died was bringing the checkout."""
    head = place.git.head()
    return bool(head and place.changes) and place.git.is_ancestor(place.new, str(head))


def give_up(place: Checkout) -> None:
    """It has not landed: files of ours are taken back, if nobody has put them in the index."""
    if place.changes and _entries(place) == _as_old(place):
        settle(place)
    else:
        clear_room(place)


def mend_index(place: Checkout) -> bool:
    """It has landed, and whoever did that died before the index; gives if that was behind.

    What is staged or committed otherwise since then is a person's.
    """
    since = {each.name for each in changes(place.git, place.new, str(place.git.head()))}
    old, staged = _as_old(place), _entries(place)
    behind = [
        e for e in place.changes if e.name not in since and old.get(e.name) == staged.get(e.name)
    ]
    none = "0" * len(place.new)
    lines = "".join(
        f"{each.mode} {each.new}\t{each.name}\0" if each.new else f"0 {none}\t{each.name}\0"
        for each in behind
    )
    if behind:
        place.git.write("update-index", "-z", "--index-info", stdin=os.fsencode(lines))
        place.git.ask("update-index", "-q", "--refresh")
    return bool(behind)


def _as_old(place: Checkout) -> dict[str, tuple[str, str]]:
    return {each.name: (each.was, each.old) for each in place.changes if each.old}


def _entries(place: Checkout) -> dict[str, tuple[str, str]]:
    """What the index has for the files that change."""
    rows = entries(place.git.read("ls-files", "-z", "--stage", "--full-name"))
    wanted = {each.name for each in place.changes}
    return {name: (facts[0], facts[1]) for facts, name in rows if name in wanted}


def _is_there(place: Checkout, change: Change) -> bool:
    is_link = change.mode == SUBMODULE
    return not is_link and os.path.lexists(os.path.join(place.top, change.name))


def _is_old(place: Checkout, change: Change) -> bool:
    found = file_difference.look(place.top, change.name)
    if found is None or not change.old:
        return False
    is_same = found.blob(place.new) == change.old
    return is_same or found.is_all(place.git, f"{place.old}:{change.name}")


def _unlink(top: str, names: Iterable[str]) -> None:
    for name in names:
        os.unlink(os.path.join(top, name))
        worktree_contents.remove_empty(top, os.path.dirname(name))


def _complete(place: Checkout) -> None:
    """A version before this one wrote the files where they are, and may have died in the middle."""
    if not place.died:
        return
    said = {*names(place.git.read("diff-files", "--name-only", "-z"))}
    wanted = [each for each in place.changes if each.new and each.mode != SUBMODULE]
    broken = [each.name for each in wanted if each.name in said and _is_cut(place, each)]
    worktree_contents.restore(place.git, broken, place.new)
    worktree_contents.sync_files(place.top, broken)
    gone = [each for each in place.changes if not each.new and _is_there(place, each)]
    _unlink(place.top, [each.name for each in gone if _is_old(place, each)])


def _is_cut(place: Checkout, change: Change) -> bool:
    if not os.path.lexists(os.path.join(place.top, change.name)):
        return True
    found = file_difference.look(place.top, change.name)
    return found is not None and saves.is_new(place, change, found)


def clear(locks: Collection[Path], top: str | None = None) -> None:
    """Sweep locks of gits that are gone; somebody's who is at work in the checkout is refused."""
    busy = worktree_state.clear(locks, top)
    if busy is not None:
        raise BaseRefused(f"another git is at work: {busy}", file=top)

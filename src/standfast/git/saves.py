"""Which of the files that a merge displaced hold what a person saved in that moment.

One that is what the old commit has there, and that nobody has open for writing, will stay so: it
has lost its name. Whoever has one open is waited for a moment. Where no system tells, what it says
counts, and it is looked at once more by the next merge.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from standfast import clock, disk, open_writers
from standfast.errors.base import StandfastError
from standfast.git import file_difference, merge_room
from standfast.git.command import names

if TYPE_CHECKING:
    from standfast.git.fast_forward import Change, Checkout
    from standfast.git.file_difference import Held
    from standfast.git.merge_room import Form, Room

    _At = tuple[str, str]  # a tree of the room, and a path in it

_PATIENCE_S = 2.0
_PAUSE_S = 0.01
_KINDS = {"100644": "file", "100755": "program", "120000": "link"}


def found(place: Checkout, at: Room) -> list[str]:
    """The names of files that somebody saved while ours were put in place."""
    there = list(merge_room.displaced(at))
    return sorted({name for _, name in (*_written(there), *_saved(place, at, there))})


def _written(there: list[_At]) -> list[_At]:
    """Those that somebody is writing, and does not come to an end with."""
    until = time.monotonic() + _PATIENCE_S
    while there := [each for each in there if has_writer(*each)]:
        if time.monotonic() > until:
            return there
        clock.pause(_PAUSE_S)
    return []


def has_writer(tree: str, name: str) -> bool | None:
    """Whether somebody has a file open for writing; None where nothing tells."""
    try:
        fd = disk.open_beneath(tree, name)
    except (OSError, StandfastError):
        return False  # a link, or nothing that is written into
    try:
        return open_writers.has_open(fd)
    finally:
        os.close(fd)


def are_final(at: Room) -> bool:
    """Whether no displaced file can change any more."""
    return all(has_writer(*each) is False for each in merge_room.displaced(at))


def is_still(tree: str, name: str, ours: Form, like: str) -> bool:
    """Whether a file is one that we brought, as we brought it, and stays so."""
    return not has_writer(tree, name) and merge_room.form(tree, name, like) == ours


def is_saved(place: Checkout, at: Room, tree: str, name: str) -> bool:
    """Whether a file holds words that no commit has."""
    return bool(_saved(place, at, [(tree, name)]))


def _saved(place: Checkout, at: Room, there: list[_At]) -> list[_At]:
    """Those that are neither as the old commit has them nor as the new one."""
    known = {each.name: each for each in place.changes}
    other = [each for each in there if not _is_old(place, known.get(each[1]), each[0])]
    return [
        (tree, name)
        for tree, name in _changed(place, at, other)
        if name not in known or not _is_new(place, known[name], tree)
    ]


def _is_old(place: Checkout, change: Change | None, tree: str) -> bool:
    if change is None:
        return False
    return merge_room.form(tree, change.name, place.new) == (change.old, _KINDS.get(change.was))


def _is_new(place: Checkout, change: Change, tree: str) -> bool:
    found = file_difference.look(tree, change.name)
    return found is not None and is_new(place, change, found)


def is_new(place: Checkout, change: Change, found: Held) -> bool:
    """Whether it is what the new commit has there, or what a dead call wrote of that.

    The beginning of a new file is a dead call's only where one died: a person shortens files.
    """
    if not change.new:
        return False
    compare = found.begins if place.died else found.is_all
    return found.blob(place.new) == change.new or compare(place.git, f"{place.new}:{change.name}")


def _changed(place: Checkout, at: Room, asked: list[_At]) -> list[_At]:
    """Those that git too calls changed: ends of lines and modes may be another matter for it."""
    said: set[_At] = set()
    old = {each.name for each in place.changes if each.old}
    for tree in {tree for tree, _ in asked}:
        given = {"GIT_INDEX_FILE": f"{at.path}/index", "GIT_WORK_TREE": tree}
        door = place.git.at(place.git.directory, **given)
        door.write("read-tree", place.old)
        door.ask("update-index", "-q", "--refresh")
        said |= {(tree, name) for name in names(door.read("diff-files", "--name-only", "-z"))}
    return [each for each in asked if each in said or each[1] not in old]

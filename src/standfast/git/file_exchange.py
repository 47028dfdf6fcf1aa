"""Putting the files of a merge in place, and taking them back, so that no save falls between.

A file changes places with what stands there, in one step; what is taken away is moved aside. All
that stood there is in our hands afterwards and is looked at then (saves.py): a look before would be
too early for whoever saves after it. What is found on disk says how far a call had come, so that
the one after a crash takes back as this one does.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from standfast import disk, renames
from standfast.errors.lanes import BaseRefused
from standfast.git import merge_room, saves, worktree_contents
from standfast.git.snapshot import SUBMODULE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from standfast.git.fast_forward import Change, Checkout
    from standfast.git.merge_room import Form, Room

_TRIES = 8


def put_in_place(
    place: Checkout, at: Room, names: Collection[str], staged: Collection[str]
) -> None:
    """First what goes, if git had it (*staged*): a folder may have to make room for a file."""
    for change in place.changes:
        if change.was == SUBMODULE and change.mode != SUBMODULE:
            worktree_contents.remove_empty(place.top, change.name)
        elif not change.new and change.name in staged:
            _take_away(place.top, at, change.name)
    for change in place.changes:
        if change.mode == SUBMODULE and not os.path.lexists(os.path.join(place.top, change.name)):
            _make_folders(place.top, f"{change.name}/x")
        elif change.name in names:
            _place(place, at, change)


def _take_away(top: str, at: Room, name: str) -> None:
    path = os.path.join(top, name)
    if not os.path.lexists(path) or (os.path.isdir(path) and not os.path.islink(path)):
        return
    _make_folders(at.gone, name)
    with _both(top, at.gone, name) as (target, aside):
        try:
            _aside(target, aside, os.path.basename(name))
        except FileNotFoundError:
            return
    worktree_contents.remove_empty(top, os.path.dirname(name))


def _place(place: Checkout, at: Room, change: Change) -> None:
    name, last = change.name, os.path.basename(change.name)
    if not change.old:
        _make_room(place.top, name)
    _make_folders(place.top, name)
    with _both(place.top, at.new, name) as (target, drafts):
        _give_to_group(target, drafts, last)
        is_there = bool(change.old)
        for _ in range(_TRIES):
            if is_there and _traded(place.top, at, name):
                return
            if renames.move_new(drafts, last, target, last):
                return
            is_there = True  # it came while we looked away
    raise BaseRefused(f"somebody keeps changing {name!r:.200}", file=place.top)


def _give_to_group(target: int, drafts: int, last: str) -> None:
    """A folder that several share gives its group to what is made in it: ours was not."""
    folder = os.fstat(target)
    if folder.st_mode & stat.S_ISGID:
        with suppress(OSError):  # not ours to give
            os.chown(last, -1, folder.st_gid, dir_fd=drafts, follow_symlinks=False)


def _make_room(top: str, name: str) -> None:
    """Folders without a file stand in nobody's way."""
    path = os.path.join(top, name)
    if os.path.isdir(path) and not os.path.islink(path):
        for folder, _, _ in os.walk(path, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                return


def _traded(top: str, at: Room, name: str) -> bool:
    """Ours is in place, and what stood there is in our hands; False if nothing stood there."""
    last = os.path.basename(name)
    with _both(top, at.new, name) as (target, drafts):
        try:
            if disk.swap(drafts, last, target, last):
                return True
            _make_folders(at.gone, name)
            with _both(top, at.gone, name) as (_, aside):
                _aside(target, aside, last)
        except FileNotFoundError:
            pass
    return False


def _aside(target: int, aside: int, last: str) -> None:
    os.rename(last, last, src_dir_fd=target, dst_dir_fd=aside)


# And back.


def take_back(place: Checkout, at: Room) -> list[str]:
    """Everything is as it was; gives where words are that somebody else's have taken the place of.

    Whoever saved over a file of ours wrote later than who saved over the one before: theirs stays.
    """
    ours = merge_room.listed(at)
    kept = []
    for name, form in ours.items():
        kept += _put_back(place, at, name, form)
    for tree, name in list(merge_room.displaced(at)):
        if tree == at.gone:
            kept += _bring_back(place, at, name)
    for each in place.changes:
        if each.mode == SUBMODULE and not each.old:
            worktree_contents.remove_empty(place.top, each.name)
    return kept


def _put_back(place: Checkout, at: Room, name: str, ours: Form) -> list[str]:
    """A file that we brought comes back into the room; one that was displaced into its place."""
    last = os.path.basename(name)
    if not os.path.lexists(os.path.join(at.new, name)):
        _fetch(place, at, name, ours)
        return []
    if saves.is_still(at.new, name, ours, place.new):
        return []  # it was never put in place
    _make_folders(place.top, name)
    with _both(place.top, at.new, name) as (target, drafts):
        if renames.move_new(drafts, last, target, last):
            return []  # somebody took ours away
        if not disk.swap(drafts, last, target, last):
            return _yielded(place, at, at.new, name)
        if saves.is_still(at.new, name, ours, place.new):
            return []
        disk.swap(drafts, last, target, last)  # saved over ours: that is newer
        return _yielded(place, at, at.new, name)


def _fetch(place: Checkout, at: Room, name: str, ours: Form) -> None:
    """Ours stands where nothing stood before."""
    if not saves.is_still(place.top, name, ours, place.new):
        return
    last = os.path.basename(name)
    with _both(place.top, at.new, name) as (target, drafts):
        _aside(target, drafts, last)
        if not saves.is_still(at.new, name, ours, place.new):
            renames.move_new(drafts, last, target, last)  # saved in this moment
    worktree_contents.remove_empty(place.top, os.path.dirname(name))


def _bring_back(place: Checkout, at: Room, name: str) -> list[str]:
    last = os.path.basename(name)
    try:
        _make_folders(place.top, name)
        with _both(place.top, at.gone, name) as (target, aside):
            if renames.move_new(aside, last, target, last):
                return []
    except OSError:
        pass  # a file stands where its folder was
    return _yielded(place, at, at.gone, name)


def _yielded(place: Checkout, at: Room, tree: str, name: str) -> list[str]:
    """What has lost its place: words of a person are kept, a commit has its own."""
    return [merge_room.keep(place, tree, name)] if saves.is_saved(place, at, tree, name) else []


# Folders.


@contextmanager
def _both(top: str, tree: str, name: str) -> Iterator[tuple[int, int]]:
    """The folders of a path in the checkout and in the room, open: no link is followed."""
    first = disk.open_folder_beneath(top, name)
    try:
        second = disk.open_folder_beneath(tree, name)
        try:
            yield first, second
        finally:
            os.close(second)
    finally:
        os.close(first)


def _make_folders(top: str, name: str) -> None:
    """As git makes them; each is synced with its files, when all are in place."""
    folder = os.path.dirname(os.path.join(top, name))
    if os.path.isdir(folder):
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError as error:
        raise OSError(errno.ENOTDIR, "a file stands where a folder is needed", folder) from error


def clear(place: Checkout, at: Room) -> list[str]:
    """What a call left that is over: nothing is moved; gives where saved words are kept."""
    there = [*merge_room.displaced(at)] if merge_room.listed(at) or os.path.isdir(at.new) else []
    ours = merge_room.listed(at)
    saved = [
        (tree, name)
        for tree, name in there
        if not (tree == at.new and merge_room.form(tree, name, place.new) == ours.get(name))
        and saves.is_saved(place, at, tree, name)
    ]
    return [merge_room.keep(place, tree, name) for tree, name in saved]

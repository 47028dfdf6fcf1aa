"""Making a worktree, also where making it was cut off before.

Git makes the branch, its own folder for the worktree, the links between the two, and then writes
the files. From the first moment on that folder is locked with a mark of ours, and the mark goes
when everything is durable: a worktree without it is whole, and is never written over. One that has
it holds nothing but what git began: its links are put right, and its files written again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import disk, filesystems
from standfast.errors.base import GitFailed
from standfast.errors.lanes import BranchTaken, InTheWay
from standfast.git import (
    file_difference,
    fresh_files,
    partial_worktree,
    worktree_contents,
    worktree_state,
)
from standfast.git.command import Git, checked_ref
from standfast.git.durable_files import sync_all
from standfast.git.excludes import exclude
from standfast.git.partial_worktree import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.git.file_difference import Held

EXCLUDED = "/.worktrees/"
_NOT_NEEDED = frozenset({"locked", "ORIG_HEAD", "logs"})  # of git's folder, after a power cut


def add(git: Git, path: str | Path, branch: str, start: str) -> None:
    """Have a worktree at *path* with *branch* in it, made at *start* if there is none yet."""
    whole = os.path.realpath(path)
    place = Place(git, git.common_directory(), whole, checked_ref(branch))
    own = partial_worktree.look(place)
    if own is None:
        worktree_state.refuse_elsewhere(git)
    exclude(place.common, EXCLUDED)  # worktrees inside the main one are not among its files
    own = own or _make(place, start)
    if own is not None:
        if partial_worktree.is_whole(place, own):
            return
        _go_on(place, own, start)
    _finish(place)


def _make(place: Place, start: str) -> Path | None:
    """Have git make it; gives the folder of one that a git left behind made meanwhile."""
    if not _is_free(place):
        own = partial_worktree.wait(
            place
        )  # it may be about to take its files away, or have made it
        if own is not None:
            return own
        _refuse_another(place)
    disk.forget(str(place.link))
    told = ("worktree", "add", "--quiet", "--lock", "--reason", place.mark)
    try:
        place.git.write(*told, "-b", place.branch, "--", place.path, start)
    except GitFailed:
        own = partial_worktree.wait(place)
        if own is not None:
            return own
        at = place.git.resolve(f"refs/heads/{place.branch}")
        if at is None:
            raise
        _refuse_taken(place, at, start)
        place.git.write(*told, "--", place.path, place.branch)
    return None


def _refuse_taken(place: Place, at: str, start: str) -> None:
    """One that a git of ours left behind, or a rollback, has no commit that *start* lacks."""
    if not place.git.is_ancestor(at, start):
        raise BranchTaken(f"there is a branch {place.branch} already, with commits of its own")
    for each in worktree_state.listed(place.git):
        if each.branch == place.branch:
            raise BranchTaken(f"{place.branch} is checked out in {each.path}")


def _refuse_another(place: Place) -> None:
    if not _is_free(place):
        raise InTheWay("something is there that is not the lane's worktree", file=place.path)


def _is_free(place: Place) -> bool:
    """Only an empty folder, or the mere link of a worktree that was never made, may be there."""
    if not os.path.lexists(place.path):
        return True
    try:
        names = os.listdir(place.path)
    except OSError:
        return False  # a file, or a folder that is not ours to read
    return not names or (names == [".git"] and _leads_nowhere(place.link))


def _leads_nowhere(link: Path) -> bool:
    said = worktree_state.read_line(link)
    if said is None:
        return False
    target = said.removeprefix("gitdir: ")
    return not said or (target != said and not os.path.lexists(link.parent / target))


# Going on where somebody was cut off.


def _go_on(place: Place, own: Path, start: str) -> None:
    if place.git.resolve(f"refs/heads/{place.branch}") is None:
        none = "0" * len(start)
        place.git.write("update-ref", f"refs/heads/{place.branch}", start, none)
    _spare_staged(place, own)
    if not os.path.lexists(place.link):
        _say(own / "locked", place.mark)  # with a link and without a mark it would pass for whole
    Path(place.path).mkdir(parents=True, exist_ok=True)
    _say(own / "gitdir", str(place.link))
    _say(own / "commondir", "../..")
    _say(own / "HEAD", f"ref: refs/heads/{place.branch}")
    _say(place.link, f"gitdir: {own}")
    door = place.git.at(place.path)
    _refuse_others(door, place.path)
    _say(own / "locked", place.mark)
    door.write("reset", "--hard", "--quiet")


def _say(file: Path, said: str) -> None:
    if worktree_state.read_line(file) != said:
        disk.replace(str(file), f"{said}\n".encode(), mode=0o644)


def _spare_staged(place: Place, own: Path) -> None:
    """Where our mark is nobody has staged anything yet, and the index may have been cut off."""
    if worktree_state.read_line(own / "locked") != place.mark:
        try:
            head = worktree_state.head_of(place.git, own)
            name = worktree_state.staged(place.git, own, head)
        except GitFailed:
            name = None  # a power cut left none that can be read
            disk.forget(str(own / "index"))
        if name is None:
            return
        raise InTheWay(
            f"something is staged in the worktree that was there: {name!r:.200}", file=place.path
        )
    disk.forget(str(own / "index"))


def _refuse_others(door: Git, path: str) -> None:
    """Of what is there, all must be what git wrote, or the beginning of it.

    The attributes by which git wrote it may not be there yet.
    """
    names = [name for name, how in worktree_contents.differing(door).items() if how != "D"]
    with fresh_files.checkout(door, "HEAD", names) as whole:
        for name in names:
            found = file_difference.look(path, name)
            if found is None or not _begins(door, found, file_difference.look(whole, name)):
                raise InTheWay(f"somebody's file is there: {name!r:.200}", file=path)


def _begins(door: Git, found: Held, whole: Held | None) -> bool:
    return found.against(whole) is not None or found.begins(door, f"HEAD:{found.name}")


def _finish(place: Place) -> None:
    """Everything is durable, each file of the checkout too, and only then the mark goes."""
    own = partial_worktree.own_folder(place)
    if own is None:
        raise GitFailed("git made a worktree, but it is not there", file=place.path)
    try:
        _sync(place, own)
    except OSError as error:
        raise disk.disk_error(error, place.path) from error
    try:
        os.rename(own / "locked", own / partial_worktree.WHOLE)
    except OSError as error:
        raise disk.disk_error(error, str(own / "locked"), "rename") from error
    disk.sync_folder(str(own))


def _sync(place: Place, own: Path) -> None:
    """All at once where that is cheaper; worktree and repository may be on two disks."""
    if not filesystems.sync(place.path):
        _sync_files(place.path)
    if filesystems.sync(str(place.common)):
        return
    sync_all(
        [
            *_needed(own),
            own,
            own.parent,
            place.common,
            *_with_folders(place.common / "refs" / "heads" / place.branch, place.common),
            *_with_folders(place.link, place.common.parent),
        ]
    )


def _sync_files(top: str) -> None:
    """Have all of them written out, then wait for each: contents before the names of them."""
    paths = [
        Path(folder, name)
        for folder, _, names in os.walk(top, topdown=False)
        for name in (*names, "")
    ]
    for path in paths:
        disk.start_writing(str(path))
    sync_all(paths)


def _needed(own: Path) -> list[Path]:
    """Files before the folders that name them."""
    found = [path for path in own.rglob("*") if not path.is_symlink()]
    kept = (each for each in found if not _NOT_NEEDED.intersection(each.relative_to(own).parts))
    return sorted(kept, reverse=True)


def _with_folders(path: Path, top: Path) -> Iterator[Path]:
    """A file and the folders above it that may be new."""
    yield path
    for folder in path.parents:
        if folder in {top, Path(folder.anchor)}:
            return
        yield folder

"""Retiring a worktree: only where nothing in it can be lost, and never by force.

Its files go one by one, each only if it is what it was when git called it clean; a file that
somebody puts there meanwhile stays, and with it the worktree. A mark of ours tells a call after a
death that missing files are those which the dead one took away.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import disk
from standfast.git import ignored_files, worktree_contents, worktree_state
from standfast.git.command import Git, names
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARK = "standfast takes it away"
_CHANGED = -1  # the time of change, last of what is known of a file
_KEPT_BY_GIT = ("modules", "refs")  # of a worktree alone: submodules, and refs of its own


def remove(
    git: Git, path: str | Path, ours: Mapping[str, Sequence[int]] | None = None
) -> str | None:
    """Take a worktree away; gives why it stays, or None when it is gone.

    *ours* are ignored files as we left them (ignored_files.py): those that are still so may go.
    """
    whole = os.path.realpath(path)
    own = worktree_state.own_folder(git.common_directory(), whole)
    if own is None:
        return _no_linked_one(git, whole)
    link = Path(whole, ".git")
    if not os.path.lexists(link):
        return _forget(git, whole, own)
    if not worktree_state.leads_to(link, own):
        return "something else is there now"
    return _retire(git, whole, own, ours or {})


def _no_linked_one(git: Git, top: str) -> str | None:
    if any(each.path == top for each in worktree_state.listed(git)):
        return "it is the main worktree"
    return "it is not a worktree of this repository" if os.path.lexists(top) else None


def _retire(git: Git, top: str, own: Path, ours: Mapping[str, Sequence[int]]) -> str | None:
    door = git.at(top)
    before = _facts(door, top)
    lock = worktree_state.read_line(own / "locked")
    reason = _why_not(door, own, top, lock)
    if reason is None:
        other, may_go = _others(door, top, ours)
        reason = other and f"a file is in it that no commit has: {other!r:.200}"
    if reason is None:
        disk.replace(str(own / "locked"), _MARK.encode(), mode=0o644)
        for name in may_go:
            ignored_files.take(top, name, ours[name])
        _take_files(top, before, {ours[name][0] for name in may_go})
        reason = _close(git, top, own)
    elif lock != _MARK:
        return reason
    if reason is not None:
        _put_back(door, own)
    return reason


# Whether anything would be lost.


def _why_not(door: Git, own: Path, top: str, lock: str | None) -> str | None:
    if lock not in {None, _MARK}:
        return f"somebody locked it: {lock!r:.100}"
    people = programs.working_in(top)
    if people:
        return f"process {people[0]} works in it"
    doing = worktree_state.unfinished(door)
    if doing is not None:
        return f"{doing} is not finished in it"
    head = worktree_state.head_of(door, own)
    return _kept_by_git(door, own, head) or _changed(door, is_begun=lock == _MARK)


def _changed(door: Git, *, is_begun: bool) -> str | None:
    staged = door.read("diff-index", "--cached", "--name-only", "-z", "HEAD")
    if staged:
        return f"something is staged in it: {_first(staged)!r:.200}"
    broken = worktree_contents.differing(door)
    left_out = worktree_contents.skipped(door) if broken else set()
    for name, how in broken.items():
        if how != "D" or not (is_begun or name in left_out):
            return f"a file is changed in it: {name!r:.200}"
    return None


def _others(door: Git, top: str, ours: Mapping[str, Sequence[int]]) -> tuple[str | None, list[str]]:
    """The first file that no commit has and that is not as we left it; and those that are."""
    if not ours:  # not each of the files in a large folder
        found = door.read("ls-files", "--others", "--directory", "--no-empty-directory", "-z")
        return (_first(found) if found else None), []
    parts: list[bytes] = []
    door.stream(parts.append, "ls-files", "--others", "-z")  # a link is not followed by git
    every = list(names(b"".join(parts)))
    for name in every:
        if name not in ours or not ignored_files.is_still(os.path.join(top, name), ours[name]):
            return name, []
    return None, every


def _first(output: bytes) -> str:
    return os.fsdecode(output.split(b"\0")[0])


def _kept_by_git(git: Git, own: Path, head: str | None) -> str | None:
    """What would go with git's own folder of the worktree."""
    if head is not None and not git.read("for-each-ref", "--count=1", f"--contains={head}"):
        return "it has commits that no branch holds"
    for name in _KEPT_BY_GIT:
        if any(files for _, _, files in os.walk(own / name)):
            return f"git keeps something for it alone, in its {name}"
    return None


# Taking away.


def _facts(door: Git, top: str) -> dict[str, tuple[int, ...]]:
    """What each tracked file is now; taken before git is asked whether they are clean."""
    found = {}
    for name in os.fsdecode(door.read("ls-files", "-z")).split("\0")[:-1]:
        seen = _identity(os.path.join(top, name))
        if seen is not None:
            found[name] = seen
    return found


def _identity(path: str) -> tuple[int, ...] | None:
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return facts.st_ino, facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _take_files(top: str, before: Mapping[str, tuple[int, ...]], gone: set[int]) -> None:
    """*gone* are inodes of which a name went: that changes the time of change of the others."""
    for name, seen in before.items():
        path = os.path.join(top, name)
        if not stat.S_ISDIR(seen[1]) and _is_still(_identity(path), seen, gone):
            _unlink(path)
            gone.add(seen[0])
    for folder, _, _ in os.walk(top, topdown=False):
        if folder != top:
            _remove_if_empty(folder)


def _is_still(now: tuple[int, ...] | None, seen: tuple[int, ...], gone: set[int]) -> bool:
    if now is None or now[:_CHANGED] != seen[:_CHANGED]:
        return False
    return now == seen or seen[0] in gone


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise disk.disk_error(error, path, "remove") from error


def _remove_if_empty(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except OSError:
        return False
    return True


def _close(git: Git, top: str, own: Path) -> str | None:
    """The link goes, then the folder, then what git has of it."""
    meanwhile = "somebody put something into it meanwhile"
    if os.listdir(top) != [".git"]:
        return meanwhile
    link = os.path.join(top, ".git")
    disk.forget(link)
    if not _remove_if_empty(top):
        disk.replace(link, f"gitdir: {own}\n".encode(), mode=0o644)
        return meanwhile
    return _forget(git, top, own)


def _put_back(door: Git, own: Path) -> None:
    """It stays after all: with its files, and without our mark."""
    broken = worktree_contents.differing(door)
    left_out = worktree_contents.skipped(door)
    missing = [name for name, how in broken.items() if how == "D" and name not in left_out]
    worktree_contents.restore(door, missing, "HEAD")
    disk.forget(str(own / "locked"))


def _forget(git: Git, top: str, own: Path) -> str | None:
    """Its folder is gone, by us or by somebody: git may forget it, if that is all there was."""
    if os.path.lexists(top) and not _remove_if_empty(top):
        return "something else is there now"
    lock = worktree_state.read_line(own / "locked")
    if lock not in {None, _MARK}:
        return f"somebody locked it: {lock!r:.100}"
    head = worktree_state.head_of(git, own)
    reason = _kept_by_git(git, own, head)
    name = worktree_state.staged(git, own, head) if reason is None else None
    if name is not None:
        reason = f"something is staged in it: {name!r:.200}"
    if reason is None:
        disk.forget(str(own / "locked"))
        git.write("worktree", "remove", "--", top)
        disk.sync_folder(os.path.dirname(top))
        disk.sync_folder(str(git.common_directory()))
    return reason

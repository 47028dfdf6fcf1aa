"""Files of the main checkout that git ignores and lanes need: copied, each with its rights."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.git.command import names as listed
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from standfast.git.command import Git
    from standfast.runs.lanes.lane_context import Work

LARGEST = 64 * 1024 * 1024
_RIGHTS = 0o777


def missing(git: Git, base: str, wanted: Sequence[str]) -> str | None:
    """Why a lane from *base* could not have one of these files, before any lane is begun."""
    if not wanted:
        return None
    tracked = set(listed(git.read("ls-tree", "-r", "-z", "--name-only", base)))
    return next(filter(None, (_why(str(git.directory), name, tracked) for name in wanted)), None)


def copy(work: Work) -> str | None:
    """Copy each file; gives why not, where one cannot be copied."""
    if not work.spec.copy:
        return None
    tracked = set(listed(work.tree.read("ls-files", "-z")))
    for name in work.spec.copy:
        error = _why(work.root, name, tracked, work)
        if error is not None:
            return error
    return None


def _why(root: str, name: str, tracked: Collection[str], work: Work | None = None) -> str | None:
    """What keeps a file from being copied; with *work* it is copied, else only looked at."""
    try:
        error = "git has it already" if name in tracked else _try(root, name, work)
    except FileNotFoundError:
        error = "there is no such file in the main checkout"
    except OSError as failed:
        error = str(failed.strerror)
    except StandfastError as failed:
        error = failed.problem
    return None if error is None else f"copy `{printable(name)}`: {error}"


def _try(root: str, name: str, work: Work | None) -> str | None:
    data, rights = _read(root, name)
    return None if work is None else _put(work, name, data, rights)


def _put(work: Work, name: str, data: bytes, rights: int) -> str | None:
    """One file with its rights; what is there already is somebody's by now, and stays."""
    disk.make_folders_beneath(work.spec.worktree, name)
    folder = disk.open_folder_beneath(work.spec.worktree, name)
    try:
        is_new = _create(folder, os.path.basename(name), data, rights)
        if work.tree.ignores(name):
            return None
        if is_new:
            disk.forget(os.path.basename(name), folder=folder)
        return "git does not ignore it: it would be committed with the lane's work"
    finally:
        os.close(folder)


def _create(folder: int, name: str, data: bytes, rights: int) -> bool:
    try:
        disk.create(name, data, mode=rights, folder=folder)
    except FileExistsError:
        return False
    disk.sync_fd(folder)
    return True


def _read(root: str, name: str) -> tuple[bytes, int]:
    fd = disk.open_beneath(root, name)
    try:
        rights = os.fstat(fd).st_mode & _RIGHTS
        return disk.read_fd(fd, limit=LARGEST, name=name), rights
    finally:
        os.close(fd)

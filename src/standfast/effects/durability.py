"""What a command wrote is made to last before its end is told: its files, and its commits.

An agent commits with git's defaults, which sync nothing. A checkpoint that names such a commit
must not outlive it, so that its objects and refs are synced here, beside the work tree. What is
synced is never chosen by a clock, which a command may set: it is everything, or, where that would
be dear, what is not as it was before the command.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from standfast import disk, filesystems
from standfast.errors.base import StandfastError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.effects.effect_folder import Order
    from standfast.effects.rules import Ended

    Facts = tuple[int, ...]

_NOT_THERE = {
    errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM,
    errno.ELOOP, errno.EISDIR, errno.ENXIO,
}  # fmt: skip
_OURS = ("standfast", "worktrees")  # in a git directory: the journal, and what is other worktrees'


def look(order: Order) -> dict[str, Facts] | None:
    """How everything is that the command may change; None where all is synced anyway."""
    if all(filesystems.syncs_whole(top) for top in _tops(order)):
        return None
    return {path: facts for top in _tops(order) for path, facts in _listed(top)}


def made_durable(order: Order, before: Mapping[str, Facts] | None, ended: Ended) -> Ended:
    """The end that may be told: a disk that refuses makes it one that went wrong."""
    try:
        for top in _tops(order):
            if os.path.isdir(top) and not filesystems.sync(top):
                sync_tree(top, before or {})
    except (OSError, StandfastError) as error:
        said = getattr(error, "problem", None) or str(error)
        return ended._replace(how="not durable", err=f"{ended.err}{said}\n")
    return ended


def _tops(order: Order) -> tuple[str, ...]:
    """Contents before what speaks of them."""
    return (*order.durable, *reversed(order.git))


def sync_tree(top: str, before: Mapping[str, Facts]) -> None:
    """Sync every file and folder below *top* that is not as it was *before*.

    The command may have taken any of it away, the whole tree too.
    """
    changed = [path for path, facts in _listed(top) if before.get(path) != facts]
    for path in changed:
        disk.start_writing(path)
    for path in changed:
        _sync(path)


def _listed(top: str) -> Iterator[tuple[str, Facts]]:
    """Files and folders, each folder behind all that it holds."""
    try:
        entries = list(os.scandir(top))
    except OSError:
        return  # gone, or not to be read by us
    is_git = any(entry.name == "objects" for entry in entries)
    for entry in entries:
        if is_git and entry.name in _OURS:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _listed(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield from _facts(entry.path)
    yield from _facts(top)


def _facts(path: str) -> Iterator[tuple[str, Facts]]:
    try:
        found = os.lstat(path)
    except OSError:
        return
    yield path, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _sync(path: str) -> None:
    try:
        if os.path.isdir(path):
            disk.sync_folder(path)
        else:
            disk.sync_and_close(disk.open_regular(path))
    except OSError as error:
        if error.errno not in _NOT_THERE:  # gone, or not to be read by us
            raise

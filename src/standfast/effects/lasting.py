"""What a command wrote is made to last before its end is told: its files, and its commits.

An agent commits with git's defaults, which sync nothing. A checkpoint that names such a commit
must not outlive it, so that its objects and refs are synced here, beside the work tree.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors import StandfastError

if TYPE_CHECKING:
    from standfast.effects.folder import Order
    from standfast.protocol.effects import Ended

_SLACK_NS = 2_000_000_000  # times of files are coarse
_NOT_THERE = {
    errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM,
    errno.ELOOP, errno.EISDIR, errno.ENXIO,
}  # fmt: skip


def made_durable(order: Order, since_ns: int, ended: Ended) -> Ended:
    """The end that may be told: a disk that refuses makes it one that went wrong."""
    try:
        for top in order.durable:
            sync_tree(top, since_ns - _SLACK_NS)
        if order.git:
            _sync_git(*order.git, since_ns - _SLACK_NS)
    except (OSError, StandfastError) as error:
        said = getattr(error, "problem", None) or str(error)
        return ended._replace(how="not durable", err=f"{ended.err}{said}\n")
    return ended


def sync_tree(top: str, since_ns: int) -> None:
    """Sync every file and folder below *top* that changed since then.

    The command may have taken any of it away, the whole tree too.
    """
    for folder, _, names in os.walk(top, topdown=False):
        for name in names:
            path = os.path.join(folder, name)
            if _is_changed_file(path, since_ns):
                _sync(path, is_folder=False)
        _sync(folder, is_folder=True)


def _sync(path: str, *, is_folder: bool) -> None:
    try:
        if is_folder:
            disk.sync_folder(path)
        else:
            disk.sync_and_close(disk.open_regular(path))
    except OSError as error:
        if error.errno not in _NOT_THERE:  # gone, or not to be read by us
            raise


def _is_changed_file(path: str, since_ns: int) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return found.st_ctime_ns >= since_ns and os.path.isfile(path)


def _sync_git(own: str, common: str, since_ns: int) -> None:
    """Sync what was committed: the git directory of a worktree and the one all of them share."""
    from pathlib import Path  # a command that has no repository needs none of it

    from standfast.git.durable import durable_paths, sync_all

    if os.path.isdir(common):
        sync_all(durable_paths(Path(own), Path(common), objects_since_ns=since_ns))

"""Copies of files that may be damaged: as much of them as can be read, and synced."""

from __future__ import annotations

import errno
import os

from standfast import disk

_SECTOR = 512


def copy(source: str, target: str) -> None:
    """Make a synced copy of a regular file under a new name; cleaned up on failure.

    Sectors that cannot be read any more are zeros in the copy.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    given = disk.open_regular(source)
    try:
        made = os.open(target, flags, disk.FILE_MODE)
        try:
            disk.give(made, os.stat(os.path.dirname(target)))
            at = 0
            while part := _read_part(given, at, 1 << 20):
                disk.write_all(made, part)
                at += len(part)
            disk.sync_fd(made)
        except BaseException:
            disk.forget(target)
            raise
        finally:
            os.close(made)
    finally:
        os.close(given)


def _read_part(fd: int, at: int, size: int) -> bytes:
    """What can be read: where the disk fails, smaller and smaller parts are tried."""
    try:
        return os.pread(fd, size, at)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    if size <= _SECTOR:
        return bytes(min(size, max(0, os.fstat(fd).st_size - at)))
    half = size // 2
    first = _read_part(fd, at, half)
    return first + _read_part(fd, at + half, half) if len(first) == half else first

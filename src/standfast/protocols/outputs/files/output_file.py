"""One output as it stands on disk: read without waiting for anything, and judged.

Hook path: a stage and the hook that ends a subagent must judge alike.
"""

from __future__ import annotations

import errno
import os

from standfast import disk
from standfast.errors.base import DiskFailed, TooLarge
from standfast.protocols.outputs.rules import whole_output

_NO_FILE = frozenset({errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENOTDIR, errno.ENODEV})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM})


class Seen:
    """One file: why it is not valid, its digest and size as far as it could be read."""

    __slots__ = ("data", "digest", "fault", "size")

    def __init__(self, fault: str | None, data: bytes = b"", size: int = 0) -> None:
        self.fault = fault
        self.data = data
        self.digest = _digest(data) if data else ""
        self.size = len(data) or size


def _digest(data: bytes) -> str:
    from hashlib import sha256  # a missing file needs none

    return sha256(data).hexdigest()


def look(path: str) -> Seen:
    """Read one output; a link, a FIFO or a folder is not a file to us."""
    try:
        fd = disk.open_regular(path)
    except FileNotFoundError:
        return Seen(whole_output.MISSING)
    except OSError as error:
        if error.errno in _NO_FILE:
            return Seen(whole_output.NOT_A_FILE)
        if error.errno in _NO_RIGHT:
            return Seen(whole_output.UNREADABLE)
        raise DiskFailed(f"cannot read it: {error.strerror}", file=path) from error
    try:
        data = disk.read_fd(fd, limit=whole_output.LIMIT, name=path)
    except TooLarge:
        return Seen(whole_output.TOO_LARGE, size=os.fstat(fd).st_size)
    except OSError as error:
        raise DiskFailed(f"cannot read it: {error.strerror}", file=path) from error
    finally:
        os.close(fd)
    return Seen(whole_output.fault(data), data)

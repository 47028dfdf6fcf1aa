"""What a command says: a file that it appends to, held to a size while it writes.

A file and not a pipe: should the supervisor die, the command is not cut off in mid-line. Room is
given back by a hole at the beginning of the file, so that no word is lost that is said meanwhile.
"""

from __future__ import annotations

import ctypes
import hashlib
import os

from standfast import disk

TAIL = 4_000  # characters of its end that are told
_PUNCH_HOLE = 0x01 | 0x02  # FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE


class Stream:
    """One stream of a command."""

    def __init__(self, path: str, cap: int) -> None:
        self._cap = cap
        self.fd = disk.open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._from = _first_byte(self.fd)  # what is before it was let go of
        self._dropped = 0

    def bound(self) -> bool:
        """Let go of what is older than the last *cap* bytes, once there are twice as many."""
        size = os.fstat(self.fd).st_size
        if size - self._from <= 2 * self._cap:
            return False
        if _punch(self.fd, size - self._cap):
            self._from = size - self._cap
        else:
            self._start_over(size)
        return True

    def _start_over(self, size: int) -> None:
        """Where files have no holes: what is said in this very moment may be lost."""
        kept = os.pread(self.fd, self._cap, size - self._cap)
        os.ftruncate(self.fd, 0)  # the command appends: its next words begin here
        self._dropped += size
        try:
            disk.write_all(self.fd, kept)
            self._dropped -= len(kept)
        except OSError:
            pass  # the disk is full: the command must not be lost with its words

    @property
    def size(self) -> int:
        """How many bytes it said, as far as they were seen."""
        return self._dropped + os.fstat(self.fd).st_size

    def tail(self) -> str:
        """The end of it."""
        return _tail(self.fd, self._from)

    def kept(self) -> bytes:
        """All that is kept of it."""
        return os.pread(self.fd, os.fstat(self.fd).st_size - self._from, self._from)

    def digest(self) -> str:
        """The SHA-256 of what is kept of it."""
        found, at = hashlib.sha256(), self._from
        while part := os.pread(self.fd, 1 << 20, at):
            found.update(part)
            at += len(part)
        return found.hexdigest()


def _first_byte(fd: int) -> int:
    """Where a file begins that has a hole; whoever held it in bounds before us may have died."""
    try:
        return os.lseek(fd, 0, os.SEEK_DATA)
    except (OSError, AttributeError):
        return 0  # it is empty, or files have no holes here


def last_words(path: str) -> str:
    """The end of what a command said that nobody saw end; "" where it said nothing."""
    try:
        fd = disk.open_regular(path)
    except OSError:
        return ""
    try:
        return _tail(fd, 0)
    finally:
        os.close(fd)


def _tail(fd: int, start: int) -> str:
    most = 4 * TAIL
    data = os.pread(fd, most, max(start, os.fstat(fd).st_size - most))
    return data.decode("utf-8", "replace")[-TAIL:]


def _punch(fd: int, length: int) -> bool:
    """Give the beginning of a file back to the disk; False where that cannot be done."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "fallocate64", None)
    if call is None:
        return False
    return bool(call(fd, _PUNCH_HOLE, ctypes.c_longlong(0), ctypes.c_longlong(length)) == 0)

"""What a command says: a file that it appends to, held to a size while it writes.

A file and not a pipe: should the supervisor die, the command is not cut off in mid-line.
"""

from __future__ import annotations

import hashlib
import os

from standfast import disk

TAIL = 4_000  # characters of its end that are told


class Stream:
    """One stream of a command."""

    def __init__(self, path: str, cap: int) -> None:
        self._cap = cap
        self.fd = disk.open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._dropped = 0

    def bound(self) -> None:
        """Let go of what is older than the last *cap* bytes, once there are twice as many."""
        size = os.fstat(self.fd).st_size
        if size <= 2 * self._cap:
            return
        kept = os.pread(self.fd, self._cap, size - self._cap)
        os.ftruncate(self.fd, 0)  # the command appends: its next words begin here
        disk.write_all(self.fd, kept)
        self._dropped += size - len(kept)

    @property
    def size(self) -> int:
        """How many bytes it said, as far as they were seen."""
        return self._dropped + os.fstat(self.fd).st_size

    def tail(self) -> str:
        """The end of it."""
        size = os.fstat(self.fd).st_size
        most = 4 * TAIL
        data = os.pread(self.fd, most, max(0, size - most))
        return data.decode("utf-8", "replace")[-TAIL:]

    def digest(self) -> str:
        """The SHA-256 of what is kept of it."""
        found, at = hashlib.sha256(), 0
        while part := os.pread(self.fd, 1 << 20, at):
            found.update(part)
            at += len(part)
        return found.hexdigest()

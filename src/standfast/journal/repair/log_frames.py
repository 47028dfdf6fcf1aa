"""The frames of a write-ahead log, read without SQLite: also those behind a damaged one.

Each frame's checksum goes on from the one before it. SQLite stops at the first that does not
check; but a checksum that is stored right lets the next frame be checked by itself, so the log
is read up to the last transaction whose end checks, and what is damaged in it is known to be.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from standfast.journal.damage import LOG_HEADER, is_log_header

if TYPE_CHECKING:
    from collections.abc import Sequence

_FRAME_HEADER = 24
_WORDS = 0xFFFFFFFF


class Frame(NamedTuple):
    """One page as a transaction left it; *start* is where its bytes begin in the log."""

    page: int
    start: int


class Frames:
    """The committed frames of one log, oldest first, each to be checked when it is asked for.

    *known* frames are committed even where the end of the last transaction is damaged.
    """

    def __init__(self, log: bytes, page_bytes: int, known: int = 0) -> None:
        self._known = known
        self._log = log
        self._size = page_bytes
        self._step = _FRAME_HEADER + page_bytes
        self._order = ">" if log[3:4] == b"\x83" else "<"
        self.frames: Sequence[Frame] = self._committed() if len(log) > LOG_HEADER else ()
        self.sound = self._sound()

    def _sound(self) -> int:
        """How many frames SQLite itself would read: up to the last end before the first break."""
        if not self.frames or not is_log_header(self._log[:LOG_HEADER]):
            return 0
        salts, ends = self._log[16:24], 0
        for number in range(len(self.frames)):
            at = LOG_HEADER + number * self._step
            if self._log[at + 8 : at + 16] != salts or not self.checks(number):
                break
            if self._log[at + 4 : at + 8] != bytes(4):
                ends = number + 1
        return ends

    @property
    def is_whole(self) -> bool:
        """Whether nothing that was written here since the log began again is beyond reading.

        A frame of this log behind the last sound one may be what a killed writer left, or a
        transaction that was acknowledged and damaged since: nobody can tell.
        """
        if len(self._log) <= LOG_HEADER:
            return self._known == 0
        at = LOG_HEADER + self.sound * self._step
        is_more = at + 16 <= len(self._log) and self._log[at + 8 : at + 16] == self._salts()
        is_read = self.sound == len(self.frames) and self.sound >= max(self._known, 1)
        return is_read and not is_more

    def checks(self, number: int) -> bool:
        """Whether a frame's own bytes are what was written."""
        at = LOG_HEADER + number * self._step
        before = self._log[at - self._step + 16 : at - self._step + 24]
        if number == 0:
            before = self._log[24:32]
        data = self._log[at : at + 8] + self._log[at + _FRAME_HEADER : at + self._step]
        return self._sum(data, before) == self._log[at + 16 : at + 24]

    def _committed(self) -> list[Frame]:
        salts = self._salts()
        found: list[Frame] = []
        ends = 0
        for number in range((len(self._log) - LOG_HEADER) // self._step):
            at = LOG_HEADER + number * self._step
            page, size = struct.unpack_from(">II", self._log, at)
            if self._log[at + 8 : at + 16] == salts and size:
                ends = number + 1
            found.append(Frame(page, at + _FRAME_HEADER))
        while ends and not self._ends_at(ends - 1, salts):
            ends -= 1
        return found[: max(ends, self._known)]

    def _ends_at(self, number: int, salts: bytes) -> bool:
        """Whether a transaction ends with this frame, for sure."""
        at = LOG_HEADER + number * self._step
        is_end = self._log[at + 4 : at + 8] != bytes(4) and self._log[at + 8 : at + 16] == salts
        return is_end and self.checks(number)

    def _salts(self) -> bytes:
        """The header's; where that is damaged, what most of the first frames carry."""
        if is_log_header(self._log[:LOG_HEADER]):
            return self._log[16:24]
        carried = [
            self._log[at + 8 : at + 16]
            for at in range(
                LOG_HEADER, min(len(self._log), LOG_HEADER + 5 * self._step), self._step
            )
        ]
        return max(carried, key=carried.count)

    def _sum(self, data: bytes, before: bytes) -> bytes:
        first, second = struct.unpack(">II", before)
        words = struct.iter_unpack(f"{self._order}II", data)
        for one, other in words:
            first = first + one + second & _WORDS
            second = second + other + first & _WORDS
        return struct.pack(">II", first, second)

"""Where to flip: every part of every file, the short ones as often as the long ones.

A byte drawn from all would nearly always fall into the middle of a page. What a header, the end of
a page or the head of a spool slot holds is a few bytes, and each decides over many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.faults.flips.flip_trial import COMMAND, HOOK, READ, Flip
from standfast.journal.fallback import spool

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

PAGE = 2048
CHECKSUM = 8
DATABASE_HEADER = 100
LOG_HEADER = 32
FRAME_HEADER = 24
INDEX_HEADER = 136  # two copies, then how far readers and checkpoints are
SLOT_HEADER = 16
# Somebody has the journal open: then SQLite finds a page of the log by an index in memory that has
# no checksum, and takes it without looking at its sum again. Both were checked when it was opened.
HELD = "held"
_ASKED = (READ, READ, COMMAND, HOOK)


class Map:
    """The parts of one journal's files."""

    def __init__(self, shape: str, files: Mapping[str, bytes]) -> None:
        self._shape = shape
        self._parts = {name: _parts(name, data) for name, data in files.items() if data}
        if shape == HELD:
            del self._parts["journal.db-wal"]["frame"], self._parts["journal.db-shm"]["table"]

    def draw(self, dice: random.Random) -> Flip:
        """One flip: a file, a part of it, a byte of that, some of its bits."""
        file = dice.choice(list(self._parts))
        offset = dice.choice(dice.choice(dice.choice(list(self._parts[file].values()))))
        bits = 1 << dice.randrange(8) if dice.randrange(2) else dice.randrange(1, 256)
        return Flip(self._shape, file, offset, bits, dice.choice(_ASKED))

    def where(self, flip: Flip) -> str:
        """The part that its byte belongs to: findings are told by it."""
        ways = self._parts[flip.file].items()
        part = next(name for name, found in ways if any(flip.offset in one for one in found))
        return f"{flip.file.partition('/')[0]}, {part}"


def _parts(file: str, data: bytes) -> dict[str, list[range]]:
    """The parts of a file by name; the first that holds a byte is where it is."""
    if file == "journal.db":
        return _database(len(data))
    if file == "journal.db-wal":
        return _log(len(data))
    if file == "journal.db-shm":
        return {"header": [range(INDEX_HEADER)], "table": [range(INDEX_HEADER, len(data))]}
    if file == spool.FILE:
        return _spool(data)
    return _mirror(data)


def _database(size: int) -> dict[str, list[range]]:
    pages = range(0, size, PAGE)
    return {
        "header": [range(DATABASE_HEADER)],
        "checksum of a page": [range(at + PAGE - CHECKSUM, at + PAGE) for at in pages],
        "page": [range(at, at + PAGE) for at in pages],
    }


def _log(size: int) -> dict[str, list[range]]:
    frames = range(LOG_HEADER, size, FRAME_HEADER + PAGE)
    return {
        "header": [range(LOG_HEADER)],
        "head of a frame": [range(at, at + FRAME_HEADER) for at in frames],
        "frame": [range(at + FRAME_HEADER, at + FRAME_HEADER + PAGE) for at in frames],
    }


def _spool(data: bytes) -> dict[str, list[range]]:
    taken = [at for at in range(spool.SLOT_BYTES, len(data), spool.SLOT_BYTES) if data[at]]
    found = {
        "count of gaps": [range(8)],
        "magic of a slot": [range(at, at + 8) for at in taken],
        "sum of a slot": [range(at + 8, at + SLOT_HEADER) for at in taken],
        "fact in a slot": [
            range(at + SLOT_HEADER, at + SLOT_HEADER + _length(data, at)) for at in taken
        ],
        "unused": [range(len(data))],
    }
    return {name: ranges for name, ranges in found.items() if ranges}


def _length(data: bytes, at: int) -> int:
    return int.from_bytes(data[at + 8 : at + 12], "big")


def _mirror(data: bytes) -> dict[str, list[range]]:
    ends = [at for at, byte in enumerate(data) if byte == ord("\n")]
    last = ends[-2] + 1 if len(ends) > 1 else 0
    return {
        "end of a line": [range(at, at + 1) for at in ends],
        "last line": [range(last, len(data))],
        "line": [range(len(data))],
    }

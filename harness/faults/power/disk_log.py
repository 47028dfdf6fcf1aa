"""What the shim wrote down, read back and followed on the model disk."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from harness.faults.power import disk_model
from harness.faults.power.disk_model import ROOT, Cut, Moment, Move, Resize, Slot, Write
from harness.faults.shim import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.power.disk_model import Change

_HEADER = struct.Struct("=IIIIQq")
# Memory shared by those that have the database open: made anew after a crash, never read.
_NEVER_DURABLE = "-shm"
# Programs that `install` tries the hook with are not under the shim, and work in here.
_UNWATCHED = "standfast-scratch-"


class Record(NamedTuple):
    """One call, as the shim saw it."""

    op: Op
    first: str
    second: str
    inode: int
    offset: int
    data: bytes


def read(log: bytes) -> Iterator[Record]:
    """Every record of a log, in order."""
    at = 0
    while at < len(log):
        op, first, second, size, inode, offset = _HEADER.unpack_from(log, at)
        at += _HEADER.size
        parts = []
        for length in (first, second, size):
            parts.append(log[at : at + length])
            at += length
        yield Record(Op(op), os.fsdecode(parts[0]), os.fsdecode(parts[1]), inode, offset, parts[2])


def _is_foreign(path: str) -> bool:
    return path.removesuffix(" (deleted)").endswith(_NEVER_DURABLE) or f"/{_UNWATCHED}" in path


class Disk:
    """A folder of the real disk, followed on the model from the time it was all durable."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._next = ROOT
        self._numbers: dict[int, int] = {}  # of the real disk, which gives out old ones again
        self._durable: dict[int, bytes] = {}
        self._slots: dict[Slot, int] = {}
        self._live: dict[Slot, int] = {}
        self._changes: dict[int, list[Change]] = {}
        self._moves: list[Move] = []
        self._order = 0
        self._number(os.stat(root).st_ino)
        self._take(root, ROOT)

    def _number(self, inode: int) -> int:
        self._numbers[inode] = self._next
        self._next += 1
        return self._numbers[inode]

    def _take(self, path: str, folder: int) -> None:
        for entry in os.scandir(path):
            if _is_foreign(entry.path):
                continue
            held = self._numbers.get(entry.inode()) or self._number(entry.inode())
            self._slots[folder, entry.name] = self._live[folder, entry.name] = held
            if entry.is_dir(follow_symlinks=False):
                self._take(entry.path, held)
            else:
                with open(entry.path, "rb") as file:
                    self._durable[held] = file.read()

    def now(self) -> Moment:
        """The state of things, to crash from."""
        changes = {file: tuple(changes) for file, changes in self._changes.items()}
        return Moment(dict(self._durable), dict(self._slots), changes, tuple(self._moves))

    def follow(self, record: Record) -> bool:
        """Do on the model what was done on the disk; False for what does not concern it."""
        if record.op is Op.MARK or _is_foreign(record.first):
            return False
        self._order += 1
        if record.op in {Op.WRITE, Op.TRUNCATE}:
            self._change(record)
        elif record.op is Op.SYNC:
            self._sync(self._numbers[record.inode])
        else:
            move = Move(self._order, tuple(self._sets(record)))
            self._moves.append(move)
            self._live = disk_model.after(self._live, [move])
        return True

    def _change(self, record: Record) -> None:
        held = self._numbers[record.inode]
        change: Change = Write(self._order, record.offset, record.data)
        if record.op is Op.TRUNCATE:
            change = Resize(self._order, record.offset)
        self._changes.setdefault(held, []).append(change)

    def _sync(self, held: int) -> None:
        if held in self._durable:
            changes = self._changes.pop(held, [])
            now = Cut(self._order)
            self._durable[held] = disk_model.contents(held, self._durable[held], changes, now)
            return
        durable = disk_model.settled(self._moves, held)
        done = [move for move in self._moves if move.order in durable]
        self._slots = disk_model.after(self._slots, done)
        self._moves = [move for move in self._moves if move.order not in durable]

    def _sets(self, record: Record) -> Iterator[tuple[Slot, int | None]]:
        """What a step makes of each name; a file may be made without one, and linked later."""
        held: int | None = None
        if record.op in {Op.CREATE, Op.MKDIR}:
            held = self._number(record.inode)
        if record.op is Op.CREATE:
            self._durable[self._numbers[record.inode]] = b""
        if record.op is Op.LINK:
            yield self._slot(record.second), self._numbers[record.inode]
        elif record.op in {Op.RENAME, Op.EXCHANGE}:
            slot, other = self._slot(record.first), self._slot(record.second)
            if self._live.get(slot) == self._live.get(other):
                return  # two names of one file: POSIX does nothing
            yield slot, self._live[other] if record.op is Op.EXCHANGE else None
            yield other, self._live[slot]
        elif record.first:
            yield self._slot(record.first), held

    def _slot(self, path: str) -> Slot:
        *folders, name = os.path.relpath(path, self._root).split(os.sep)
        at = ROOT
        for folder in folders:
            at = self._live[at, folder]
        return at, name

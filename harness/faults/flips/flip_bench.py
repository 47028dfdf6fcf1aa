"""The bench that flips are tried on: one journal, changed in one byte, asked, and put back.

Putting back what was changed is most of the work, so only that is done: the byte, the index that
SQLite makes anew, and everything where somebody wrote. Files stay open for good: closing one would
take SQLite's own locks away from this process.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from harness.faults.flips import flip_mending, flip_shapes, flip_trial
from harness.faults.flips.flip_trial import NAMED, READ, RIGHT, Outcome
from standfast.journal.store import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.flips.flip_mending import Repair
    from harness.faults.flips.flip_trial import Flip

_INDEX = "journal.db-shm"
_VERIFIED = 8  # of answers that are right every eighth is verified, too
_CHECKED = 64
_MENDED = 8  # a repair takes as long as many questions


class Bench:
    """One shape, in one process."""

    def __init__(self, kept: str, stage: str, repair: Repair | None) -> None:
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(kept, stage)
        self.folder = stage
        self._repair = repair
        self._files = flip_shapes.files(stage)
        self._open: dict[str, int] = {}
        self._truth = flip_trial.told(stage)
        self._names = set(_names(stage))
        self._number = self._named = 0
        self._holder: Journal | None = None
        self._put_back_all()

    def hold(self) -> None:
        """Somebody has the journal open, so SQLite makes no new index."""
        self._holder = Journal(self.folder)
        self._holder.query("SELECT count(*) FROM events")
        self._files = flip_shapes.files(self.folder)

    def trial(self, flip: Flip) -> Outcome:
        """Turn the bits over, ask, repair what is named, and put everything back."""
        self._number += 1
        byte = self._files[flip.file][flip.offset] ^ flip.bits
        os.pwrite(self._fd(flip.file), bytes([byte]), flip.offset)
        outcome = flip_trial.outcome(self.folder, self._truth, flip.asked)
        written = flip.asked != READ
        if outcome.how == RIGHT and self._number % _VERIFIED == 0 and not written:
            outcome = flip_trial.verified(self.folder)
        if outcome.how == NAMED and self._repair is not None and self._is_mended():
            written = True
            outcome = flip_mending.mended(self.folder, self._truth, outcome, self._repair)
        self._put_back(flip, written=written)
        return outcome

    def _is_mended(self) -> bool:
        """Nobody repairs under the hands of somebody who reads."""
        self._named += 1
        return self._holder is None and self._named % _MENDED == 1

    def _put_back(self, flip: Flip, *, written: bool) -> None:
        if written:
            self._put_back_all(flip.file)
            return
        before = self._files[flip.file][flip.offset : flip.offset + 1]
        os.pwrite(self._fd(flip.file), before, flip.offset)
        self._write(_INDEX)
        if self._number % _CHECKED == 0:
            assert flip_shapes.files(self.folder) == self._files, "asking changed a file"

    def _put_back_all(self, flipped: str = "") -> None:
        for name in set(_names(self.folder)) - self._names:
            os.unlink(os.path.join(self.folder, name))
        for name, data in self._files.items():
            if name == flipped or len(data) < 1 << 20 or not self._is_same(name):
                self._write(name)

    def _is_same(self, name: str) -> bool:
        """The spool is large and seldom changed."""
        data = self._files[name]
        return os.pread(self._fd(name), len(data) + 1, 0) == data

    def _write(self, name: str) -> None:
        data, fd = self._files[name], self._fd(name)
        os.pwrite(fd, data, 0)
        if os.fstat(fd).st_size != len(data):
            os.ftruncate(fd, len(data))

    def _fd(self, name: str) -> int:
        """The file that stands there now; a repair may have put another in its place."""
        path = os.path.join(self.folder, name)
        fd = self._open.get(name)
        if fd is None or not _stands_at(fd, path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            fd = self._open[name] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return fd


def _stands_at(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False


def _names(folder: str) -> Iterator[str]:
    for where, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(where, name), folder)

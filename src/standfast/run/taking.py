"""Who takes a run or a lane on: one process at a time, known by a lock that goes with it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects import orphans
from standfast.journal import locks
from standfast.lane_errors import LaneBusy, RunBusy
from standfast.process import lock_holders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.effects.orphans import Left
    from standfast.journal.store import Journal

LANES, RUNS = "lanes", "runs"  # folders beside the journal
_BUSY = {LANES: LaneBusy, RUNS: RunBusy}


def digest(*names: str) -> str:
    """What a lane or a run is called in file names: its own may be long."""
    return sha256("/".join(names).encode()).hexdigest()[:32]


def _lock(journal: Journal, kind: str, names: Sequence[str]) -> str:
    return os.path.join(journal.folder, kind, f"{digest(*names)}.lock")


def holders(journal: Journal, kind: str, *names: str) -> list[int]:
    """The processes that take it on at the moment."""
    path = _lock(journal, kind, names)
    return lock_holders(path) if os.path.lexists(path) else []


@contextmanager
def taken(journal: Journal, kind: str, *names: str) -> Iterator[None]:
    """One at a time may take it on; whoever comes second is told who has it."""
    disk.make_folder(journal.folder)
    disk.make_folder(os.path.join(journal.folder, kind))
    fd = locks.open_lock(_lock(journal, kind, names))
    try:
        if not locks.try_lock(fd):
            who = ", ".join(map(str, holders(journal, kind, *names))) or "unknown"
            raise _BUSY[kind](f"{'/'.join(names)} is being worked on already: process {who}")
        yield
    finally:
        os.close(fd)


def commands(journal: Journal, run_id: str) -> list[Left]:
    """What a run's lanes have running, or left in doubt."""
    own = f"lane/{run_id}/"
    return [each for each in orphans.every(journal) if each.key.startswith(own)]


def end_commands(journal: Journal, run_id: str) -> list[int]:
    """End what a run's lanes have running; those that nobody could end are handed back."""
    return orphans.end(commands(journal, run_id))

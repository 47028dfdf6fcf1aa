"""Who takes a run on: one process at a time, known by a lock; and ending what its lanes run."""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects import orphans
from standfast.journal import locks
from standfast.lane_errors import RunBusy
from standfast.process import lock_holders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.store import Journal

FOLDER = "runs"


def end_commands(journal: Journal, run_id: str) -> list[int]:
    """End what a run's lanes have running; those that nobody could end are handed back."""
    own = f"lane/{run_id}/"
    return orphans.end(each for each in orphans.every(journal) if each.key.startswith(own))


def _lock(journal: Journal, run_id: str) -> str:
    name = sha256(run_id.encode()).hexdigest()[:32]
    return os.path.join(journal.folder, FOLDER, f"{name}.lock")


def holder(journal: Journal, run_id: str) -> list[int]:
    """The processes that take a run on at the moment."""
    path = _lock(journal, run_id)
    return lock_holders(path) if os.path.lexists(path) else []


@contextmanager
def taken(journal: Journal, run_id: str) -> Iterator[None]:
    """One at a time may take a run on; whoever comes second is told who has it."""
    disk.make_folder(journal.folder)
    disk.make_folder(os.path.join(journal.folder, FOLDER))
    path = _lock(journal, run_id)
    fd = locks.open_lock(path)
    try:
        if not locks.try_lock(fd):
            who = ", ".join(map(str, lock_holders(path))) or "unknown"
            raise RunBusy(f"run {run_id} is being taken on already: process {who}")
        yield
    finally:
        os.close(fd)

"""Who takes a run or a lane on: one process at a time, known by a lock that goes with it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from standfast import clock, disk
from standfast.effects import orphans
from standfast.errors.lanes import LaneBusy, RunBusy
from standfast.journal import locks
from standfast.processes.programs import lock_holders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.effects.orphans import Left
    from standfast.journal.store import Journal

LANES, RUNS = "lanes", "runs"  # folders beside the journal
_BUSY = {LANES: LaneBusy, RUNS: RunBusy}
_TRIES, _PAUSE_S = 20, 0.01


def digest(*names: str) -> str:
    """What a lane or a run is called in file names: its own may be long."""
    return sha256("/".join(names).encode()).hexdigest()[:32]


def _lock(journal: Journal, kind: str, names: Sequence[str]) -> str:
    return os.path.join(journal.folder, kind, f"{digest(*names)}.lock")


def is_taken(journal: Journal, kind: str, *names: str) -> bool:
    """Whether somebody takes it on at the moment."""
    return locks.is_held(_lock(journal, kind, names))


def holders(journal: Journal, kind: str, *names: str) -> list[int]:
    """The processes that do, to name them: not every system can say, and none of other machines."""
    return lock_holders(_lock(journal, kind, names))


def who(journal: Journal, kind: str, *names: str) -> str:
    """The same in words."""
    return ", ".join(map(str, holders(journal, kind, *names))) or "unknown"


@contextmanager
def taken(journal: Journal, kind: str, *names: str) -> Iterator[None]:
    """One at a time may take it on; whoever comes second is told who has it."""
    disk.make_folder(journal.folder)
    disk.make_folder(os.path.join(journal.folder, kind))
    fd = locks.open_lock(_lock(journal, kind, names))
    try:
        if not _takes(fd):
            pids = who(journal, kind, *names)
            raise _BUSY[kind](f"{'/'.join(names)} is being worked on already: process {pids}")
        yield
    finally:
        os.close(fd)


def _takes(fd: int) -> bool:
    """Whoever only asks has a share of it for a moment: nobody is refused for that."""
    for _ in range(_TRIES):
        if locks.try_lock(fd):
            return True
        clock.pause(_PAUSE_S)
    return False


def commands(journal: Journal, run_id: str) -> list[Left]:
    """What a run's lanes have running, or left in doubt."""
    own = f"lane/{run_id}/"
    return [each for each in orphans.every(journal) if each.key.startswith(own)]


def ask_commands(journal: Journal, run_id: str) -> None:
    """Ask what a run's lanes have running to end, and wait for none of it."""
    orphans.ask(commands(journal, run_id))


def end_commands(journal: Journal, run_id: str) -> list[int]:
    """End what a run's lanes have running; those that nobody could end are handed back."""
    return orphans.end(commands(journal, run_id))

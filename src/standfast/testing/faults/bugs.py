"""Bugs for the power cuts and the surroundings to catch, as `canaries` has them for the sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import disk
from standfast.journal import database, decisions, locks, spool

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from standfast.journal.writing import Writing

ENOUGH_CUTS = 12  # within which each of these must show, on every filesystem


def no_sync() -> None:
    """Nothing is ever synced."""
    disk.sync_fd = lambda fd: None  # noqa: ARG005  # as it is called
    _weaken("OFF")


def lazy_log() -> None:
    """The write-ahead log is synced by checkpoints only."""
    _weaken("NORMAL")


def _weaken(level: str) -> None:
    real = database.connect

    def connect(path: str, *, checkpoint: bool = True) -> apsw.Connection:
        connection = real(path, checkpoint=checkpoint)
        connection.execute(f"PRAGMA synchronous={level}").fetchall()
        return connection

    database.connect = connect


def deaf_spool() -> None:
    """A spool that takes everything and keeps nothing."""
    spool.keep = lambda *_given, **_named: True


def nameless_holder() -> None:
    """A wait that does not say for whom."""
    locks._holders = lambda path: ""  # noqa: SLF001, ARG005  # a bug does what it likes


def skipped_id() -> None:
    """A decision takes two ids."""
    real = decisions.note

    def note(tx: Writing, *given: object, **named: object) -> str:
        tx.allot(decisions.PREFIX)
        return real(tx, *given, **named)  # type: ignore[arg-type]

    decisions.note = note


CUT: dict[str, Callable[[], None]] = {"no sync": no_sync, "WAL with NORMAL": lazy_log}
AROUND: dict[str, tuple[str, Callable[[], None]]] = {  # with the condition that must find it
    "deaf spool": ("stopped holder", deaf_spool),
    "nameless holder": ("stopped holder", nameless_holder),
    "skipped id": ("small files", skipped_id),
}

"""Bugs that a power cut must show, on every filesystem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import disk
from standfast.journal import database

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

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


CANARIES: dict[str, Callable[[], None]] = {"no sync": no_sync, "WAL with NORMAL": lazy_log}

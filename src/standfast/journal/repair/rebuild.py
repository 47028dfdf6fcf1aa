"""A journal made anew out of what is believed: same numbers, hashes and times, state folded again.

What this machine remembers besides events (which strays it took, which files it swapped out) is
read with the page checksums on, or not at all. What it published is forgotten: every face counts
as edited by hand, so that decisions that only a face still knows come back, and words that are
known are never taken twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import apsw

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal import database, journal_file
from standfast.journal.fallback import spool
from standfast.journal.repair import repair_report, salvage, verdicts
from standfast.journal.retention import dropped_events as bases
from standfast.journal.tables import folds

if TYPE_CHECKING:
    from standfast.journal.repair.evidence import Claims
    from standfast.journal.repair.foundation import Foundation
    from standfast.journal.repair.repair_report import Outcome, Story
    from standfast.journal.tables.folds import Row

# Not what was published: a face may know of decisions that are lost, so it is read as an edit.
_REMEMBERED = {
    "faces": "SELECT face, NULL, NULL, NULL, refused, draft, drafted FROM faces",
    "displaced": "SELECT * FROM displaced",
    "merged": "SELECT * FROM merged",
}
_UNFIT = (apsw.ConstraintError, apsw.SQLError, apsw.MismatchError, apsw.TooBigError)
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TAKEN = """
    INSERT OR IGNORE INTO merged SELECT ?1 WHERE EXISTS (SELECT 1 FROM events WHERE origin = ?2)
      OR EXISTS (SELECT 1 FROM events WHERE kind = 'stray.refused' AND payload ->> 'what' = ?2)"""


class Kept(NamedTuple):
    """What is remembered besides events."""

    rows: dict[str, list[tuple[apsw.SQLiteValue, ...]]]  # by table
    numbers: dict[str, int]  # the ids that were given out
    strays: list[tuple[str, str]]  # what waits in the spool: its id, and the origin it would have


def build(path: str, claims: Claims, kept: Kept, story: Story, ground: Foundation) -> Outcome:
    """Make a new database at *path*, whole and synced, whatever stood there."""
    base = ground.base
    forget(path)
    disk.create(path, b"")
    connection = database.connect(path)
    try:
        database.prepare(connection, wal=False)
        journal_file.migrate(connection)
        connection.execute("BEGIN IMMEDIATE")
        if ground.document is not None:
            bases.put(base, ground.document, connection)
        start = verdicts.Start(base.through, base.heads, 1 if ground.is_foreign else None)
        chosen = verdicts.choose(claims, lambda row: _take(connection, row), start)
        _remember(connection, kept)
        base.count(connection.execute(folds.NUMBERS, (chosen.last,)))
        outcome = repair_report.Outcome.of(chosen, claims.end, kept.numbers, base.counters)
        last = repair_report.tell(connection, outcome, story, ground.about)
        base.count(connection.execute(folds.NUMBERS, (last,)))
        connection.executemany("INSERT INTO counters VALUES (?, ?)", base.counters.items())
        connection.execute("COMMIT")
        if database.wal_is_safe(os.path.dirname(path)):
            database.prepare(connection, wal=True)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    finally:
        connection.close(True)  # noqa: FBT003  # apsw: close even where it reports errors
    _sync(path)
    return outcome


def forget(path: str) -> None:
    """Take away a database with everything that belongs to it."""
    forget_log(path)
    disk.forget(path)


def forget_log(path: str) -> None:
    """Take away what a database has beside it."""
    for end in ("-wal", "-shm", "-journal"):
        disk.forget(path + end)


def _sync(path: str) -> None:
    fd = disk.open_regular(path, os.O_RDWR)
    try:
        disk.sync_fd(fd)
    finally:
        os.close(fd)


def _take(connection: apsw.Connection, row: Row) -> bool:
    """Write one event and fold it; one that fits nowhere leaves no trace."""
    connection.execute("SAVEPOINT event")
    try:
        connection.execute(_INSERT, row)
        fold = folds.FOLDS.get(row[7])
        if fold is not None:
            fold(connection, row)
    except _UNFIT:
        connection.execute("ROLLBACK TO event")
        connection.execute("RELEASE event")
        return False
    connection.execute("RELEASE event")
    return True


def _remember(connection: apsw.Connection, kept: Kept) -> None:
    for table, rows in kept.rows.items():
        for row in rows:
            places = ", ".join("?" * len(row))
            try:
                connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({places})", row)  # noqa: S608  # our own names
            except _UNFIT:
                continue
    for stray in kept.strays:
        connection.execute(_TAKEN, stray)


def remembered(pieces: str, work: str) -> Kept:
    """Read what is not an event from a copy that SQLite may write to; what does not check, not."""
    strays = [stray for _, stray in spool.strays(pieces) if not isinstance(stray, str)]
    kept = Kept({}, {}, [(stray.id, spool.origin(stray)) for stray in strays])
    path = os.path.join(work, "journal.db")
    try:
        for name in ("journal.db", "journal.db-wal"):
            if os.path.exists(os.path.join(pieces, name)):
                salvage.copy(os.path.join(pieces, name), os.path.join(work, name))
        connection = database.connect(path)
    except (StandfastError, apsw.Error):
        return kept
    try:
        for table, sql in _REMEMBERED.items():
            kept.rows[table] = _rows(connection, sql)
        for prefix, last in _rows(connection, "SELECT prefix, last FROM counters"):
            if isinstance(last, int):
                kept.numbers[str(prefix)] = last
    finally:
        connection.close(True)  # noqa: FBT003  # as above
    return kept


def _rows(connection: apsw.Connection, sql: str) -> list[tuple[apsw.SQLiteValue, ...]]:
    try:
        return connection.execute(sql).fetchall()
    except apsw.Error:
        return []

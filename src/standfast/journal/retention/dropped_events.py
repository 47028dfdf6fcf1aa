"""The base: what events 1 to B have left behind once they are dropped.

The last hash of every stream, the last number of every id prefix, and the rows of the folded
tables, as they were right after event B. One line of JSON with a `crc` like the mirror's: the
same bytes in the table `base` and in `mirror/<B>.base.json`, and their SHA-256 in the event
`events.dropped`, which the chain covers. Rows are written with the schema they had: they are
put into tables of that schema, and migrated like any others.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

import apsw

from standfast.errors.base import JournalDamaged
from standfast.journal import chain
from standfast.journal.repair import verdicts
from standfast.journal.repair.losses import NONE, Losses
from standfast.journal.tables import folds, schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.journal.tables.folds import Row

FORMAT = 1
FOLDED = ("decisions", "wordings", "cells", "leases", "sessions", "work", "briefs")


class Base:
    """The state after event *through*; it starts at 0 and takes events in."""

    __slots__ = ("counters", "heads", "state", "through")

    def __init__(self) -> None:
        self.through = 0
        self.heads: dict[str, bytes] = {}
        self.counters: dict[str, int] = {}
        self.state = _in_memory()
        _migrate(self.state, 0)

    def take(self, event: Row, losses: Losses = NONE) -> None:
        """Take the next event in; one that is not what was recorded is refused."""
        seq, _, stream, run, session, *_, kind, _, _, link = event
        if seq != self.through + 1 and not losses.covers(self.through + 1, seq - 1):
            raise JournalDamaged(f"events {self.through + 1} to {seq - 1} are missing")
        before = self.heads.get(stream, chain.START)
        links = verdicts.follows(event, before) or losses.is_sealed(event)
        if not links or stream != chain.stream_of(run, session):
            raise JournalDamaged(f"event {seq} is not what was recorded: its hash does not match")
        self.heads[stream], self.through = link, seq
        fold = folds.FOLDS.get(kind)
        if fold is not None:
            fold(self.state, event)

    def count(self, numbers: Iterable[tuple[str, int]]) -> None:
        """Take in the highest number of each id prefix that some events use."""
        for prefix, last in numbers:
            self.counters[prefix] = max(last, self.counters.get(prefix, 0))

    def forget(self, sessions: list[str]) -> None:
        """Leave out what these sessions did, as `events.dropped` does."""
        for session in sessions:
            self.state.execute("DELETE FROM work WHERE session = ?", (session,))

    def document(self) -> bytes:
        """The base as its line."""
        found = {
            "base": FORMAT,
            "schema": schema.VERSION,
            "through": self.through,
            "heads": {stream: link.hex() for stream, link in sorted(self.heads.items())},
            "counters": dict(sorted(self.counters.items())),
            "state": {table: _table(self.state, table) for table in FOLDED},
        }
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        body = text[:-1].encode("utf-8", "backslashreplace")  # a lone surrogate stays an escape
        return body + b',"crc":"%08x"}\n' % zlib.crc32(body)


def put(base: Base, document: bytes, connection: apsw.Connection) -> None:
    """Begin a new database with a base."""
    connection.execute("INSERT INTO base VALUES (?, ?)", (base.through, document.decode()))
    connection.executemany("INSERT INTO heads VALUES (?, ?)", base.heads.items())
    for table in FOLDED:
        _fill(connection, table, _table(base.state, table))


def digest(document: bytes) -> str:
    """What `events.dropped` says of the base."""
    return hashlib.sha256(document).hexdigest()


def through(connection: apsw.Connection) -> int:
    """The last event that was dropped; 0 where none ever was."""
    row = connection.execute("SELECT through FROM base").fetchone()
    return int(row[0]) if row else 0


def stored(connection: apsw.Connection) -> bytes | None:
    """The base's line as the database has it."""
    row = connection.execute("SELECT document FROM base").fetchone()
    return str(row[0]).encode() if row else None


def load(connection: apsw.Connection) -> Base:
    """The base of a journal; an empty one where nothing was ever dropped."""
    document = stored(connection)
    return Base() if document is None else read(document)


def read(document: bytes) -> Base:
    """The base from its line, whoever kept it; JournalDamaged if it is not whole."""
    body, separator, crc = document.rpartition(b',"crc":"')
    if not separator or crc != b'%08x"}\n' % zlib.crc32(body):
        raise JournalDamaged("the base of the dropped events is damaged: its checksum is wrong")
    try:
        return _read(json.loads(body + b"}"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, apsw.Error) as error:
        raise JournalDamaged(f"the base of the dropped events is damaged: {error!r}") from error


def _read(found: dict[str, Any]) -> Base:
    version = found["schema"]
    if found["base"] != FORMAT or not 0 < version <= schema.VERSION:
        raise ValueError("it has another format")
    base = Base()
    base.through = int(found["through"])
    base.heads = {stream: bytes.fromhex(link) for stream, link in found["heads"].items()}
    base.counters = {prefix: int(last) for prefix, last in found["counters"].items()}
    base.state = _in_memory()
    _migrate(base.state, 0, version)
    for table in FOLDED:
        if table in found["state"]:
            _fill(base.state, table, found["state"][table])
    _migrate(base.state, version)
    return base


def _in_memory() -> apsw.Connection:
    """An empty database in one transaction that never ends: twice as fast, and nobody's loss."""
    connection = apsw.Connection(":memory:")
    connection.execute("BEGIN")
    return connection


def _migrate(connection: apsw.Connection, after: int, upto: int | None = None) -> None:
    for statements in schema.MIGRATIONS[after:upto]:
        for statement in statements:
            connection.execute(statement).fetchall()


def rows(connection: apsw.Connection, table: str) -> list[tuple[apsw.SQLiteValue, ...]]:
    """All rows of a table, in order, text as bytes: half an emoji from a client is no UTF-8."""
    columns = ",".join(
        f"CAST({name} AS BLOB)" if kind == "TEXT" else name
        for name, kind in _columns(connection, table)
    )
    # By the primary key, which is some of the first columns.
    order = connection.execute(
        "SELECT group_concat(cid + 1) FROM pragma_table_info(?) WHERE pk > 0", (table,)
    ).fetchall()[0][0]
    return connection.execute(f"SELECT {columns} FROM {table} ORDER BY {order}").fetchall()  # noqa: S608  # names of our own


def _columns(connection: apsw.Connection, table: str) -> list[tuple[str, str]]:
    found = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
    return [(str(name), str(kind)) for name, kind in found]


def _table(connection: apsw.Connection, table: str) -> dict[str, object]:
    return {
        "columns": [name for name, _ in _columns(connection, table)],
        "rows": [
            [v.decode("utf-8", "surrogatepass") if isinstance(v, bytes) else v for v in row]
            for row in rows(connection, table)
        ],
    }


def _fill(connection: apsw.Connection, table: str, found: dict[str, Any]) -> None:
    kinds = dict(_columns(connection, table))
    names = [name for name in found["columns"] if name in kinds]
    if names != found["columns"]:
        raise ValueError(f"`{table}` has other columns")
    marks = ",".join("CAST(? AS TEXT)" if kinds[name] == "TEXT" else "?" for name in names)
    connection.executemany(
        f"INSERT INTO {table} ({','.join(names)}) VALUES ({marks})",  # noqa: S608  # names that were compared
        (
            [v.encode("utf-8", "surrogatepass") if isinstance(v, str) else v for v in row]
            for row in found["rows"]
        ),
    )

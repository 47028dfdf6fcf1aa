"""Questions to the journal. With a write-ahead log readers wait for nobody."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import apsw

from standfast import clock
from standfast.authorship import REPOSITORY
from standfast.errors.base import JournalDamaged
from standfast.journal import database
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.store import Journal

_COLUMNS = "seq, at, run, session, actor, subdir, kind, origin, payload, hash"


class Event(NamedTuple):
    """One fact, as it was recorded."""

    seq: int
    at: int
    run: str | None
    session: str | None
    actor: str
    subdir: str
    kind: str
    origin: str | None
    payload: str
    hash: bytes

    def as_dict(self) -> dict[str, object]:
        """What `--json` carries: documented, stable."""
        try:
            return {**self.about(), "payload": json.loads(self.payload)}
        except ValueError as error:
            raise JournalDamaged(f"event {self.seq} holds no JSON") from error

    def about(self) -> dict[str, object]:
        """Everything but the payload."""
        return {
            "seq": self.seq,
            "at": clock.rfc3339(self.at),
            "at_us": self.at,
            "run": self.run,
            "session": self.session,
            "actor": self.actor,
            "subdir": self.subdir,
            "kind": self.kind,
            "origin": self.origin,
            "hash": self.hash.hex(),
        }


class Decision(NamedTuple):
    """A decision in its present words."""

    id: str
    text: str
    actor: str
    subdir: str
    origin: str | None
    at: int

    @property
    def binds(self) -> bool:
        """What a repository says binds nobody."""
        return self.actor != REPOSITORY


class Filter(NamedTuple):
    """Which events are wanted; None means any."""

    after: int = 0
    kind: str | None = None
    run: str | None = None
    session: str | None = None
    actor: str | None = None
    subdir: str | None = None

    def where(self) -> tuple[str, list[apsw.SQLiteValue]]:
        """The SQL condition and its values. A kind also matches what is below it: `lease`."""
        terms: list[tuple[str, list[apsw.SQLiteValue]]] = [("seq > ?", [self.after])]
        if self.kind is not None:
            terms.append(("(kind = ? OR kind GLOB ?)", [self.kind, f"{self.kind}.*"]))
        terms += [
            (f"{column} = ?", [value])
            for column, value in (
                ("run", self.run),
                ("session", self.session),
                ("actor", self.actor),
            )
            if value is not None
        ]
        if self.subdir:
            terms.append(below(self.subdir))
        values = [value for _, some in terms for value in some]
        return " AND ".join(term for term, _ in terms), values


def below(subdir: str) -> tuple[str, list[apsw.SQLiteValue]]:
    """The condition for a subdirectory and everything under it."""
    return (
        "(subdir = ? OR substr(subdir, 1, ?) = ?)",
        [subdir, len(subdir) + 1, f"{subdir}/"],
    )


def _rows(
    journal: Journal, sql: str, values: list[apsw.SQLiteValue]
) -> Iterator[tuple[object, ...]]:
    try:
        yield from journal.connection.execute(sql, values)
    except apsw.Error as error:
        raise database.translate(error, journal.path) from error


def _event(row: tuple[object, ...]) -> Event:
    event = Event._make(row)
    if None in (event.at, event.actor, event.kind, event.payload, event.hash):
        raise JournalDamaged(f"event {event.seq} is not whole")  # a page was cut off or zeroed
    return event


def events(journal: Journal, wanted: Filter) -> Iterator[Event]:
    """Matching events, oldest first."""
    condition, values = wanted.where()
    sql = f"SELECT {_COLUMNS} FROM events WHERE {condition} ORDER BY seq"  # noqa: S608  # our own words
    return map(_event, _rows(journal, sql, values))


def all_events(connection: apsw.Connection) -> Iterator[Event]:
    """Every event of a database that no journal has open."""
    return map(_event, connection.execute(f"SELECT {_COLUMNS} FROM events ORDER BY seq"))  # noqa: S608  # our own words


def last_events(journal: Journal, wanted: Filter, count: int) -> list[Event]:
    """The newest matching events, oldest first."""
    condition, values = wanted.where()
    sql = f"SELECT {_COLUMNS} FROM events WHERE {condition} ORDER BY seq DESC LIMIT ?"  # noqa: S608  # our own words
    return [_event(row) for row in _rows(journal, sql, [*values, count])][::-1]


def decisions(journal: Journal, *, subdir: str = "") -> list[Decision]:
    """Every decision in *subdir* (all of them by default), in order of their ids."""
    condition, values = below(subdir) if subdir else ("true", [])
    rows = _rows(
        journal,
        "SELECT id, text, actor, subdir, origin, at FROM decisions"  # noqa: S608  # our own words
        f" WHERE {condition} ORDER BY number",
        values,
    )
    return [Decision._make(row) for row in rows]


def last_seq(journal: Journal) -> int:
    """The newest event's number; 0 when there is none."""
    rows = list(_rows(journal, "SELECT ifnull(max(seq), 0) FROM events", []))
    return int(str(rows[0][0]))


def cell(journal: Journal, key: str) -> tuple[dict[str, object], int] | None:
    """A cell's value and the sequence it was set at, for `Writing.set(expect=…)`."""
    rows = list(_rows(journal, "SELECT value, seq FROM cells WHERE key = ?", [key]))
    if not rows:
        return None
    value = json.loads(str(rows[0][0]))
    if not isinstance(value, dict):  # no event of ours sets it so
        raise JournalDamaged(f"the cell `{printable(key)}` holds no object", file=journal.path)
    return value, int(str(rows[0][1]))

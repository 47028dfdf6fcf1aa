"""Is every promise still kept? Pages, numbers, chain, state, mirror: looked at, never changed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from standfast.errors import JournalDamaged
from standfast.journal import chain, database, folds, mirror, schema, spool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.folds import Row
    from standfast.journal.store import Journal

_FOLDED = ("decisions", "wordings", "cells", "leases", "sessions", "work", "briefs")


@dataclass(slots=True, kw_only=True)
class Report:
    """What was looked at and what is wrong with it."""

    events: int = 0
    streams: int = 0
    mirrored: int = 0
    problems: list[str] = field(default_factory=list)


def verify(journal: Journal) -> Report:
    """Check the whole journal against itself and its mirror."""
    report = Report()
    try:
        mirrored = list(mirror.lines(journal.folder))  # it runs behind, so it is read first
        connection = journal.connection
        connection.execute("BEGIN")  # all the rest in one picture, whoever writes meanwhile
        try:
            report.problems += _pages(connection)
            hashes = _events(connection, report)
        finally:
            connection.execute("ROLLBACK")
        _mirror(mirrored, hashes, report)
    except apsw.Error as error:
        report.problems.append(database.translate(error, journal.path).problem)
    except JournalDamaged as error:
        report.problems.append(error.problem)
    report.problems += [
        f"spool slot {slot} does not check"
        for slot, stray in spool.strays(journal.folder)
        if isinstance(stray, str)
    ]
    return report


def _pages(connection: apsw.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"database page: {line}"


def _events(connection: apsw.Connection, report: Report) -> dict[int, str]:
    """Numbers without gaps, every link right, and the state equal to the events folded anew."""
    heads: dict[str, bytes] = {}
    hashes: dict[int, str] = {}
    before = 0
    anew = _empty_state()
    for row in connection.execute("SELECT * FROM events ORDER BY seq"):
        event: Row = row
        seq, at, stream, run, session, actor, subdir, kind, origin, payload, link = event
        if seq != before + 1:
            report.problems.append(f"events {before + 1} to {seq - 1} are missing")
        expected = chain.link(
            heads.get(stream, chain.START),
            *(seq, at, run, session, actor, subdir, kind, origin, payload),
        )
        if link != expected or stream != chain.stream_of(run, session):
            report.problems.append(f"event {seq} is not what was recorded: its hash does not match")
        heads[stream], hashes[seq], before = link, link.hex(), seq
        if kind in folds.FOLDS:
            folds.FOLDS[kind](anew, event)
    report.events, report.streams = len(hashes), len(heads)
    report.problems += _state(connection, anew)
    return hashes


def _empty_state() -> apsw.Connection:
    anew = apsw.Connection(":memory:")
    for statements in schema.MIGRATIONS:
        for statement in statements:
            anew.execute(statement).fetchall()
    return anew


def _state(connection: apsw.Connection, anew: apsw.Connection) -> Iterator[str]:
    given_out = connection.execute("SELECT prefix, last FROM counters ORDER BY 1").fetchall()
    if given_out != connection.execute(folds.NUMBERS).fetchall():
        yield "the ids given out are not those that the events use"
    for table in _FOLDED:
        rows = f"SELECT * FROM {table}"  # noqa: S608  # a name of our own
        if set(connection.execute(rows)) != set(anew.execute(rows)):
            yield f"the current state in `{table}` is not what the events say"


def _mirror(found: list[tuple[str, int, bytes]], hashes: dict[int, str], report: Report) -> None:
    """Each line the event it names, none left out; the newest may not have been mirrored yet."""
    before = 0
    torn: str | None = None
    for path, number, line in found:
        if torn is not None:  # only the very last line may be: it was never promised
            report.problems.append(torn)
        where = f"{os.path.basename(path)}:{number}"
        event = mirror.parse(line)
        torn = f"mirror {where} is damaged" if event is None else None
        if event is None:
            continue
        seq = int(str(event["seq"]))
        if hashes.get(seq) != event.get("hash"):
            report.problems.append(f"mirror {where} and event {seq} differ")
        if seq != before + 1:
            report.problems.append(f"mirror {where} follows event {before} with {seq}")
        before = seq
        report.mirrored += 1


def as_dict(report: Report) -> dict[str, object]:
    """What `journal verify --json` prints."""
    return {
        "ok": not report.problems,
        "events": report.events,
        "streams": report.streams,
        "mirrored": report.mirrored,
        "problems": report.problems,
    }

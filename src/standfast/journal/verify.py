"""Is every promise still kept? Pages, numbers, chain, state, mirror: looked at, never changed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from standfast.errors import JournalDamaged
from standfast.journal import base as bases
from standfast.journal import chain, database, dropping, folds, mirror, spool
from standfast.journal.base import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.folds import Row
    from standfast.journal.store import Journal

_LOOKS = 5  # at the mirror's files, while somebody takes old ones away


@dataclass(slots=True, kw_only=True)
class Report:
    """What was looked at and what is wrong with it."""

    events: int = 0
    streams: int = 0
    mirrored: int = 0
    dropped: int = 0
    problems: list[str] = field(default_factory=list)


def verify(journal: Journal) -> Report:
    """Check the whole journal against itself and its mirror."""
    report = Report()
    try:
        mirrored = _lines(journal.folder)  # it runs behind, so it is read first
        connection = journal.connection
        connection.execute("BEGIN")  # all the rest in one picture, whoever writes meanwhile
        try:
            report.problems += _pages(connection)
            document = bases.stored(connection)
            base = _base(connection, document, report)
            hashes = _events(connection, base, report)
        finally:
            connection.execute("ROLLBACK")
        report.problems += _base_file(journal, document, report.dropped)
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


def _lines(folder: str) -> list[tuple[str, int, bytes]]:
    """The mirror as it is; while old files are being taken away, it is read again."""
    for _ in range(_LOOKS):
        try:
            return list(mirror.lines(folder))
        except FileNotFoundError:
            continue
    raise JournalDamaged("the mirror changes all the time")


def _pages(connection: apsw.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"database page: {line}"


def _base(connection: apsw.Connection, document: bytes | None, report: Report) -> Base:
    """What dropped events have left behind, which must be what the newest drop says it is."""
    base = Base() if document is None else bases.read(document)
    report.dropped = bases.through(connection)
    said = connection.execute(
        "SELECT payload ->> 'through', payload ->> 'base' FROM events WHERE kind = ?"
        " ORDER BY seq DESC LIMIT 1",
        (folds.DROPPED,),
    ).fetchone()
    found = None if document is None else (report.dropped, bases.digest(document))
    if said != found or base.through != report.dropped:
        report.problems.append("the base of the dropped events is not what the journal says of it")
    kept = dict(connection.execute("SELECT stream, hash FROM heads"))
    if kept != base.heads:
        report.problems.append("the ends of chains in `heads` are not those of the base")
    return base


def _base_file(journal: Journal, document: bytes | None, dropped: int) -> Iterator[str]:
    if document is None or dropping.holds(dropping.file_of(journal.folder, dropped), document):
        return
    if bases.through(journal.connection) == dropped:  # else it was replaced since we looked
        yield f"the mirror's copy of the base after event {dropped} is missing or differs"


def _events(connection: apsw.Connection, base: Base, report: Report) -> dict[int, str]:
    """Numbers without gaps, every link right, and the state equal to the events folded anew."""
    heads: dict[str, bytes] = dict(base.heads)
    hashes: dict[int, str] = {}
    before = base.through
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
            folds.FOLDS[kind](base.state, event)
    report.events, report.streams = len(hashes), len(heads)
    base.count(connection.execute(folds.NUMBERS, (before,)))
    report.problems += _state(connection, base)
    return hashes


def _state(connection: apsw.Connection, anew: Base) -> Iterator[str]:
    given_out = dict(connection.execute("SELECT prefix, last FROM counters"))
    if given_out != anew.counters:
        yield "the ids given out are not those that the events use"
    for table in bases.FOLDED:
        if bases.rows(connection, table) != bases.rows(anew.state, table):
            yield f"the current state in `{table}` is not what the events say"


def _mirror(found: list[tuple[str, int, bytes]], hashes: dict[int, str], report: Report) -> None:
    """Each line the event it names, none left out; the newest may not have been mirrored yet.

    It may begin with events that were dropped meanwhile.
    """
    before: int | None = None
    torn: str | None = None
    for path, number, line in _without_leftovers(found, report.dropped):
        if torn is not None:  # only the very last line may be: it was never promised
            report.problems.append(torn)
        where = f"{os.path.basename(path)}:{number}"
        event = mirror.parse(line)
        torn = f"mirror {where} is damaged" if event is None else None
        if event is None:
            continue
        seq = int(str(event["seq"]))
        before = min(seq - 1, report.dropped) if before is None else before
        if seq > report.dropped and hashes.get(seq) != event.get("hash"):
            report.problems.append(f"mirror {where} and event {seq} differ")
        if seq != before + 1:
            report.problems.append(f"mirror {where} follows event {before} with {seq}")
        before = seq
        report.mirrored += seq > report.dropped


def _without_leftovers(
    found: list[tuple[str, int, bytes]], dropped: int
) -> Iterator[tuple[str, int, bytes]]:
    """Without files that a drop was about to take away when it was cut short."""
    begins = [mirror.first_seq(path) for path, number, _ in found if number == 1]
    start = max((begin for begin in begins if begin <= dropped + 1), default=0)
    return (line for line in found if mirror.first_seq(line[0]) >= start)


def as_dict(report: Report) -> dict[str, object]:
    """What `journal verify --json` prints."""
    return {
        "ok": not report.problems,
        "events": report.events,
        "streams": report.streams,
        "mirrored": report.mirrored,
        "dropped_through": report.dropped,
        "problems": report.problems,
    }

"""Is every promise still kept? Pages, numbers, chain, state, mirror: looked at, never changed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import apsw

from standfast.errors.base import JournalDamaged
from standfast.journal import chain, database, mirror
from standfast.journal.fallback import spool
from standfast.journal.repair import losses, verdicts
from standfast.journal.repair.losses import Losses
from standfast.journal.retention import dropped_events as bases
from standfast.journal.retention import event_drop
from standfast.journal.retention.dropped_events import Base
from standfast.journal.tables import folds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.repair.verdicts import Range
    from standfast.journal.store import Journal
    from standfast.journal.tables.folds import Row

_NO_BASE = (None, None)
_LOOKS = 5  # at the mirror's files, while somebody takes old ones away


@dataclass(slots=True, kw_only=True)
class Report:
    """What was looked at and what is wrong with it."""

    events: int = 0
    streams: int = 0
    mirrored: int = 0
    dropped: int = 0
    missing: list[Range] = field(default_factory=list)  # known to be lost since a repair
    forked: list[Range] = field(default_factory=list)  # other events, in a quarantine only
    is_unsure: bool = False  # whether more may be lost than a repair could tell
    problems: list[str] = field(default_factory=list)


def verify(journal: Journal) -> Report:
    """Check the whole journal against itself and its mirror."""
    try:
        report = check(journal.as_it_stands(), journal.folder, journal.path)
    except JournalDamaged as error:
        report = Report(problems=[error.problem])
    report.problems += [
        stray if slot == spool.CUT_OFF else f"spool slot {slot} does not check"
        for slot, stray in spool.strays(journal.folder)
        if isinstance(stray, str)
    ]
    return report


def check(connection: apsw.Connection, folder: str, path: str) -> Report:
    """Check an open database against itself and the mirror beside it."""
    report = Report()
    try:
        mirrored = _lines(folder)  # it runs behind, so it is read first
        connection.execute("BEGIN")  # all the rest in one picture, whoever writes meanwhile
        try:
            report.problems += _pages(connection)
            document = bases.stored(connection)
            base = _base(connection, document, report)
            hashes = _events(connection, base, report)
        finally:
            connection.execute("ROLLBACK")
        report.problems += _base_file(connection, folder, document, report.dropped)
        _mirror(mirrored, hashes, report)
    except apsw.Error as error:
        report.problems.append(database.translate(error, path).problem)
    except JournalDamaged as error:
        report.problems.append(error.problem)
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
        "SELECT payload ->> 'through', payload ->> 'base' FROM events WHERE kind IN (?, ?)"
        " ORDER BY seq DESC LIMIT 1",
        (folds.DROPPED, losses.KIND),
    ).fetchone()
    found = None if document is None else (report.dropped, bases.digest(document))
    if (said or _NO_BASE) != (found or _NO_BASE) or base.through != report.dropped:
        report.problems.append("the base of the dropped events is not what the journal says of it")
    kept = dict(connection.execute("SELECT stream, hash FROM heads"))
    if kept != base.heads:
        report.problems.append("the ends of chains in `heads` are not those of the base")
    return base


def _base_file(
    connection: apsw.Connection, folder: str, document: bytes | None, dropped: int
) -> Iterator[str]:
    if document is None or event_drop.holds(event_drop.file_of(folder, dropped), document):
        return
    if bases.through(connection) == dropped:  # else it was replaced since we looked
        yield f"the mirror's copy of the base after event {dropped} is missing or differs"


def _events(connection: apsw.Connection, base: Base, report: Report) -> dict[int, int]:
    """No gap that is not known, every link right, the state equal to the events folded anew."""
    heads: dict[str, bytes] = dict(base.heads)
    hashes: dict[int, int] = {}
    before = base.through
    lost = Losses.told(connection)
    report.forked, report.is_unsure = lost.forked, lost.is_unsure
    for row in connection.execute("SELECT * FROM events ORDER BY seq"):
        event: Row = row
        seq, _, stream, run, session, *_, kind, _, _, link = event
        if seq != before + 1:
            _gap(lost, before + 1, seq - 1, report)
        links = verdicts.follows(event, heads.get(stream, chain.START)) or lost.is_sealed(event)
        if not links or stream != chain.stream_of(run, session):
            report.problems.append(f"event {seq} is not what was recorded: its hash does not match")
        heads[stream], hashes[seq], before = link, hash(mirror.line_of_row(event)), seq
        if kind in folds.FOLDS and not _folds(base.state, event):
            report.problems.append(f"event {seq} says what no {kind} says")
    report.events, report.streams = len(hashes), len(heads)
    base.count(connection.execute(folds.NUMBERS, (before,)))
    report.problems += _state(connection, base)
    return hashes


def _folds(state: apsw.Connection, event: Row) -> bool:
    try:
        folds.FOLDS[event[7]](state, event)
    except (apsw.ConstraintError, apsw.SQLError, apsw.MismatchError):
        return False
    return True


def _gap(lost: Losses, first: int, last: int, report: Report) -> None:
    if lost.covers(first, last):
        report.missing.append((first, last))
    else:
        report.problems.append(f"events {first} to {last} are missing")


def check_events(connection: apsw.Connection) -> list[str]:
    """The same without a mirror: for a database that is not in place yet."""
    report = Report()
    report.problems += _pages(connection)
    _events(connection, _base(connection, bases.stored(connection), report), report)
    return report.problems


def _state(connection: apsw.Connection, anew: Base) -> Iterator[str]:
    given_out = dict(connection.execute("SELECT prefix, last FROM counters"))
    if given_out != anew.counters:
        yield "the ids given out are not those that the events use"
    for table in bases.FOLDED:
        if bases.rows(connection, table) != bases.rows(anew.state, table):
            yield f"the current state in `{table}` is not what the events say"


def _mirror(found: list[tuple[str, int, bytes]], hashes: dict[int, int], report: Report) -> None:
    """Each line the event it names, none left out; the newest may not have been mirrored yet.

    It may begin with events that were dropped meanwhile.
    """
    before = report.dropped
    following = dict(pairwise((before, *sorted(hashes))))
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
        if seq <= report.dropped:
            continue
        if hashes.get(seq) != hash(line):  # all of it: a payload may be changed and its crc mended
            report.problems.append(f"mirror {where} and event {seq} differ")
        if seq != following.get(before):
            report.problems.append(f"mirror {where} follows event {before} with {seq}")
        before = seq
        report.mirrored += 1


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
        "missing": report.missing,
        "complete": not report.is_unsure,
        "forked": report.forked,
        "problems": report.problems,
    }

"""Dropping the oldest events: what they have left behind first, then all of them in one step.

The base is written to the mirror's folder and synced; then one transaction records the drop,
keeps the base and deletes the events; then the mirror loses the same events. Whoever is cut
short in between leaves a file too many, which `settle` finds. One at a time: under the
mirror's lock. Events that are not what was recorded are never dropped: that would hide it.
"""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from standfast import clock, disk
from standfast.errors.base import TooLarge
from standfast.journal import mirror
from standfast.journal.author import STANDFAST
from standfast.journal.payload import Redacted
from standfast.journal.repair.losses import Losses
from standfast.journal.retention import dropped_events as bases
from standfast.journal.tables import folds

if TYPE_CHECKING:
    from standfast.journal.retention.dropped_events import Base
    from standfast.journal.store import Journal
    from standfast.journal.tables.folds import Row
    from standfast.journal.transaction import Writing

_MOST_SESSIONS = 1_000  # in one event: a payload is bounded
BASE_FILE = re.compile(r"\d{12}\.base\.json", re.ASCII)
_DRAFT = re.compile(r"\.\d{12}\.(base\.json|jsonl)\.[0-9a-f]{12}\.draft", re.ASCII)

# Nothing of it is newer: neither an event of its own, nor one of a run that it takes part in.
_IS_OVER = """
    SELECT NOT EXISTS (SELECT 1 FROM events WHERE stream = 'session:' || ?1 AND seq > ?2)
      AND NOT EXISTS (SELECT 1 FROM work WHERE session = ?1 AND (begun > ?2 OR ended > ?2))"""


def file_of(folder: str, through: int) -> str:
    """Where the mirror keeps the base after event *through*."""
    return os.path.join(folder, mirror.FOLDER, f"{through:012d}.base.json")


def base_files(folder: str) -> list[str]:
    """The bases that the mirror holds: one, or two while something is dropped."""
    mirrored = os.path.join(folder, mirror.FOLDER)
    if os.path.islink(mirrored) or not os.path.isdir(mirrored):
        return []
    names = sorted(os.listdir(mirrored))
    return [os.path.join(mirrored, name) for name in names if BASE_FILE.fullmatch(name)]


def drop(journal: Journal, base: Base, through: int) -> int:
    """Drop the events after *base* up to *through*, and say how many; *base* is the new one then.

    0 where the journal has moved on since it was looked at: then *base* is void.
    """
    rows = journal.query("SELECT * FROM events WHERE seq <= ? ORDER BY seq", (through,))
    losses = Losses.told(journal.connection)
    for row in rows:
        base.take(row, losses)
    base.count(journal.query(folds.NUMBERS, (through,)))
    over = _sessions_over(journal, base)
    base.forget(over)
    document = base.document()
    disk.replace(file_of(journal.folder, through), document)
    said = _said(base, rows, over, bases.digest(document))
    with journal.writing() as tx:
        if _is_overtaken(tx, over, before=rows[0][0] - 1, through=through):
            return 0
        tx.append(folds.DROPPED, said, STANDFAST)
        _replace(tx, base, {row[2] for row in rows}, document)
    return len(rows)


def _said(base: Base, rows: list[Row], over: list[str], digest: str) -> Redacted:
    """What `events.dropped` tells, made of nothing but what the journal holds."""
    times = [row[1] for row in rows]
    payload = {
        "through": base.through,
        "events": len(rows),
        "oldest": clock.rfc3339(min(times)),
        "newest": clock.rfc3339(max(times)),
        "base": digest,
        "sessions": over,
    }
    return Redacted(json.dumps(payload, ensure_ascii=False, separators=(",", ":")))


def _sessions_over(journal: Journal, base: Base) -> list[str]:
    """Sessions that did something once and have no event after the base."""
    names = base.state.execute("SELECT DISTINCT session FROM work ORDER BY 1").fetchall()
    over = [
        str(name) for (name,) in names if journal.query(_IS_OVER, (name, base.through)) == [(1,)]
    ]
    return over[:_MOST_SESSIONS]


def _is_overtaken(tx: Writing, over: list[str], *, before: int, through: int) -> bool:
    """Whether somebody else dropped, or a session came back, since the base was made."""
    found = tx.execute("SELECT ifnull(max(through), 0) FROM base")
    woken = any(tx.execute(_IS_OVER, (name, through)) != [(1,)] for name in over)
    return woken or found != [(before,)]


def _replace(tx: Writing, base: Base, streams: set[str], document: bytes) -> None:
    tx.execute("DELETE FROM base")
    tx.execute("INSERT INTO base VALUES (?, ?)", (base.through, document.decode()))
    for stream in sorted(streams):
        tx.execute("INSERT OR REPLACE INTO heads VALUES (?, ?)", (stream, base.heads[stream]))
    tx.execute("DELETE FROM events WHERE seq <= ?", (base.through,))


def settle(journal: Journal) -> None:
    """Make the mirror's folder what the base says, whatever was cut short before."""
    document = bases.stored(journal.connection)
    if document is None:
        sweep(journal.folder, keep=None)
        return
    through = bases.through(journal.connection)
    path = file_of(journal.folder, through)
    if not holds(path, document):
        disk.replace(path, document)
    cut(journal.folder, through)
    sweep(journal.folder, keep=os.path.basename(path))


def holds(path: str, document: bytes) -> bool:
    """Whether a file is exactly this base."""
    try:
        return disk.read_regular(path, limit=len(document)) == document
    except (FileNotFoundError, TooLarge):
        return False


def cut(folder: str, through: int) -> None:
    """Take the events up to *through* out of the mirror; its newest line always stays."""
    paths = mirror.segments(folder)
    for path, after in pairwise(paths):
        if mirror.first_seq(after) <= through + 1:
            disk.forget(path)
    for first in mirror.segments(folder)[:1]:
        if mirror.first_seq(first) <= through:
            _shorten(first, through)


def _shorten(path: str, through: int) -> None:
    """Begin a file anew at the event after *through*, if it has that; no line holds a line end."""
    data = b"\n" + disk.read_regular(path, limit=mirror.LARGEST)
    begin = data.find(b'\n{"seq":%d,' % (through + 1)) + 1
    if begin:
        shorter = os.path.join(os.path.dirname(path), f"{through + 1:012d}.jsonl")
        disk.replace(shorter, data[begin:])
        disk.forget(path)


def sweep(folder: str, *, keep: str | None) -> None:
    """Remove bases that are no longer, or never came to be, the journal's, and drafts."""
    mirrored = os.path.join(folder, mirror.FOLDER)
    for name in os.listdir(mirrored):
        if name != keep and (BASE_FILE.fullmatch(name) or _DRAFT.fullmatch(name)):
            disk.forget(os.path.join(mirrored, name))

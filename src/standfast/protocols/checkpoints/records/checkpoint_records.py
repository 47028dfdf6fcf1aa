"""Checkpoints of lanes in the journal: written in one transaction, never lost, never half.

The current record of a run's phase, lane and stage is a cell; every write before it stays an event
of that run. Which is latest is told by the journal's sequence: clocks jump, and a second is long.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock
from standfast.authorship import REPOSITORY
from standfast.errors.base import BadName, NothingFound
from standfast.journal import id_file
from standfast.journal.author import USER, Author
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.protocols.checkpoints.rules.checkpoint import Key, Record

KIND = "checkpoint.written"
PASSED = "checkpoint.passed"  # an edit that came too late: kept, not taken
PREFIX = "CP"
CELLS = "checkpoint:"
# Whose a record is stands beside it, in a cell that is told by the same event.
_FOREIGN = (
    "SELECT 1 FROM cells JOIN cells AS by ON by.seq = cells.seq"
    " AND by.key = 'checkpoint.by:' || substr(cells.key, 12) WHERE true"
)
_BEGUN = "SELECT 1 FROM cells WHERE key = ?1 OR (key >= ?2 AND key < ?3) LIMIT 1"


class Kept(NamedTuple):
    """A record as it was written: by whom, and as which event."""

    key: Key
    record: Record  # with its id
    seq: int
    at: int
    actor: str = ""
    origin: str | None = None

    @property
    def id(self) -> str:
        """CP-NNN."""
        return str(self.record[rules.ID])

    @property
    def status(self) -> str:
        """How things stood."""
        return str(self.record["status"])

    @property
    def is_foreign(self) -> bool:
        """Whether the repository says it, and nobody here."""
        return self.actor == REPOSITORY


def upsert(
    tx: Writing,
    record: Record,
    author: Author = USER,
    *,
    origin: str | None = None,
    adopted: bool = False,
) -> str:
    """Put a record in the place of the one with its key, and return the id of this write.

    A status that does not follow is refused, before anything is written. What another tool wrote
    first (*adopted*) may begin anywhere.
    """
    key = rules.key(record)
    if redact(str(key)) != str(key):
        raise BadName("the run, phase or lane looks like a secret", remedy="Give it another name.")
    before = present(tx, key)
    if not (before is None and adopted):
        may_begin = before is None or (_is_foreign(tx, key) and author.actor != REPOSITORY)
        is_first = may_begin and rules.status(record) in rules.MOVES[key.stage][None]
        was = None if is_first or before is None else str(before["status"])
        rules.refuse_move(key.stage, was, rules.status(record))
    number = tx.allot(PREFIX)
    tx.append(KIND, {rules.ID: number, **record}, _of_run(author, key.run_id), origin=origin)
    return number


def _of_run(author: Author, run: str) -> Author:
    return Author(author.actor, run=run, session=author.session, subdir=author.subdir)


def pass_over(tx: Writing, record: Record, kept: str, origin: str, author: Author) -> None:
    """Keep an edit that is not taken; *kept* is the write that stays, if there is one."""
    by = _of_run(author, rules.key(record).run_id)
    tx.append(PASSED, {"kept": kept, "record": record}, by, origin=origin)


def is_held(tx: Writing, key: Key) -> bool:
    """Whether the repository has no say in this record: somebody wrote it, or began its run."""
    if present(tx, key) is not None:
        return not _is_foreign(tx, key)
    run = key.run_id
    return bool(tx.execute(_BEGUN, (f"run:{run}", f"lane:{run}/", f"lane:{run}0")))


def _is_foreign(tx: Writing, key: Key) -> bool:
    return bool(tx.execute(f"{_FOREIGN} AND cells.key = ?", (f"{CELLS}{key}",)))


def take_back(tx: Writing, key: Key, words: str, author: Author) -> None:
    """Mark a record as rolled back, and say why; one that is marked stays as it is."""
    record = present(tx, key)
    if record is None or record["status"] == rules.ROLLED_BACK:
        return
    record.pop(rules.ID, None)
    notes = "; ".join(filter(None, (str(record.get("notes") or ""), words)))
    stamp = clock.rfc3339(clock.now_us())
    if _is_foreign(tx, key):  # it says what the repository says, and that it was taken back
        author = Author(REPOSITORY, session=author.session, subdir=author.subdir)
    upsert(tx, {**record, "status": rules.ROLLED_BACK, "notes": notes, "timestamp": stamp}, author)


def present(tx: Writing, key: Key) -> Record | None:
    """The current record of a key, inside a transaction."""
    rows = tx.execute("SELECT value FROM cells WHERE key = ?", (f"{CELLS}{key}",))
    return json.loads(str(rows[0][0])) if rows else None


def texts(journal: Journal) -> list[tuple[Key, str]]:
    """The JSON text of every current record, newest first, as the file shows them."""
    rows = journal.query(
        "SELECT key, value FROM cells WHERE key >= ? AND key < ? ORDER BY seq DESC",
        _range(CELLS),
    )
    return [(_key(str(key)), str(value)) for key, value in rows]


def _key(cell: str) -> Key:
    return rules.Key(*cell.removeprefix(CELLS).split("/"))


def _range(prefix: str) -> tuple[str, str]:
    """The keys that begin with *prefix*, which ends in `:` or `/`."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def current(
    journal: Journal, run_id: str | None = None, phase: str | None = None, lane: str | None = None
) -> list[Kept]:
    """The current records, oldest write first; nothing was recorded, nothing is found."""
    given = itertools.takewhile(lambda name: name is not None, (run_id, phase, lane))
    prefix = CELLS + "".join(f"{name}/" for name in given)
    try:
        rows = journal.query(
            "SELECT key, value, seq, at, EXISTS (SELECT 1 FROM cells AS by WHERE"
            " by.key = 'checkpoint.by:' || substr(cells.key, 12) AND by.seq = cells.seq)"
            " FROM cells WHERE key >= ? AND key < ? ORDER BY seq",
            _range(prefix),
        )
    except NothingFound:
        return []
    found = [
        Kept(_key(str(key)), _here(journal, json.loads(value)), seq, at, by)
        for key, value, seq, at, is_foreign in rows
        for by in (REPOSITORY if is_foreign else "",)
    ]
    return [
        kept for kept in found if phase in (None, kept.key.phase) and lane in (None, kept.key.lane)
    ]


def own(
    journal: Journal, run_id: str, phase: str | None = None, lane: str | None = None
) -> list[Kept]:
    """The same without what the repository says: by that nothing of a lane is decided."""
    return [kept for kept in current(journal, run_id, phase, lane) if not kept.is_foreign]


def _here(journal: Journal, record: Record) -> Record:
    """The record as it was written; its repository may have been moved since."""
    paths = {
        name: id_file.here(journal, path)
        for name in ("worktree_path", "log_path")
        if isinstance(path := record.get(name), str)
    }
    return {**record, **paths}


def latest(
    journal: Journal, run_id: str | None = None, phase: str | None = None, lane: str | None = None
) -> Kept | None:
    """The record that was written last, by the journal's sequence."""
    found = current(journal, run_id, phase, lane)
    return found[-1] if found else None


def latest_own(journal: Journal, run_id: str, phase: str, lane: str) -> Kept | None:
    """The same of those that nobody has to be asked about."""
    found = own(journal, run_id, phase, lane)
    return found[-1] if found else None


def history(journal: Journal, run_id: str) -> list[Kept]:
    """Every write of a run that the journal still holds, oldest first."""
    rows = journal.query(
        "SELECT payload, seq, at, actor, origin FROM events WHERE stream = ? AND kind = ?"
        " ORDER BY seq",
        (f"run:{run_id}", KIND),
    )
    found = [(json.loads(payload), *rest) for payload, *rest in rows]
    return [Kept(rules.key(record), record, *rest) for record, *rest in found]


def ever(journal: Journal) -> list[Record]:
    """Every record that was ever taken or passed over, of the runs that have one now."""
    runs = {key.run_id for key, _ in texts(journal)}
    found: list[Record] = []
    for run in sorted(runs):
        rows = journal.query(
            "SELECT iif(kind = ?2, payload, payload -> 'record') FROM events"
            " WHERE stream = ?1 AND kind IN (?2, ?3)",
            (f"run:{run}", KIND, PASSED),
        )
        found += (json.loads(str(row[0])) for row in rows)
    return found


def find(journal: Journal, number: str) -> Kept | None:
    """A write by its id, as far back as the journal goes."""
    rows = journal.query(
        "SELECT payload, seq, at, actor, origin FROM events"
        " WHERE kind = ? AND payload ->> 'id' = ?",
        (KIND, number),
    )
    if not rows:
        return None
    record = json.loads(rows[0][0])
    return Kept(rules.key(record), record, *rows[0][1:])

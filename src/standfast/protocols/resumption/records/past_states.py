"""Which states a document has had: by them an edit of its file is told from an old copy of it.

Kept beside the journal's state, as what was published is, and made anew from the events where it
is not there: a rebuilt journal, or one of an earlier version. Of a state its first row counts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from standfast.protocols.resumption.rules.arrivals import UNITS, Base, Past, base_of, digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.rules.section_schema import Section

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[Any, ...]]]

_KNOWN = "SELECT 1 FROM published WHERE face = ? AND digest = ?"
_FIRST = "SELECT digest FROM published WHERE face = ? ORDER BY digest LIMIT 1"
_ANY = "SELECT 1 FROM published WHERE face = ? LIMIT 1"
_ADD = "INSERT OR IGNORE INTO published VALUES (?, ?)"


def note(tx: Writing, document: Document, came: Iterable[str] = ()) -> None:
    """Remember how a document stands now; *came* are the units that a file brought."""
    ensure(tx, document)
    _note(tx, document, came)


def ensure(tx: Writing, document: Document) -> None:
    """What was before is remembered too: of this state, and of all that the events tell of."""
    if not is_known(tx.execute, document):
        _from_events(tx, document)
        _note(tx, document)


def _note(tx: Writing, document: Document, came: Iterable[str] = ()) -> None:
    base = base_of(document.section)
    for unit in UNITS:
        tx.execute(_ADD, (_held(document.name), f"{unit} {base.digests[unit]}"))
    for unit in came:
        tx.execute(_ADD, (_came(document.name), f"{unit} {base.digests[unit]}"))
    said = [base.state, base.digests, base.counts]
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    at = str(document.state["updated_at"])
    tx.execute(_ADD, (_at(document.name, at), f"{document.seq:012d} {text}"))


def past(ask: Ask, document: Document, theirs: Section) -> Past:
    """What the journal remembers that matters for a section found in the document's file."""
    found, now = digests(theirs), digests(document.section)
    held = [unit for unit in UNITS if ask(_KNOWN, (_held(document.name), f"{unit} {found[unit]}"))]
    came = [unit for unit in UNITS if ask(_KNOWN, (_came(document.name), f"{unit} {now[unit]}"))]
    rows = ask(_FIRST, (_at(document.name, str(theirs["recovery_state"]["updated_at"])),))
    return Past(frozenset(held), frozenset(came), _read(str(rows[0][0])) if rows else None)


def written_on(tx: Writing, document: Document, branch: str | None) -> None:
    """Remember on which branch a document was last written."""
    tx.execute("DELETE FROM published WHERE face = ?", (f"branch:{document.name}",))
    if branch is not None:
        tx.execute(_ADD, (f"branch:{document.name}", branch))


def branch(ask: Ask, document: Document) -> str | None:
    """The branch that a command last wrote it on."""
    rows = ask("SELECT digest FROM published WHERE face = ?", (f"branch:{document.name}",))
    return str(rows[0][0]) if rows else None


def likeness(ask: Ask, document: Document, updated_at: str, text: str) -> int:
    """How much of its state of this time a text has: two may be of one second. 0: it had none."""
    rows = ask(_FIRST, (_at(document.name, updated_at),))
    if rows:
        state = _read(str(rows[0][0])).state
    elif document.state["updated_at"] == updated_at:
        state = document.state
    else:
        return 0
    said = (value for value in state.values() if isinstance(value, str) and value)
    return 1 + sum(value in text for value in said)


def rename(tx: Writing, before: str, after: str) -> None:
    """What is remembered goes with a document that gets another name."""
    for prefix in (_held(before), _came(before), f"{_at(before, '')}"):
        sql = """
            UPDATE OR REPLACE published SET face = ?2 || substr(face, length(?1) + 1)
            WHERE face = ?1 OR (substr(?1, -1) = '@' AND substr(face, 1, length(?1)) = ?1)"""
        tx.execute(sql, (prefix, prefix.replace(before, after, 1)))


def is_known(ask: Ask, document: Document) -> bool:
    """Whether anything is remembered of it."""
    return bool(ask(_ANY, (_held(document.name),)))


def _read(text: str) -> Base:
    state, units, (decisions, agents, events) = json.loads(text.partition(" ")[2])
    return Base(state, units, (decisions, agents, events))


def _held(name: str) -> str:
    return f"held:{name}"


def _came(name: str) -> str:
    return f"came:{name}"


def _at(name: str, updated_at: str) -> str:
    return f"state:{name}@{updated_at}"


def _from_events(tx: Writing, document: Document) -> None:
    """Every state that the events still tell of."""
    from standfast.journal.tables import document_folds

    sql = "SELECT * FROM events WHERE kind GLOB 'resumption.*' ORDER BY seq"
    before: Document | None = None
    for row in tx.execute(sql):
        after = document_folds.next_state(before, row, document)  # type: ignore[arg-type]  # as the table's types are
        if after is not None and after is not before:
            _note(tx, after)
        before = after

"""Documents follow what the journal decides, in the transaction that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.journal.tables.schema import ANY_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.author import Author
    from standfast.journal.transaction import Writing

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[Any, ...]]]


def has_documents(ask: Ask) -> bool:
    """Whether there is any document, asked without loading what they are made of."""
    return bool(ask(ANY_DOCUMENT, ()))


_NUMBER = """
    SELECT cells.value ->> ('$.section.decision_log[' || each.key || '].id')
    FROM cells, json_each(cells.value, '$.decided') AS each
    WHERE cells.key >= 'resumption:' AND cells.key < 'resumption;' AND each.value = ?"""


def number_in_document(ask: Ask, decision: str) -> str:
    """The id that a decision has in its document; of one that is in none, the journal's."""
    rows = ask(_NUMBER, (decision,))
    return str(rows[0][0]) if rows else decision


def follow(tx: Writing, author: Author, name: str | None = None) -> None:
    """Bring live documents up to date; where there are none, their rules are not even loaded.

    *name* is the document that a decision without one goes to.
    """
    if not has_documents(tx.execute):
        return
    from standfast.protocols.resumption.records import document_records

    if document_records.lags(tx.execute, name):
        document_records.catch_up(tx, author, name)

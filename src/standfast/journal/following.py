"""Documents follow what the journal decides, in the transaction that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.journal.schema import ANY_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.author import Author
    from standfast.journal.writing import Writing

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[Any, ...]]]


def has_documents(ask: Ask) -> bool:
    """Whether there is any document, asked without loading what they are made of."""
    return bool(ask(ANY_DOCUMENT, ()))


def follow(tx: Writing, author: Author) -> None:
    """Bring live documents up to date; where there are none, their rules are not even loaded."""
    if not has_documents(tx.execute):
        return
    from standfast.journal import resumption

    if resumption.lags(tx.execute):
        resumption.catch_up(tx, author)

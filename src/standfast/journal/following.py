"""Documents follow what the journal decides, in the transaction that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from standfast.journal.author import Author
    from standfast.journal.writing import Writing

_ANY = "SELECT 1 FROM cells WHERE key >= 'resumption:' AND key < 'resumption;' LIMIT 1"


def follow(tx: Writing, author: Author) -> None:
    """Bring live documents up to date; where there are none, their rules are not even loaded."""
    if not tx.execute(_ANY):
        return
    from standfast.journal import resumption

    if resumption.lags(tx.execute):
        resumption.catch_up(tx, author)

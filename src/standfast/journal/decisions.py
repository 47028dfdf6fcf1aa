"""Decisions: what `standfast note` records, with ids that never repeat and never skip."""

from __future__ import annotations

from standfast.errors import TooLarge, WrongUsage
from standfast.journal.author import USER, Author
from standfast.protocol.text import printable
from standfast.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.journal.writing import Writing

PREFIX = "RD"
TEXT_LIMIT = 2_000


def clean(text: str) -> str:
    """A decision is one line that a list can hold, without secrets, in full."""
    line = printable(" ".join(redact(text).split()))
    if not line:
        raise WrongUsage("a decision needs some words")
    if len(line) > TEXT_LIMIT:
        raise TooLarge(f"a decision may hold {TEXT_LIMIT:,} characters: cut, it would mislead")
    return line


def note(
    tx: Writing,
    text: str,
    author: Author = USER,
    *,
    origin: str | None = None,
    at: int | None = None,
    more: Mapping[str, object] | None = None,
) -> str:
    """Record a decision and return its id; *more* is what a protocol knows of it beside."""
    words = clean(text)  # refused before it has taken an id
    decision = tx.allot(PREFIX)
    payload = {"id": decision, "text": words, **(more or {})}
    tx.append("decision.noted", payload, author, origin=origin, at=at)
    return decision


def amend(tx: Writing, decision: str, text: str, *, origin: str) -> None:
    """Give a decision other words."""
    tx.append("decision.amended", {"id": decision, "text": clean(text)}, origin=origin)

"""Decisions as the journal has them, with ids that never repeat and never skip.

`standfast note` records them; people read and edit them in `status.md` (`decisions/`).
"""

from __future__ import annotations

from standfast.authorship import REPOSITORY
from standfast.errors.base import NothingFound, TooLarge, WrongUsage
from standfast.journal.author import USER, Author
from standfast.redaction.redactor import redact
from standfast.text import one_line, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.journal.transaction import Writing

PREFIX = "RD"
TEXT_LIMIT = 2_000
APART = "apart"  # before the ids of those that no document takes in


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
    is_apart: bool = False,
) -> str:
    """Record a decision and return its id; *more* is what a protocol knows of it beside.

    One that is apart stays out of documents: who said it does not lead the work.
    """
    words = clean(text)  # refused before it has taken an id
    decision = tx.allot(PREFIX)
    payload = {"id": decision, "text": words, **(more or {})}
    tx.append("decision.noted", payload, author, origin=origin, at=at)
    if is_apart:
        tx.set(f"{APART}:{decision}", {"by": author.actor})
    return decision


def amend(tx: Writing, decision: str, text: str, author: Author = USER, *, origin: str) -> None:
    """Give a decision other words: whoever wrote them stands for it now."""
    payload = {"id": decision, "text": clean(text)}
    if said_by(tx, decision) != author.actor:
        payload["by"] = author.actor
    tx.append("decision.amended", payload, author, origin=origin)


def said_by(tx: Writing, decision: str) -> str | None:
    """Who stands for a decision; None where there is none of this id."""
    rows = tx.execute("SELECT actor FROM decisions WHERE id = ?", (decision,))
    return str(rows[0][0]) if rows else None


def confirm(tx: Writing, decision: str, author: Author = USER) -> None:
    """What a repository says becomes the user's own word, and binds."""
    by = said_by(tx, decision)
    if by is None:
        named = one_line(decision, 40)
        remedy = "See `standfast status --all`."
        raise NothingFound(f"there is no decision `{named}`", remedy=remedy)
    if by != REPOSITORY:
        raise WrongUsage(
            f"{decision} is not the repository's: it binds already",
            remedy="See `standfast status --all` for those that do not.",
        )
    tx.append("decision.confirmed", {"id": decision}, author)

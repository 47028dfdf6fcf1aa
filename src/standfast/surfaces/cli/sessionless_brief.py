"""A brief where no session is: in a fresh clone, after a pull, or where it was forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.brief import sessions
from standfast.errors.base import NothingFound
from standfast.surfaces.cli.screen import warn

if TYPE_CHECKING:
    from standfast.brief.facts import Ask
    from standfast.surfaces.cli.command_context import Context


def ask(context: Context) -> Ask:
    """How to ask the journal; where nothing was ever recorded, one that holds nothing."""
    if context.journal.exists:
        return context.journal.query
    from standfast.protocols.resumption.records.unrecorded_document import journalled

    return journalled()


def upto(ask: Ask) -> int:
    """When anything was recorded last, by whomever; 0 where nothing was."""
    ((at,),) = ask("SELECT ifnull(max(at), 0) FROM events", ())
    return int(str(at))


def tell(context: Context, *, is_empty: bool) -> None:
    """Say why it is nobody's; where the files say nothing either, there is no brief."""
    gone = sessions.forgotten(context.journal.query, 2) if context.journal.exists else []
    problem = "no session of an agent was recorded here yet"
    remedy = "Run `standfast install claude`, then work as before."
    if gone:
        name, more = gone[0].session[:8], " and others were" if len(gone) > 1 else " was"
        problem = f"session {name}{more} forgotten here, and no other one is recorded"
        remedy = f"See its brief with `standfast brief {name}`."
    if is_empty:
        raise NothingFound(problem, remedy=remedy)
    if gone:
        warn(f"{problem}. {remedy}")

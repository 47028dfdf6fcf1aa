"""`standfast note`: record a decision, so that it binds after any compaction or crash."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast import ids
from standfast.effects import ancestry
from standfast.errors.base import JournalUnwritable, WrongUsage
from standfast.journal.author import Author
from standfast.journal.fallback import inbox
from standfast.journal.tables import decision_records
from standfast.protocols.resumption.records.followers import follow, number_in_document
from standfast.surfaces.cli import persons, troubles
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context

_STDIN_LIMIT = 64 * 1024


def configure(parser: argparse.ArgumentParser) -> None:
    """The words, and who says them."""
    parser.add_argument("text", nargs="*", help="the decision in a line; `-` reads it from stdin")
    parser.add_argument(
        "--confirm", metavar="ID", help="make a decision of the repository's bind (a person's word)"
    )
    parser.add_argument("--by", help="who decided (the user, or the agent whose session this is)")
    parser.add_argument("--run", help="the run it belongs to")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Record it; inside a sandbox that keeps the journal read-only, leave it in the inbox."""
    if arguments.confirm is not None:
        return _confirm(context, arguments)
    text = decision_records.clean(_words(arguments.text))
    author = Author(
        persons.decider(context, arguments.by),
        run=ids.run_id(arguments.run) if arguments.run is not None else None,
        session=context.config.session,
        subdir=context.place.subdir,
    )
    is_apart = ancestry.is_an_agents()
    try:
        context.may_write()
        context.take()
        with context.journal.writing() as tx:
            decision = decision_records.note(tx, text, author, is_apart=is_apart)
            follow(tx, author, context.document(tx.execute))
            there = number_in_document(tx.execute, decision)
    except JournalUnwritable:
        path = inbox.leave(
            context.place.folder,
            context.config.temporaries,
            "decision.noted",
            {"text": text, **({decision_records.APART: True} if is_apart else {})},
            author,
        )
        _say(
            context,
            {"inbox": path},
            "Kept in the inbox: the next command that may write takes it in.",
        )
        return 0
    apart = "; it stands in no resumption section: that is for who leads the work"
    also = "" if there == decision else f" ({decision} in the journal)"
    facts: dict[str, object] = {"id": there, "text": text}
    if also:
        facts["journal_id"] = decision
    _say(context, facts, f"Recorded {there}{also}{apart if is_apart else ''}")
    context.heal(writes=True)  # after the acknowledgement: it undoes nothing
    troubles.tell(context)
    return 0


def _confirm(context: Context, arguments: argparse.Namespace) -> int:
    """A person says that what the repository says holds here too."""
    if arguments.text or arguments.by is not None or arguments.run is not None:
        raise WrongUsage("--confirm takes the id of a decision and nothing else")
    persons.refuse_agents(context)
    author = Author(context.who, subdir=context.place.subdir)
    context.may_write()
    with context.journal.writing() as tx:
        decision_records.confirm(tx, arguments.confirm, author)
        follow(tx, author, context.document(tx.execute))
    facts = {"id": arguments.confirm, "confirmed": True, "by": author.actor}
    _say(context, facts, f"Confirmed {arguments.confirm}: it binds from now on.")
    context.heal(writes=True)  # as below
    troubles.tell(context)
    return 0


def _words(given: list[str]) -> str:
    if not given:
        raise WrongUsage("a decision needs some text", remedy='Try `standfast note "…"`.')
    if given != ["-"]:
        return " ".join(given)
    data = sys.stdin.buffer.read(_STDIN_LIMIT + 1)
    if len(data) > _STDIN_LIMIT:
        raise WrongUsage(f"a decision from stdin may hold {_STDIN_LIMIT:,} bytes")
    from standfast.formats.document_limits import decode

    return decode(data, name="stdin")


def _say(context: Context, facts: dict[str, object], words: str) -> None:
    print(json_line(facts) if context.json else words, flush=True)

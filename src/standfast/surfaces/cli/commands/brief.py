"""`standfast brief`: what an agent would be told if it woke up now. It only prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import clock, ids
from standfast.authorship import USER
from standfast.brief import brief_text, facts, sessions
from standfast.brief.delivery import make_nonce
from standfast.clients.hooks.checkout import Checkout
from standfast.surfaces.cli import plan_list, sessionless_brief
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.brief.facts import Ask, Facts
    from standfast.surfaces.cli.command_context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """Whose brief, and how much of it."""
    parser.add_argument("session", nargs="?", help="the session, or how its id begins (this one)")
    parser.add_argument("--more", action="store_true", help="up to 10,000 characters of it")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Print it; nothing is recorded as given, because nobody knows who reads."""
    context.heal()
    session = _session(context, arguments.session)
    size = brief_text.MORE if arguments.more else brief_text.SHORT
    ask = sessionless_brief.ask(context)
    found = _gather(context, ask, session, size.vital)
    if session is None:
        sessionless_brief.tell(
            context, is_empty=not (found.plans or found.decisions or found.foreign)
        )
    text = brief_text.render(found, make_nonce(ask), size)
    print(json_line({**_as_dict(found), "text": text}) if context.json else text)
    for each in context.waiting:
        if each.is_news and not (each.refused or context.json):
            print(f"NOT YET TAKEN, {each.file} says (quoted): «{printable(each.words)}»")
    return 0


def _gather(context: Context, ask: Ask, session: sessions.Session | None, most: int) -> Facts:
    """Everything for it; without a session what the journal and the files say for all."""
    name, client = (session.session, session.client) if session else ("", USER)
    root = context.place.root
    found = facts.gather(ask, name, client, "asked", most=most, root=root, now=clock.now_us())
    if session is None:
        found.upto, found.branch = sessionless_brief.upto(ask), Checkout(root).branch()
    _add_file(context, ask, found, most)
    return found


def _add_file(context: Context, ask: Ask, found: Facts, most: int) -> None:
    """What the plan's file says, where nobody has taken it over."""
    file = context.config.orchestration_file
    if os.path.lexists(os.path.join(context.place.root, file)):
        from standfast.brief import plan_files

        now = clock.now_us()
        where = (ask, context.journal, context.place.root, file)
        plan_files.add(found, *where, now=now, most=most)
        if not (found.session or found.plans):
            plan_files.add_over(found, *where, now=now, most=most)


def _session(context: Context, named: str | None) -> sessions.Session | None:
    """The one that is named, else the caller's own, else the newest, if there is any."""
    ask = context.journal.query
    if named is not None:
        return sessions.find(ask, ids.session_id(named))
    if context.config.session is not None:
        return sessions.find(ask, context.config.session)
    newest = sessions.newest(ask, 1) if context.journal.exists else []
    return newest[0] if newest else None


def _as_dict(found: Facts) -> dict[str, object]:
    """The facts behind the text, newest first."""
    return {
        "session": found.session or None,
        "client": found.client if found.session else None,
        "branch": found.branch,
        "records_up_to": clock.rfc3339(found.upto) if found.upto else None,
        "asked": [{"at": clock.rfc3339(at), "text": text} for at, text in found.prompts],
        "in_flight": [
            {
                "what": "subagent" if what == "agent" else tool,
                "words": words,
                "since": clock.rfc3339(at),
                "cut_off": begun < found.woke,
            }
            for what, words, at, begun, tool, _ in found.in_flight
        ],
        "tasks": [{"id": key, "words": words, "state": state} for key, words, state in found.tasks],
        "decisions": [
            {
                "id": key,
                "text": text,
                "by": actor,
                "at": clock.rfc3339(at),
                "waits_for_phases": found.unapplied[key][0] if key in found.unapplied else None,
            }
            for key, text, actor, at, _ in found.decisions
        ],
        "from_repository": [
            {"id": key, "text": text, "by": actor, "at": clock.rfc3339(at)}
            for key, text, actor, at, _ in found.foreign
        ],
        "results": [
            {"at": clock.rfc3339(at), "words": words, "ended": state, "status": status}
            for at, words, state, status, *_ in found.results
        ],
        "commits": [{"commit": commit, "subject": words} for commit, words, _ in found.commits],
        "edited": found.edited,
        "other_sessions": found.others,
        "open_outputs": [
            {"file": path, "launches": times, "launched_at": clock.rfc3339(at)}
            for path, times, at in found.open_outputs
        ],
        "documents": [plan_list.as_dict(plan) for plan in found.plans],
    }

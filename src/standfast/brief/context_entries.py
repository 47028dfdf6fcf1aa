"""Look: what the journal knows of a session that belongs into its agent's context file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import clock
from standfast.brief import facts
from standfast.protocols.context.rules.context_schema import FOLDER
from standfast.protocols.context.rules.context_writer import Known

if TYPE_CHECKING:
    from standfast.brief.facts import Ask, Facts
    from standfast.brief.sessions import Session

_MOST = 100  # of each kind; the newest
_DONE = """
    SELECT words, ended FROM work INDEXED BY work_by_state
    WHERE state = 'completed' AND what = 'task' AND session = ? ORDER BY ended DESC LIMIT ?"""


def known(ask: Ask, session: Session | None) -> Known:
    """Completed work in the order in which it ended; nothing where there is no session."""
    if session is None:
        return Known()
    found = facts.gather(ask, session.session, session.client, "context file", most=_MOST)
    done = [(int(str(at)), str(words), None) for words, at in ask(_DONE, (session.session, _MOST))]
    made = [(at, words, commit) for commit, words, at in found.commits]
    ended = sorted([*done, *made], key=lambda each: each[0])
    return Known(
        completed=[(words, commit) for _, words, commit in ended],
        pending=_pending(found),
        files=[path for path in found.edited if not path.startswith(f"{FOLDER}/")],
    )


def _pending(found: Facts) -> list[str]:
    tasks = [
        f"{words} (in progress)" if state == "in_progress" else words
        for _, words, state in found.tasks
    ]
    flights = [
        f"In flight since {clock.rfc3339(at)}: {'subagent' if what == 'agent' else tool} {words}"
        for what, words, at, _, tool, _ in reversed(found.in_flight)
    ]
    return tasks + flights

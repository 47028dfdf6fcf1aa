"""The subagent that asks to write a section, as far as the open calls of its session tell.

Who leads the session may write it, and no subagent may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[Any, ...]]]

# A call in the background has come back to the client, and its command still runs. One of an
# earlier life of the client is over, whatever the journal knows of its end.
_CALLERS = """
    SELECT DISTINCT work.agent, sessions.client FROM work JOIN sessions USING (session)
    WHERE work.session = ? AND work.what = 'call' AND work.state IN ('open', 'background')
      AND work.begun > sessions.woke AND work.words LIKE '%standfast%'"""


def subagent(ask: Ask, session: str) -> str | None:
    """The subagent that calls us: only calls of subagents are open that could be this one.

    Where the lead has such a call open too, or where no hook has told of any, it may be the lead.
    """
    callers = ask(_CALLERS, (session,))
    if not callers or any(agent == client for agent, client in callers):
        return None
    return str(callers[0][0])

"""Whether an agent is owed a brief: asked by every hook that could carry one. Hook path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.wake.facts import Ask

# A wake-up that nobody was briefed for, unless a later one was.
_OWED = """
    SELECT owed, why FROM briefs WHERE session = ?1 AND agent = ?2 AND given = 0 AND seen = 0
      AND owed > (SELECT ifnull(max(owed), 0) FROM briefs
                  WHERE session = ?1 AND agent = ?2 AND given > 0)
      AND NOT EXISTS (SELECT 1 FROM sessions WHERE session = ?1 AND forgotten > 0)
    ORDER BY owed DESC LIMIT 1"""


def brief_for(ask: Ask, session: str, agent: str) -> tuple[int, str] | None:
    """The wake-up that a brief is owed for, and what woke the agent."""
    rows = ask(_OWED, (session, agent))
    return (int(str(rows[0][0])), str(rows[0][1])) if rows else None

"""How old a document's section is for a session: its start is the one that was journalled.

A compaction starts no session. One that is not known, or whose start was dropped since, judges
nothing. Hook path.
"""

from __future__ import annotations

from standfast.protocols.resumption.rules.staleness import Staleness, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from standfast.journal.tables.document_folds import Document

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[Any, ...]]]

_START = """
    SELECT events.at FROM sessions JOIN events ON events.seq = sessions.began
    WHERE sessions.session = ? AND events.payload ->> 'source' IS NOT 'compact'"""


def session_start(ask: Ask, session: str | None) -> int | None:
    """When the session began."""
    rows = ask(_START, (session,)) if session else []
    return int(rows[0][0]) if rows else None


def of_document(ask: Ask, document: Document, session: str | None, now_us: int) -> Staleness:
    """How old its section is, for this session and in this phase."""
    return judge(
        document.state["updated_at"],
        now_us=now_us,
        session_started_us=session_start(ask, session),
        phase_started_us=document.phase_at,
    )

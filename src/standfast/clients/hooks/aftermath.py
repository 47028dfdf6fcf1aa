"""What a hook does when nobody waits for it any more: strays home, the mirror, the log's size."""

from __future__ import annotations

import os

from standfast import xdg
from standfast.clients.hooks.hook_call import DOCUMENT
from standfast.journal import own_journals
from standfast.journal.fallback import lost_calls, spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.clients.hooks.hook_call import Call
    from standfast.journal.store import Journal


def tidy(call: Call, journal: Journal) -> None:
    """After the answer. A crash here loses nothing: the next call finds the same to do."""
    marks = list(lost_calls.marks(call.environ, journal.folder))
    if marks or spool.is_used(journal.folder):
        from standfast.journal.fallback import strays  # rare, and not for free

        strays.merge(journal, xdg.temporaries(call.environ), marks=marks)
    if call.role is not None:
        from standfast.clients.claude import role_moves

        role_moves.tidy(call, journal)
    if _has_documents(call):
        from standfast.clients.claude import document_upkeep

        document_upkeep.tidy(call, journal)
    if call.wakes:
        journal.mirror()
        own_journals.advance(journal.state_home, journal)
        journal.checkpoint()


def _has_documents(call: Call) -> bool:
    """Whether there is, or may be, a document to keep; a new session looks for one."""
    if call.refused or call.crossed is not None or call.keeps or call.said:
        return True
    if call.event == "SessionStart" and call.agent is None:
        return bool(call.documents) or os.path.lexists(f"{call.place.root}/{DOCUMENT}")
    return bool(call.documents) and call.event in {"PreCompact", "Stop"}

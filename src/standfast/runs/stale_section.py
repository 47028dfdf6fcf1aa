"""Whether runs, lanes and stages may begin anything here: not by a section from before the session.

That is a section at CRITICAL staleness.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import clock
from standfast.errors.base import NothingFound, StaleResumption
from standfast.protocols.resumption.records.followers import has_documents
from standfast.protocols.resumption.rules.staleness import CRITICAL

if TYPE_CHECKING:
    from standfast.journal.store import Journal


def refuse_stale(journal: Journal, root: str, session: str | None) -> None:
    """Raise where a live document at home in *root* was last updated before this session."""
    if session is None or not _has_documents(journal):
        return
    from standfast.protocols.resumption.records import document_records, freshness, live_documents

    here = live_documents.names(journal.query, root)
    for document in document_records.documents(journal.query):
        home = document_records.root_of(journal.query, document)
        if document.name not in here or os.path.realpath(home) != os.path.realpath(root):
            continue
        found = freshness.of_document(journal.query, document, session, clock.now_us())
        if found.level == CRITICAL:
            problem = f"the resumption section is CRITICAL: {found.reason}"
            raise StaleResumption(problem, file=os.path.join(root, document.file))


def _has_documents(journal: Journal) -> bool:
    try:
        return has_documents(journal.query)
    except NothingFound:
        return False

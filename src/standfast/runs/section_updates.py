"""The resumption section follows a run: its phases, its agents and its gates fire the triggers.

Only documents that are live and at home in the run's repository; where there are none, nothing is
loaded. A trigger is in one transaction with what it tells of, or told anew by whoever comes after
a death. One that the section's rules refuse stops no run: it is told, and the run goes on.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import clock
from standfast.errors.base import StandfastError
from standfast.protocols.resumption.records.followers import has_documents
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.author import Author
    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.plans.lane_spec import Spec
    from standfast.protocols.resumption.rules.quality_gates import Scores
    from standfast.protocols.resumption.rules.triggers import Recovery, Trigger

    Make = Callable[[Document], Trigger | None]

_WORDS = 200


class Documents:
    """The documents that one run keeps."""

    def __init__(self, root: str, run_id: str, author: Author, tell: Callable[[str], None]) -> None:
        self._root = os.path.realpath(root)
        self._run_id = run_id
        self._author = author
        self._tell = tell

    def phase_began(self, tx: Writing, number: int, name: str) -> None:
        """T1."""
        from standfast.protocols.resumption.rules.triggers import PhaseStart

        activity = f"phase-{number}-agent-execution"
        said = {"current_phase": number, "current_phase_name": name, "workflow_status": "ACTIVE"}
        step = f"standfast resume {self._run_id}"
        self._fire(tx, lambda document: PhaseStart(
            self._state(tx, document, **said, current_activity=activity, next_step=step)
        ))  # fmt: skip

    def phase_ended(self, tx: Writing, number: int, name: str, *, is_last: bool) -> None:
        """T2."""
        from standfast.protocols.resumption.rules.triggers import PhaseComplete

        status = "COMPLETE" if is_last else "ACTIVE"
        step = "nothing: the run is done" if is_last else f"standfast resume {self._run_id}"
        self._fire(tx, lambda document: PhaseComplete(
            self._state(tx, document, current_phase=number, current_phase_name=name,
                        workflow_status=status, current_activity="idle", next_step=step)
        ))  # fmt: skip

    def agent_ended(
        self, tx: Writing, lane: str, status: str, finding: str, *, is_news: bool
    ) -> None:
        """T4: a lane is done, or cannot go on. Old news are told only where they never were."""
        from standfast.protocols.resumption.rules.section_logs import newest_summary, summary_line
        from standfast.protocols.resumption.rules.triggers import AgentCompletion, Summary

        agent = f"{self._run_id}/{lane}"
        summary = Summary(agent, status, one_line(finding, _WORDS) or "No words")
        line = summary_line(status, summary.finding) if is_news else f"{status}."

        def made(document: Document) -> Trigger | None:
            known = newest_summary(document.section["agent_summaries"], agent)
            is_told = known.startswith(line)
            return None if is_told else AgentCompletion(self._state(tx, document), summary)

        self._fire(tx, made)

    def gate_scored(self, tx: Writing, spec: Spec, gate: str, known: str, scores: Scores) -> str:
        """T3, whether it passed or not; gives what the gate is known by from its first one on.

        Another phase or run may have had a gate of that name: then this one's are named first.
        """
        from standfast.protocols.resumption.rules.section_logs import (
            free_gate,
            gate_to_tell,
            next_iteration,
        )
        from standfast.protocols.resumption.rules.triggers import Defects, GateIteration, Iteration

        names = (gate, f"{spec.phase}/{gate}", f"{spec.run_id}/{spec.phase}/{gate}")
        known = known or free_gate([each.section for each in self._live(tx)], names)

        def made(document: Document) -> Trigger:
            name = gate_to_tell(document.section, known)
            count = next_iteration(document.section, name)
            state = self._state(tx, document, current_activity=f"{name.lower()}-iteration-{count}")
            return GateIteration(state, Iteration(name, scores), Defects())

        self._fire(tx, made)
        return known

    def _state(self, tx: Writing, document: Document, **said: object) -> Recovery:
        from standfast.protocols.resumption.records import document_records

        return document_records.recovery(tx.execute, document, clock.now_us(), **said)

    def _live(self, tx: Writing) -> list[Document]:
        if not has_documents(tx.execute):
            return []
        from standfast.protocols.resumption.records import document_records, live_documents

        here = live_documents.names(tx.execute, self._root)
        found = (each for each in document_records.documents(tx.execute) if each.name in here)
        roots = ((each, document_records.root_of(tx.execute, each)) for each in found)
        return [each for each, root in roots if os.path.realpath(root) == self._root]

    def _fire(self, tx: Writing, make: Make) -> None:
        """What a document refuses, it refuses before anything of it is in the transaction."""
        from standfast.protocols.resumption.records import document_records

        for document in self._live(tx):
            try:
                trigger = make(document)
                if trigger is not None:
                    document_records.fire(tx, document.name, trigger, self._author)
            except StandfastError as refused:
                self._tell(f"{document.file} was not updated: {refused.problem}")

"""A phase of a run in the protocol's words: records of lane `-`, as it begins and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import ids
from standfast.plans.lane_spec import Spec
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes.lane_context import checkpoint, log, recording
from standfast.runs.rules.schedule import State
from standfast.text import a_few

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.runs.active_run import Worker
    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.schedule import Lane, Name
    from standfast.runs.section_updates import Documents
from standfast.runs.lanes.lane_context import Work

_BAD = (State.FAILED, State.NEEDS)


class Phases:
    """The phases of one run, in their order."""

    def __init__(
        self, journal: Journal, run: Run, root: str, worker: Worker, documents: Documents
    ) -> None:
        self._journal = journal
        self._run = run
        self._root = root
        self._worker = worker
        self._documents = documents
        self._told: dict[str, str | None] = {}  # by phase: the newest status, as we know it

    def look(self, lanes: Mapping[Name, Lane]) -> None:
        """Write down which phases began, which are done and which cannot go on; again and again.

        Each for itself: one that is resumed alone may come before others.
        """
        is_last = all(lane.state is State.DONE for lane in lanes.values())
        for number, (phase, title, members) in enumerate(self._run.phases, start=1):
            states = [lanes[phase, lane].state for lane, _ in members]
            if all(state is State.WAITING for state in states):
                continue
            self._begin(number, phase, title)
            if all(state is State.DONE for state in states):
                self._end(number, phase, title, is_last=is_last)
            elif not any(state is State.RUNNING for state in states):
                bad = [lane for lane, _ in members if lanes[phase, lane].state in _BAD]
                self._stick(phase, bad)

    def _work(self, phase: str) -> Work:
        spec = Spec(
            self._run.run_id, phase, ids.NO_LANE, base=self._run.base, branch=self._run.base,
            worktree=self._root, runner="", tasks=(),
        )  # fmt: skip
        return self._worker(self._journal, spec)

    def _status(self, phase: str) -> str | None:
        """The newest status of the phase's own records; rolled back is as if there were none."""
        if phase not in self._told:
            found = recorded.latest_own(self._journal, self._run.run_id, phase, ids.NO_LANE)
            is_known = found is not None and found.status != cp.ROLLED_BACK
            self._told[phase] = f"{found.key.stage}/{found.status}" if is_known and found else None
        return self._told[phase]

    def _begin(self, number: int, phase: str, title: str) -> None:
        if self._status(phase) is not None:
            return
        work = self._work(phase)
        with recording(work) as tx:
            checkpoint(work, tx, cp.BEFORE, cp.READY)
            checkpoint(work, tx, cp.STARTED, cp.IN_PROGRESS)
            self._documents.phase_began(tx, number, title or phase)
        self._told[phase] = f"{cp.STARTED}/{cp.IN_PROGRESS}"
        log(work, "phase_start", notes=title)

    def _end(self, number: int, phase: str, title: str, *, is_last: bool) -> None:
        if self._status(phase) == f"{cp.PRE_PR}/{cp.COMPLETE}":
            return
        work = self._work(phase)
        with recording(work) as tx:
            checkpoint(work, tx, cp.TESTED, cp.COMPLETE, notes="every lane is done")
            checkpoint(work, tx, cp.PRE_PR, cp.READY)
            checkpoint(work, tx, cp.PRE_PR, cp.COMPLETE, notes="every lane is done")
            self._documents.phase_ended(tx, number, title or phase, is_last=is_last)
        self._told[phase] = f"{cp.PRE_PR}/{cp.COMPLETE}"
        log(work, "phase_done", notes=title)

    def _stick(self, phase: str, bad: list[str]) -> None:
        if not bad or self._status(phase) == f"{cp.TESTED}/{cp.FAILED}":
            return
        work = self._work(phase)
        notes = f"cannot go on without {a_few(bad)}"
        with recording(work) as tx:
            checkpoint(work, tx, cp.TESTED, cp.FAILED, notes=notes)
        self._told[phase] = f"{cp.TESTED}/{cp.FAILED}"
        log(work, "lane_blocked", "blocked", notes=notes)


def take_back(tx: Writing, run_id: str, phase: str, author: Author) -> None:
    """Some of its lanes were taken back: whoever resumes them begins the phase anew."""
    for stage in cp.STAGES:
        key = cp.Key(run_id, phase, ids.NO_LANE, stage)
        recorded.take_back(tx, key, "lanes of it were taken back", author)

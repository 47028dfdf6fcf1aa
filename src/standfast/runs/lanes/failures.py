"""A run of an agent or of the tests that failed: it is counted before the next one begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.formats.json_text import write_json
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes.lane_context import checkpoint, leave, log, recording, step
from standfast.runs.records import lane_records as told
from standfast.runs.records import run_log
from standfast.runs.rules import lane_steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.effects.rules import Ended
    from standfast.formats.document_limits import Value
    from standfast.journal.transaction import Writing
    from standfast.plans.lane_spec import Gate, Task
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Failed, Standing


class Failure(NamedTuple):
    """One run that failed."""

    step: str
    number: int
    facts: Mapping[str, str]  # `error` among them
    stage: str  # whose checkpoint tells of it
    said: Mapping[str, Value]  # by that checkpoint
    ended: Ended | None

    @property
    def error(self) -> str:
        """Why, in words for people and for the next run."""
        return self.facts["error"]


def failed(work: Work, lane: Standing, redo: Task | Gate, failure: Failure) -> None:
    """Count it and begin the next run, in one transaction; or say that there is none left."""
    if failure.ended is not None and failure.ended.how == "cancelled":
        leave(work, failure.step, failure.number, failure.facts)
    ours = run_log.tail(work.log_path, 5, run_log.key(work.journal.folder)).entries
    entries = [write_json(each) for each in map(run_log.unproved, ours)]
    after = lane_steps.after_failure(lane, failure.error, entries)
    context: list[Value] = [*after.context]
    with recording(work) as tx:
        step(work, tx, failure.step, failure.number, lane_steps.FAILED, failure.facts)
        if failure.stage == cp.TESTED or after.retry is None:
            checkpoint(work, tx, failure.stage, cp.FAILED, **failure.said, failure_context=context)
        _count(work, tx, failure, after)
        if after.retry is not None:
            number = told.last_number(work.journal, work.spec, redo.step) + 1
            carried = lane_steps.of_gate(failure.facts)
            step(work, tx, redo.step, number, lane_steps.BEGUN, carried)
    if after.retry is not None:
        again = f"{after.retry} of {work.spec.retries}"
        log(work, "task_retry_start", task=redo.name, notes=again)


def _count(work: Work, tx: Writing, failure: Failure, after: Failed) -> None:
    """The retry that is begun now, or that there were some and all are used up."""
    most = work.spec.retries
    if after.retry is None and not most:
        return
    attempt, status = after.retry or most, cp.RETRYING if after.retry else cp.FAILED
    checkpoint(work, tx, cp.RETRY, status, retry_attempt=attempt, max_retries=most,
               notes=failure.error, failure_context=[*after.context])  # fmt: skip

"""A lane, from nothing to merged: look, decide, act, until there is nothing left to do.

Beginning a lane, going on with it and recovering it are one call. Nothing is kept in memory that a
death could take: what is done is in the journal, and every act first looks at what is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import clock
from standfast.errors.lanes import LaneBlocked, LaneEnded, LaneFailed
from standfast.plans.lane_spec import Gate
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs import run_locks
from standfast.runs.lanes import (
    agent_step,
    lane_gates,
    lane_start,
    lane_tests,
    merge_step,
    pauses,
    unfinished_merge,
    worktree_setup,
)
from standfast.runs.lanes.lane_context import checkpoint, log, recording, step
from standfast.runs.records import rollback_records
from standfast.runs.rules import lane_steps
from standfast.runs.rules.lane_steps import Do, decide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Next, Standing

    Act = Callable[[Work, Standing, Next], None]


def run(work: Work, *, asked: bool = False) -> Standing:
    """Take the lane as far as it goes; *asked*: what failed before is done once more."""
    with run_locks.taken(work.journal, run_locks.LANES, *work.spec.names):
        try:
            _refuse_half_rolled_back(work)
            return _go(work, asked=asked)
        finally:
            work.render()


def _refuse_half_rolled_back(work: Work) -> None:
    """Its files may be torn, and its records speak of commits that are not there any more."""
    last = rollback_records.last(work.journal, *work.spec.names)
    if last is None or last.is_done:
        return
    run_id, phase, lane = work.spec.names
    raise LaneBlocked(
        f"{'/'.join(work.spec.names)}: a rollback of it was cut short, and comes first",
        file=work.spec.worktree,
        remedy=f"Finish it: `standfast lane rollback --run-id {run_id} --phase {phase} --lane"
        f" {lane}`; then resume the lane.",
    )


def _go(work: Work, *, asked: bool) -> Standing:
    while True:
        lane = work.standing()
        following = decide(lane, asked=asked, now_us=clock.now_us())
        if following.do is Do.NOTHING:
            return lane
        _refuse_step(work, following)
        if unfinished_merge.is_left(lane):
            unfinished_merge.end(work, lane)
            continue
        if following.do in _IN_TREE and merge_step.is_moving(lane):
            merge_step.settle(work, lane)
            continue
        if following.do not in _BEFORE_ANY:
            asked = False
        ACTS[following.do](work, lane, following)


_BEFORE_ANY = (Do.PREPARE, Do.START, Do.FAIL, Do.BLOCK, Do.PARK)

# What works in the worktree, or commits what is there: it has to be whole before.
_IN_TREE = (Do.PREPARE_TREE, Do.WORK, Do.TEST, Do.AGAIN, Do.JUDGE, Do.RETEST, Do.LAND)


def _refuse_step(work: Work, following: Next) -> None:
    """Whoever stops a run does not wait for tests that had not begun, nor for a turn to merge."""
    if following.do is not Do.RETIRE and work.is_stopped():
        raise LaneEnded(f"{'/'.join(work.spec.names)} was stopped before: {following.do}")


def _again(work: Work, lane: Standing, following: Next) -> None:
    """Somebody wants what failed to be done once more: that is its next run."""
    name = following.step
    if name == lane_steps.SETUP:
        worktree_setup.prepare(work, lane, following)
        return
    if name == lane_steps.RETEST:
        with recording(work) as tx:
            step(work, tx, name, lane.steps[name].number, lane_steps.ENDED)
        return
    facts = lane_steps.of_gate(lane.steps[name].facts)
    if lane.steps[name].state == lane_steps.REVISE:  # the gate comes again by itself
        name, facts = work.spec.tasks[-1].step, {}
    with recording(work) as tx:
        step(work, tx, name, lane.steps[name].number + 1, lane_steps.BEGUN, facts)
        if following.task is not None and not lane.is_at(cp.STARTED, cp.IN_PROGRESS):
            checkpoint(work, tx, cp.STARTED, cp.IN_PROGRESS, notes="once more, as asked")
    _log_again(work, name)


def _log_again(work: Work, name: str) -> None:
    kind = "gate" if name.startswith("gate-") else "task"
    event = "test_start" if name == lane_steps.TESTS else f"{kind}_start"
    task = "-" if name == lane_steps.TESTS else name.removeprefix(f"{kind}-")
    log(work, event, task=task, notes="once more, as asked")


def _fail(work: Work, lane: Standing, following: Next) -> None:
    error = lane.steps[following.step].facts.get("error", "it failed")
    runs = lane.retries + 1
    counted = f" after {runs} runs" if runs > 1 else ""
    raise LaneFailed(f"{'/'.join(work.spec.names)} failed{counted}: {error}", file=work.log_path)


def _block(work: Work, lane: Standing, following: Next) -> None:
    gate, said = following.task, lane.steps[following.step].facts
    if not isinstance(gate, Gate):
        raise LaneBlocked(f"{'/'.join(work.spec.names)}: {said.get('error')}", file=work.log_path)
    raise LaneBlocked(
        f"{'/'.join(work.spec.names)}: gate {gate.name} scored it {said.get('score')} in iteration"
        f" {said.get('iteration')}, {gate.least} is asked; weakest: {said.get('weakest')}",
        file=said.get("file"),
        remedy="Read the findings, then resume the lane: that is one iteration more.",
    )


ACTS: Mapping[Do, Act] = {
    Do.PREPARE: lane_start.prepare,
    Do.START: lane_start.start,
    Do.PREPARE_TREE: worktree_setup.prepare,
    Do.WORK: agent_step.work,
    Do.TEST: lane_tests.test,
    Do.AGAIN: _again,
    Do.FAIL: _fail,
    Do.JUDGE: lane_gates.judge,
    Do.BLOCK: _block,
    Do.PARK: pauses.wait,
    Do.RETEST: merge_step.land,
    Do.LAND: merge_step.land,
    Do.RETIRE: merge_step.retire,
}

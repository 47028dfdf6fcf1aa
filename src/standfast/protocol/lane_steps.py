"""What a lane does next: decided from its checkpoints and its steps alone. Pure.

Starting, going on and recovering ask the same question. What is newer than what is told by the
journal's sequence, never by a clock: tests count for the work that came before them, no other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from standfast.protocol import checkpoints as cp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.protocol.checkpoints import Record
    from standfast.protocol.lane_spec import Spec, Task

BEGUN, OK, FAILED = "begun", "ok", "failed"
SETUP, TESTS, REBASE, MERGE, PR, RETIRE = "setup", "tests", "rebase", "merge", "pr", "retire"
LOG_ENTRIES = 5
LONGEST_ERROR, LONGEST_ENTRY, MOST_TOLD = 2000, 500, 60

# Which stage a step leads to: a rollback to an earlier one makes it as if it had never been.
_LEADS_TO = {REBASE: cp.PRE_PR, MERGE: cp.PRE_PR, PR: cp.PRE_PR, RETIRE: cp.PRE_PR}
_ORDER = (cp.BEFORE, cp.STARTED, cp.TESTED, cp.PRE_PR)


class Step(NamedTuple):
    """The newest word about one step of a lane."""

    number: int
    state: str
    seq: int
    facts: Mapping[str, str] = {}


class Mark(NamedTuple):
    """The current record of one stage."""

    status: str
    seq: int
    at: int  # µs
    record: Record


class Standing(NamedTuple):
    """What the journal knows of a lane; stages that were rolled back are left out."""

    spec: Spec
    marks: Mapping[str, Mark]
    steps: Mapping[str, Step]

    def is_at(self, stage: str, status: str) -> bool:
        """Whether a stage stands like this."""
        return stage in self.marks and self.marks[stage].status == status

    @property
    def retries(self) -> int:
        """How many retries were begun."""
        said = self.marks[cp.RETRY].record.get("retry_attempt") if cp.RETRY in self.marks else 0
        return said if isinstance(said, int) else 0

    @property
    def failures(self) -> list[str]:
        """What the attempts before said."""
        said = self.marks[cp.RETRY].record.get("failure_context") if cp.RETRY in self.marks else []
        return [str(each) for each in said] if isinstance(said, list) else []


def is_void(step: str, seq: int, rolled_back_to: str, at: int) -> bool:
    """Whether a rollback, told as event *at*, undid a step."""
    leads_to = _LEADS_TO.get(step, cp.TESTED)
    return seq < at and _ORDER.index(leads_to) > _place(rolled_back_to)


def _place(stage: str) -> int:
    return _ORDER.index(stage) if stage in _ORDER else 1  # a retry is work after the start


def is_tested_at(lane: Standing, commit: str) -> bool:
    """Whether the tests that passed were of this commit, or of what we made it from."""
    tested = lane.marks[cp.TESTED].record.get("head_sha")
    if not lane.spec.test or tested in (None, commit):
        return True
    moved = lane.steps.get(REBASE)
    return moved is not None and (moved.facts.get("to"), moved.facts.get("tested")) == (
        commit,
        tested,
    )


class Do(StrEnum):
    """What comes next."""

    PREPARE = "see whether it can begin"
    START = "make the worktree"
    PREPARE_TREE = "prepare the worktree"
    WORK = "let the agent work"
    TEST = "run the tests"
    AGAIN = "do again what failed"
    FAIL = "say that it failed"
    LAND = "merge it, or ask for that"
    RETIRE = "put the worktree away"
    NOTHING = "nothing: it is done"


class Next(NamedTuple):
    """What comes next, with which task, and of which step it is spoken."""

    do: Do
    task: Task | None = None
    step: str = ""


def decide(lane: Standing, *, asked: bool = False) -> Next:
    """The next thing to do; *asked*: somebody wants what failed to be done again."""
    if not lane.is_at(cp.BEFORE, cp.READY):
        return Next(Do.PREPARE)
    if cp.STARTED not in lane.marks:
        return Next(Do.START)
    if not _is_tested(lane):
        return _next_work(lane, asked=asked)
    if not lane.is_at(cp.PRE_PR, cp.COMPLETE):
        return Next(Do.LAND)
    return Next(Do.NOTHING if RETIRE in lane.steps else Do.RETIRE)


def _is_tested(lane: Standing) -> bool:
    """Tests that passed after all work, or somebody's word that they need not be run again."""
    if not lane.is_at(cp.TESTED, cp.COMPLETE):
        return False
    work = [step.seq for name, step in lane.steps.items() if _is_work(name)]
    return lane.marks[cp.TESTED].seq > max(work, default=0)


def _is_work(step: str) -> bool:
    return step not in _LEADS_TO and step != SETUP


def _next_work(lane: Standing, *, asked: bool) -> Next:
    again = Do.AGAIN if asked else Do.FAIL
    if lane.spec.is_prepared:
        setup = lane.steps.get(SETUP)
        if setup is not None and setup.state == FAILED:
            return Next(again, step=SETUP)
        if setup is None or setup.state == BEGUN:
            return Next(Do.PREPARE_TREE, step=SETUP)
    for task in lane.spec.tasks:
        step = lane.steps.get(task.step)
        if step is None or step.state == BEGUN:
            return Next(Do.WORK, task, task.step)
        if step.state == FAILED:
            return Next(again, task, task.step)
    tests = lane.steps.get(TESTS)
    worked = max(lane.steps[task.step].seq for task in lane.spec.tasks)
    if tests is not None and tests.state == FAILED and tests.seq > worked:
        return Next(again, step=TESTS)
    return Next(Do.TEST, step=TESTS)


class Failed(NamedTuple):
    """What follows from a failure: another run, or none."""

    attempt: int  # which run it was, from 1
    retry: int | None  # the number of the retry that is begun now
    context: list[str]


def after_failure(
    lane: Standing, error: str, log: Sequence[str], *, may_retry: bool = True
) -> Failed:
    """Count it, and gather what the next run is told; `retries: 2` is at most three runs."""
    attempt = lane.retries + 1
    entries = [entry[:LONGEST_ENTRY] for entry in log[-LOG_ENTRIES:]]
    told = [*lane.failures, f"Attempt {attempt}: {error[:LONGEST_ERROR]}", *entries]
    left = may_retry and lane.retries < lane.spec.retries
    return Failed(attempt, attempt if left else None, told[-MOST_TOLD:])

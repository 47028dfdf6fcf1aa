"""What a lane does next: decided from its checkpoints and its steps alone. Pure.

Starting, going on and recovering ask the same question. What is newer than what is told by the
journal's sequence, never by a clock: tests count for the work that came before them, no other.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.lane_spec import NONE
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.rules import parking
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.lane_spec import Gate, Spec, Task
    from standfast.protocols.checkpoints.rules.checkpoint import Record

BEGUN, OK, FAILED = "begun", "ok", "failed"
PARKED, REVISE = "parked", "revise"  # an agent waits for a limit; a gate sends the work back
ENDED = "ended"  # by somebody: what comes next is its next run
GOES_ON = (BEGUN, PARKED, ENDED)  # an agent that has a session goes on in it
SETUP, TESTS, REBASE, MERGE, PR, RETIRE = "setup", "tests", "rebase", "merge", "pr", "retire"
RETEST = "retest"  # of what will land, on a base that moved
BASE, CONFIG = "base", "config"  # a person's word about the base; settings that lanes share
FACES = "faces"  # what was left out of the lane's commits, because it speaks for nobody there
RED, BLOCKED = "red", "blocked"  # a retest that is to be looked into; one that a person must
MOVED = "moved"  # a merge whose base somebody moved meanwhile
ONCE_MORE = "once_more"  # tests that are run on what was committed under the ones before
ROUNDS = "rounds"  # how often in turn tests were due again, because somebody committed after them
MOST_ROUNDS = 5
TOLD_AS = "told_as"  # what a gate is known by in the resumption section
KILLED = "killed twice from outside, which says nothing of the work"  # tests, or a setup
NOT_RETESTED = "not tested again on what it landed on, as it was asked"
UNCHANGED = "no agent changed anything"
LOG_ENTRIES = 5
LONGEST_ERROR, LONGEST_ENTRY, MOST_TOLD = 2000, 500, 60

# Which stage a step leads to: a rollback to an earlier one makes it as if it had never been.
_LEADS_TO = dict.fromkeys((REBASE, RETEST, MERGE, PR, RETIRE), cp.PRE_PR)
_GATES = "gate-"
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

    @property
    def findings(self) -> list[str]:
        """What the gates that sent the work back ask for."""
        found = ((gate, self.steps.get(gate.step)) for gate in self.spec.gates)
        return [
            f"Gate {gate.name} scored it {step.facts.get('score')}, {gate.least} is asked; weakest:"
            f" {step.facts.get('weakest')}.\n{step.facts.get('findings')}"
            for gate, step in found
            if step is not None and step.state == REVISE
        ]


def is_void(step: str, seq: int, rolled_back_to: str, at: int) -> bool:
    """Whether a rollback, told as event *at*, undid a step."""
    leads_to = cp.PRE_PR if step.startswith(_GATES) else _LEADS_TO.get(step, cp.TESTED)
    return seq < at and _ORDER.index(leads_to) > _place(rolled_back_to)


def _place(stage: str) -> int:
    return _ORDER.index(stage) if stage in _ORDER else 1  # a retry is work after the start


def is_tested_at(lane: Standing, commit: str) -> bool:
    """Whether the tests that passed were of this commit, or of what we made it from.

    Where no tests were asked, the commit that was looked at instead.
    """
    tested = lane.marks[cp.TESTED].record.get("head_sha")
    if tested in (None, commit):
        return True
    moved = lane.steps.get(REBASE)
    return moved is not None and (moved.facts.get("to"), moved.facts.get("tested")) == (
        commit,
        tested,
    )


def after_tests(lane: Standing, head: str, tip: str | None) -> dict[str, str]:
    """What is told of tests of *head* that passed: where they left the branch, if elsewhere."""
    begun = lane.steps.get(TESTS)
    is_again = begun is not None and begun.state == BEGUN and ONCE_MORE in begun.facts
    left = {"left": tip} if tip and tip != head else {}
    rounds = rounds_of(begun)
    return {
        "head": head,
        **left,
        **({ONCE_MORE: "yes"} if is_again else {}),
        **({ROUNDS: str(rounds)} if rounds else {}),
    }


def rounds_of(tests: Step | None) -> int:
    """How often in turn tests were due again until these."""
    return int(tests.facts.get(ROUNDS, "0")) if tests is not None else 0


def left_by_tests(lane: Standing, commit: str) -> tuple[bool, bool]:
    """Whether a commit came under the tests, and whether these were run once more for that."""
    said = lane.steps[TESTS].facts if TESTS in lane.steps else {}
    return said.get("left") == commit, ONCE_MORE in said


def is_unchanged(lane: Standing) -> bool:
    """Whether a lane that is done came to its end with the commit that it began with."""
    if not lane.is_at(cp.PRE_PR, cp.COMPLETE) or cp.BEFORE not in lane.marks:
        return False
    first, last = lane.marks[cp.BEFORE].record, lane.marks[cp.PRE_PR].record
    return "base_sha" in first and first["base_sha"] == last.get("head_sha")


def remark(lane: Standing) -> str:
    """What is to be said of a lane that is done, but not quite as one would think."""
    said = lane.steps[RETIRE].facts if RETIRE in lane.steps else {}
    stays, outside = said.get("stays") if lane.spec.merge != NONE else "", said.get("outside")
    words = (
        UNCHANGED if is_unchanged(lane) else "",
        flaky(lane),
        _changed(lane),
        left_out_said(lane),
        f"its worktree stays, {stays}" if stays else "",
        outside_said(outside or ""),
    )
    return "; ".join(filter(None, words))


def flaky(lane: Standing) -> str:
    """What is said of tests that were red on what landed, and green when they were repeated."""
    return lane.steps[RETEST].facts.get("flaky", "") if RETEST in lane.steps else ""


def _changed(lane: Standing) -> str:
    said = lane.steps[CONFIG].facts if CONFIG in lane.steps else {}
    keys, ignored = said.get("changed", ""), said.get("ignored", "")
    words = (
        f"git's shared settings were changed meanwhile: {keys}" if keys else "",
        f"by these git ignores {ignored}" if ignored else "",
    )
    return "; ".join(filter(None, words))


def left_out(lane: Standing) -> list[list[str]]:
    """What was left out of its commits: path and digest each, none where it took the file away."""
    said = lane.steps[FACES].facts.get("kept", "[]") if FACES in lane.steps else "[]"
    return [[str(part) for part in each] for each in json.loads(said)]


def left_out_said(lane: Standing) -> str:
    """The same in words, the newest version of each file."""
    newest = dict(left_out(lane))
    named = [
        f"{printable(path)} (see `standfast journal kept {digest[:12]}`)" if digest
        else f"{printable(path)} (it took that away)"
        for path, digest in newest.items()
    ]  # fmt: skip
    return f"left out is what it wrote into {', '.join(named)}" if named else ""


def outside_said(names: str) -> str:
    """What is said of files that a lane changed and does not own."""
    return f"it changed files that are not its own: {names}" if names else ""


class Do(StrEnum):
    """What comes next."""

    PREPARE = "see whether it can begin"
    START = "make the worktree"
    PREPARE_TREE = "prepare the worktree"
    WORK = "let the agent work"
    TEST = "run the tests"
    AGAIN = "do again what failed"
    FAIL = "say that it failed"
    JUDGE = "have its quality judged"
    BLOCK = "say what a gate asks for"
    PARK = "wait for the end of a limit"
    RETEST = "test what will land"
    LAND = "merge it, or ask for that"
    RETIRE = "put the worktree away"
    NOTHING = "nothing: it is done"


class Next(NamedTuple):
    """What comes next, with which task, and of which step it is spoken."""

    do: Do
    task: Task | Gate | None = None
    step: str = ""


def decide(lane: Standing, *, asked: bool = False, now_us: int | None = None) -> Next:
    """The next thing to do; *asked*: somebody wants what failed to be done again.

    Without a time, what waits for one waits on.
    """
    if not lane.is_at(cp.BEFORE, cp.READY):
        return Next(Do.PREPARE)
    if cp.STARTED not in lane.marks:
        return Next(Do.START)
    if not _is_tested(lane):
        return _next_work(lane, asked=asked, now_us=now_us)
    if not lane.is_at(cp.PRE_PR, cp.COMPLETE):
        gate = _next_gate(lane, asked=asked, now_us=now_us)
        return gate or _next_retest(lane, asked=asked) or Next(Do.LAND)
    return Next(Do.NOTHING if RETIRE in lane.steps else Do.RETIRE)


def _is_tested(lane: Standing) -> bool:
    """Tests that passed after all work, or somebody's word that they need not be run again."""
    if not lane.is_at(cp.TESTED, cp.COMPLETE):
        return False
    work = [step.seq for name, step in lane.steps.items() if _is_work(name)]
    return lane.marks[cp.TESTED].seq > max(work, default=0)


def _is_work(step: str) -> bool:
    return step not in (*_LEADS_TO, SETUP, BASE, CONFIG, FACES) and not step.startswith(_GATES)


def _next_setup(lane: Standing, *, asked: bool) -> Next | None:
    """Whether the worktree has to be prepared, before any agent or command works in it."""
    setup = lane.steps.get(SETUP)
    if not lane.spec.is_prepared or (setup is not None and setup.state == OK):
        return None
    if setup is not None and setup.state in (FAILED, BLOCKED):
        stuck = Do.FAIL if setup.state == FAILED else Do.BLOCK
        return Next(Do.AGAIN if asked else stuck, step=SETUP)
    return Next(Do.PREPARE_TREE, step=SETUP)


def _next_gate(lane: Standing, *, asked: bool, now_us: int | None) -> Next | None:
    """The first gate that the tested work has not passed."""
    tested = lane.marks[cp.TESTED].seq
    for gate in lane.spec.gates:
        step = lane.steps.get(gate.step)
        if step is not None and step.state == OK and step.seq > tested:
            continue
        return _next_setup(lane, asked=asked) or _at_gate(
            gate, step, tested, asked=asked, now_us=now_us
        )
    return None


def _next_retest(lane: Standing, *, asked: bool) -> Next | None:
    """What will land is tested in the worktree; whether that is due shows a look at the base."""
    step = lane.steps.get(RETEST)
    if step is None or step.seq < lane.marks[cp.TESTED].seq:
        return None
    if step.state == FAILED:
        return Next(Do.AGAIN if asked else Do.FAIL, step=RETEST)
    if step.state not in (BEGUN, RED):
        return None
    return _next_setup(lane, asked=asked) or Next(Do.RETEST, step=RETEST)


def _at_gate(
    gate: Gate, step: Step | None, tested: int, *, asked: bool, now_us: int | None
) -> Next:
    if step is not None and step.state == PARKED:
        return _parked(gate, step, Do.JUDGE, now_us)
    if step is None or step.state in (BEGUN, ENDED) or step.seq < tested:
        return Next(Do.JUDGE, gate, gate.step)
    stuck = Do.BLOCK if step.state == REVISE else Do.FAIL
    return Next(Do.AGAIN if asked else stuck, gate, gate.step)


def _parked(who: Task | Gate, step: Step, then: Do, now_us: int | None) -> Next:
    is_due = now_us is not None and parking.is_due(step.facts, now_us)
    return Next(then if is_due else Do.PARK, who, who.step)


def _next_work(lane: Standing, *, asked: bool, now_us: int | None) -> Next:
    again = Do.AGAIN if asked else Do.FAIL
    setup = _next_setup(lane, asked=asked)
    if setup is not None:
        return setup
    for task in lane.spec.tasks:
        step = lane.steps.get(task.step)
        if step is None or step.state in (BEGUN, ENDED):
            return Next(Do.WORK, task, task.step)
        if step.state == FAILED:
            return Next(again, task, task.step)
        if step.state == PARKED:
            return _parked(task, step, Do.WORK, now_us)
    tests = lane.steps.get(TESTS)
    worked = max(lane.steps[task.step].seq for task in lane.spec.tasks)
    if tests is not None and tests.seq > worked and tests.state in (FAILED, BLOCKED):
        stuck = again if tests.state == FAILED or asked else Do.BLOCK
        return Next(stuck, step=TESTS)
    return Next(Do.TEST, step=TESTS)


def of_gate(facts: Mapping[str, str]) -> dict[str, str]:
    """What the next run of a critic is told of the one before; a task has nothing like it."""
    told = ("failing", "error", TOLD_AS) if "failing" in facts else ()
    return {name: facts[name] for name in told if name in facts}


class Failed(NamedTuple):
    """What follows from a failure: another run, or none."""

    attempt: int  # which run it was, from 1
    retry: int | None  # the number of the retry that is begun now
    context: list[str]


def after_failure(lane: Standing, error: str, log: Sequence[str]) -> Failed:
    """Count it, and gather what the next run is told; `retries: 2` is at most three runs."""
    attempt = lane.retries + 1
    entries = [entry[:LONGEST_ENTRY] for entry in log[-LOG_ENTRIES:]]
    told = [*lane.failures, f"Attempt {attempt}: {error[:LONGEST_ERROR]}", *entries]
    is_left = lane.retries < lane.spec.retries
    return Failed(attempt, attempt if is_left else None, told[-MOST_TOLD:])

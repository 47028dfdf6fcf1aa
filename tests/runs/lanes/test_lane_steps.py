"""What a lane does next: every way that the journal can stand leads to exactly one thing."""

import itertools
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.effects.rules import Ended
from standfast.errors.base import BadName, WrongUsage
from standfast.plans import lane_spec
from standfast.plans.lane_spec import Gate, Spec, Task
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runners.registry import Runner
from standfast.runs.rules import prompt
from standfast.runs.rules.lane_steps import (
    BEGUN,
    FAILED,
    MERGE,
    OK,
    ONCE_MORE,
    PARKED,
    REBASE,
    RETIRE,
    REVISE,
    SETUP,
    TESTS,
    Do,
    Mark,
    Standing,
    Step,
    after_failure,
    after_tests,
    decide,
    is_tested_at,
    is_void,
    left_by_tests,
)

SPEC = Spec(
    "r1",
    "P1",
    "SL-1",
    base="main",
    branch="lane/P1/SL-1",
    worktree="/w",
    runner="agent",
    tasks=(Task("one", "Do one."), Task("two", "Do two.")),
    test="make test",
    retries=2,
)


def standing(*said: tuple[str, str] | tuple[str, str, dict[str, object]]) -> Standing:
    """A lane of which these words were told, in this order: stages and steps."""
    marks: dict[str, Mark] = {}
    steps: dict[str, Step] = {}
    for seq, (name, state, *more) in enumerate(said, start=1):
        if name in cp.STAGES:
            marks[name] = Mark(state, seq, 0, more[0] if more else {})  # type: ignore[arg-type]
        else:
            number = steps[name].number if name in steps else 0
            steps[name] = Step(number + (state == BEGUN), state, seq, {})
    return Standing(SPEC, marks, steps)


READY = ((cp.BEFORE, cp.READY),)
STARTED = (*READY, (cp.STARTED, cp.IN_PROGRESS))
WORKED = (*STARTED, ("task-one", BEGUN), ("task-one", OK), ("task-two", BEGUN), ("task-two", OK))
TESTED = (*WORKED, (TESTS, BEGUN), (TESTS, OK), (cp.TESTED, cp.COMPLETE))
LANDED = (*TESTED, (cp.PRE_PR, cp.READY), (MERGE, BEGUN), (cp.PRE_PR, cp.COMPLETE))

WAY = [
    ((), Do.PREPARE, None),
    (READY, Do.START, None),
    (STARTED, Do.WORK, "one"),
    ((*STARTED, ("task-one", BEGUN)), Do.WORK, "one"),
    ((*STARTED, ("task-one", BEGUN), ("task-one", OK)), Do.WORK, "two"),
    (WORKED, Do.TEST, None),
    ((*WORKED, (TESTS, BEGUN)), Do.TEST, None),
    (TESTED, Do.LAND, None),
    ((*TESTED, (cp.PRE_PR, cp.READY), (MERGE, BEGUN)), Do.LAND, None),
    ((*TESTED, (cp.PRE_PR, cp.BLOCKED)), Do.LAND, None),
    ((*TESTED, (cp.PRE_PR, cp.FAILED)), Do.LAND, None),
    (LANDED, Do.RETIRE, None),
    ((*LANDED, (RETIRE, OK)), Do.NOTHING, None),
]


@pytest.mark.req("CKP-03", "CKP-04")
@pytest.mark.parametrize(("said", "do", "task"), WAY)
def test_lane_goes_on_from_wherever_it_stands(said: tuple, do: Do, task: str | None) -> None:
    found = decide(standing(*said))

    assert (found.do, found.task and found.task.name) == (do, task)


@pytest.mark.req("CKP-14")
@pytest.mark.parametrize(
    ("said", "task"),
    [
        ((*STARTED, ("task-one", BEGUN), ("task-one", FAILED), (cp.STARTED, cp.FAILED)), "one"),
        ((*WORKED, (TESTS, BEGUN), (TESTS, FAILED), (cp.TESTED, cp.FAILED)), None),
    ],
)
def test_failed_stage_is_said_to_have_failed_and_done_again_only_when_asked(
    said: tuple, task: str | None
) -> None:
    lane = standing(*said)

    assert decide(lane).do is Do.FAIL
    found = decide(lane, asked=True)
    assert (found.do, found.task and found.task.name) == (Do.AGAIN, task)


@pytest.mark.req("CKP-08")
def test_tests_that_failed_before_the_last_work_are_run_again() -> None:
    lane = standing(*WORKED, (TESTS, BEGUN), (TESTS, FAILED), (cp.TESTED, cp.FAILED),
                    (cp.RETRY, cp.RETRYING), ("task-two", BEGUN))  # fmt: skip
    assert decide(lane).do is Do.WORK

    again = standing(*WORKED, (TESTS, BEGUN), (TESTS, FAILED), (cp.TESTED, cp.FAILED),
                     ("task-two", BEGUN), ("task-two", OK))  # fmt: skip
    assert decide(again).do is Do.TEST


def test_tests_that_passed_before_the_last_work_do_not_count() -> None:
    assert decide(standing(*TESTED, ("task-two", BEGUN), ("task-two", OK))).do is Do.TEST


def test_lane_whose_beginning_did_not_go_well_is_looked_at_again() -> None:
    assert decide(standing((cp.BEFORE, cp.BLOCKED))).do is Do.PREPARE


@pytest.mark.parametrize(
    ("facts", "commit", "tested"),
    [
        ({}, "a" * 40, True),
        ({}, "b" * 40, False),
        ({"to": "b" * 40, "tested": "a" * 40}, "b" * 40, True),
        ({"to": "b" * 40, "tested": "c" * 40}, "b" * 40, False),
    ],
)
def test_tests_count_for_what_they_saw_and_what_we_made_of_it(
    facts: dict[str, str], commit: str, *, tested: bool
) -> None:
    lane = standing(*WORKED, (cp.TESTED, cp.COMPLETE, {"head_sha": "a" * 40}))
    steps = {**lane.steps, **({REBASE: Step(1, BEGUN, 99, facts)} if facts else {})}

    assert is_tested_at(lane._replace(steps=steps), commit) is tested


def test_word_of_a_person_that_the_tests_passed_is_enough() -> None:
    said = (*WORKED, (TESTS, BEGUN), (TESTS, FAILED), (cp.TESTED, cp.FAILED))

    assert decide(standing(*said, (cp.TESTED, cp.COMPLETE))).do is Do.LAND


@pytest.mark.req("CKP-14")
@pytest.mark.parametrize(
    ("step", "target", "void"),
    [
        ("task-one", cp.BEFORE, True),
        ("task-one", cp.STARTED, True),
        ("task-one", cp.TESTED, False),
        (TESTS, cp.STARTED, True),
        (TESTS, cp.TESTED, False),
        (MERGE, cp.TESTED, True),
        (RETIRE, cp.STARTED, True),
        ("task-one", cp.RETRY, True),
    ],
)
def test_rollback_undoes_the_steps_after_its_target_and_no_later_ones(
    step: str, target: str, *, void: bool
) -> None:
    assert is_void(step, 5, target, 9) is void
    assert not is_void(step, 10, target, 9)


@pytest.mark.req("CKP-08")
def test_two_retries_are_at_most_three_runs_and_tell_what_went_wrong_each_time() -> None:
    first = after_failure(standing(*STARTED), "boom", list("abcdefg"))
    assert (first.attempt, first.retry) == (1, 1)
    assert first.context == ["Attempt 1: boom", *"cdefg"]

    told = {"retry_attempt": 1, "failure_context": first.context}
    second = after_failure(standing(*STARTED, (cp.RETRY, cp.RETRYING, told)), "bang", ["x"])
    assert (second.attempt, second.retry) == (2, 2)
    assert second.context == [*first.context, "Attempt 2: bang", "x"]

    told = {"retry_attempt": 2, "failure_context": second.context}
    third = after_failure(standing(*STARTED, (cp.RETRY, cp.RETRYING, told)), "crash", [])
    assert (third.attempt, third.retry) == (3, None)
    assert third.context[-1] == "Attempt 3: crash"


@pytest.mark.req("CKP-08")
def test_what_retries_are_told_is_bounded() -> None:
    told = {"retry_attempt": 1, "failure_context": ["x" * 2000] * 100}
    lane = standing(*STARTED, (cp.RETRY, cp.RETRYING, told))
    found = after_failure(lane, "e" * 9000, ["l" * 9000])

    assert len(found.context) <= 60
    assert max(map(len, found.context)) < 2100


@given(
    said=st.lists(
        st.one_of(
            st.tuples(st.sampled_from(cp.STAGES), st.sampled_from(cp.STATUSES)),
            st.tuples(
                st.sampled_from(["task-one", "task-two", TESTS, MERGE, RETIRE]),
                st.sampled_from([BEGUN, OK, FAILED]),
            ),
        ),
        max_size=12,
    ),
    asked=st.booleans(),
)
def test_every_standing_leads_to_one_thing_and_nothing_lands_untested(
    said: list[tuple[str, str]], *, asked: bool
) -> None:
    lane = standing(*said)

    found = decide(lane, asked=asked)

    assert isinstance(found.do, Do)
    if found.do in (Do.LAND, Do.RETIRE, Do.NOTHING):
        assert lane.is_at(cp.TESTED, cp.COMPLETE)
    if found.do is Do.WORK:
        assert found.task is not None
    if not asked:
        assert found.do is not Do.AGAIN


# With a worktree to prepare, limits and gates.

QUALITY, SAFETY = Gate("quality", "critic"), Gate("safety", "critic")
PLANNED = SPEC._replace(setup="make deps", gates=(QUALITY, SAFETY))
PREPARED = (*STARTED, (SETUP, BEGUN), (SETUP, OK))
BUILT = (*PREPARED, *WORKED[2:])
CHECKED = (*BUILT, *TESTED[6:])
PASSED = (*CHECKED, ("gate-quality", BEGUN), ("gate-quality", OK))
DONE_SO = (*PASSED, ("gate-safety", BEGUN), ("gate-safety", OK))
SENT_BACK = (*CHECKED, ("gate-quality", BEGUN), ("gate-quality", REVISE))
WAITING = (*PREPARED, ("task-one", BEGUN), ("task-one", PARKED))

PLANNED_WAY = [
    (STARTED, Do.PREPARE_TREE, SETUP),
    ((*STARTED, (SETUP, BEGUN)), Do.PREPARE_TREE, SETUP),
    ((*STARTED, (SETUP, BEGUN), (SETUP, FAILED)), Do.FAIL, SETUP),
    (PREPARED, Do.WORK, "task-one"),
    ((*BUILT, (SETUP, BEGUN)), Do.PREPARE_TREE, SETUP),  # its worktree was made again
    ((*CHECKED, (SETUP, BEGUN)), Do.PREPARE_TREE, SETUP),
    ((*DONE_SO, (SETUP, BEGUN)), Do.LAND, ""),
    (BUILT, Do.TEST, TESTS),
    (CHECKED, Do.JUDGE, "gate-quality"),
    ((*CHECKED, ("gate-quality", BEGUN)), Do.JUDGE, "gate-quality"),
    (PASSED, Do.JUDGE, "gate-safety"),
    (DONE_SO, Do.LAND, ""),
    ((*DONE_SO, (cp.TESTED, cp.COMPLETE)), Do.JUDGE, "gate-quality"),  # tested again since
    (SENT_BACK, Do.BLOCK, "gate-quality"),
    ((*SENT_BACK, ("task-two", BEGUN)), Do.WORK, "task-two"),
    ((*SENT_BACK, ("task-two", BEGUN), ("task-two", OK)), Do.TEST, TESTS),
    ((*SENT_BACK, ("task-two", OK), (cp.TESTED, cp.COMPLETE)), Do.JUDGE, "gate-quality"),
    ((*CHECKED, ("gate-quality", BEGUN), ("gate-quality", FAILED)), Do.FAIL, "gate-quality"),
    ((*DONE_SO, (cp.PRE_PR, cp.COMPLETE)), Do.RETIRE, ""),
    ((*CHECKED, (cp.PRE_PR, cp.COMPLETE)), Do.RETIRE, ""),  # by somebody's word
    (WAITING, Do.PARK, "task-one"),
    ((*CHECKED, ("gate-quality", PARKED)), Do.PARK, "gate-quality"),
]


@pytest.mark.req("RUN-04", "RUN-06", "RUN-09")
@pytest.mark.parametrize(("said", "do", "step"), PLANNED_WAY)
def test_lane_of_a_plan_is_prepared_worked_on_tested_judged_and_landed(
    said: tuple[tuple[str, str], ...], do: Do, step: str
) -> None:
    found = decide(standing(*said)._replace(spec=PLANNED))

    assert (found.do, found.step) == (do, step)


@pytest.mark.parametrize("said", [SENT_BACK, (*PREPARED[:-1], (SETUP, FAILED))])
def test_what_a_gate_or_setup_stopped_is_done_again_when_somebody_asks(
    said: tuple[tuple[str, str], ...],
) -> None:
    assert decide(standing(*said)._replace(spec=PLANNED), asked=True).do is Do.AGAIN


@pytest.mark.req("RUN-06")
@pytest.mark.parametrize(
    ("now", "do"), [(None, Do.PARK), (150, Do.PARK), (199, Do.PARK), (200, Do.WORK)]
)
@pytest.mark.parametrize("asked", [False, True])
def test_limit_is_waited_for_whoever_asks(now: int | None, do: Do, *, asked: bool) -> None:
    lane = standing(*WAITING)._replace(spec=PLANNED)
    waits = Step(1, PARKED, 99, {"at": "100", "until": "200"})
    lane = lane._replace(steps={**lane.steps, "task-one": waits})

    assert decide(lane, asked=asked, now_us=now).do is do


@pytest.mark.req("CKP-14")
def test_rollback_to_the_tests_undoes_what_gates_said_and_one_to_the_start_the_setup() -> None:
    assert is_void("gate-quality", 5, cp.TESTED, 9)
    assert not is_void("gate-quality", 10, cp.TESTED, 9)
    assert is_void(SETUP, 5, cp.STARTED, 9)
    assert not is_void(SETUP, 5, cp.TESTED, 9)


def test_findings_are_told_until_the_gate_judges_again() -> None:
    lane = standing(*SENT_BACK)._replace(spec=PLANNED)
    said = {"score": "0.5", "weakest": "evidence", "findings": "No tests."}
    back = lane._replace(steps={**lane.steps, "gate-quality": Step(1, REVISE, 99, said)})
    again = lane._replace(steps={**lane.steps, "gate-quality": Step(2, BEGUN, 99, said)})

    (told,) = back.findings
    assert "0.5, 0.92 is asked; weakest: evidence" in told
    assert told.endswith("No tests.")
    assert again.findings == []


# What a lane is to do.


TIER = st.sampled_from(["critical", "optional"])
NAME = st.sampled_from(["a", "b"])
WORDS = st.lists(st.text(), max_size=3).map(tuple)


@given(
    st.builds(
        Spec,
        *itertools.repeat(st.sampled_from(["r1", "P1", "SL-1"]), 3),
        base=st.just("main"),
        branch=st.just("b"),
        worktree=st.text(min_size=1),
        runner=st.text(),
        tasks=st.lists(
            st.builds(Task, NAME, st.text(), st.text(), NAME, st.dictionaries(st.text(), TIER)),
            min_size=1,
            max_size=3,
        ).map(tuple),
        retries=st.integers(0, 20),
        outputs=st.dictionaries(st.text(), TIER),
        runners=st.dictionaries(
            NAME,
            st.builds(
                Runner,
                NAME,
                command=WORDS,
                resume=WORDS,
                env=st.dictionaries(NAME, st.text()),
                time_s=st.none() | st.floats(1, 9),
            ),
        ),
        setup=st.text(),
        copy=WORDS,
        owns=WORDS,
        port_base=st.integers(0, 65535),
        gates=st.lists(
            st.builds(Gate, NAME, NAME, st.decimals(0, 1), st.integers(1, 9), NAME, st.text()),
            max_size=2,
        ).map(tuple),
    )
)
def test_spec_comes_back_from_the_journal_as_it_was(spec: Spec) -> None:
    assert lane_spec.read(json.loads(json.dumps(spec.as_dict()))) == spec


def test_lane_that_was_begun_before_there_were_plans_is_still_read() -> None:
    task = {"name": "one", "prompt": "Do it."}
    old = {"run_id": "r1", "phase": "P1", "lane": "SL-1", "base": "main", "branch": "b",
           "worktree": "/w", "runner": "agent", "tasks": [task], "test": "make", "retries": 1,
           "merge": "ff", "pr": "", "pr_probe": "", "time_s": 60.0,
           "outputs": {"r.md": "critical"}}  # fmt: skip

    spec = lane_spec.read(old)

    assert spec.tasks == (Task("one", "Do it."),)
    assert spec.outputs == {"r.md": "critical"}
    assert (spec.runners, spec.setup, spec.copy, spec.port_base, spec.gates) == ({}, "", (), 0, ())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tasks": ()}, "1 to 100 tasks"),
        ({"tasks": (Task("a", ""), Task("a", "b"))}, "one name"),
        ({"tasks": (Task("a", "x" * 200_000),)}, "characters together"),
        ({"retries": -1}, "retries"),
        ({"retries": 21}, "retries"),
        ({"branch": "main"}, "base branch itself"),
        ({"lane": "-"}, "whole phase"),
        ({"gates": (Gate("g", "critic"), Gate("g", "critic"))}, "one name"),
        ({"gates": (Gate("g", "critic", prompt="x" * 200_000),)}, "characters together"),
        ({"runners": {"claude": Runner("claude")}}, "task-one names the runner `agent`"),
        ({"tasks": (Task("a", "", runner="codex"),)}, "task-a names the runner `codex`"),
        ({"gates": (Gate("g", "critic", runner="codex"),)}, "gate-g names the runner `codex`"),
        ({"port_base": 65536}, "port"),
        ({"copy": ("../.env",)}, "below"),
        ({"copy": ("/etc/passwd",)}, "below"),
        ({"copy": ("",)}, "below"),
        ({"copy": ("a/.git/config",)}, "below"),
        ({"gates": (Gate("g", "critic", iterations=0),)}, "iterations"),
        ({"gates": (Gate("g", "critic", least=Decimal("1.1")),)}, "from 0 to 1"),
        ({"tasks": (Task("a", "", outputs={"r.md": "vital"}),)}, "critical or optional"),
        ({"tasks": (Task("a", "", outputs={"../r.md": "critical"}),)}, "output"),
    ],
)
def test_what_no_lane_can_be_is_refused(change: dict, words: str) -> None:
    with pytest.raises((WrongUsage, BadName), match=words):
        lane_spec.check(SPEC._replace(**change))


def test_differences_are_named() -> None:
    assert lane_spec.differences(SPEC, SPEC._replace(test="x", retries=1)) == ["test", "retries"]


# What an agent is told.


@pytest.mark.req("CKP-08")
def test_prompt_holds_the_task_the_place_what_failed_and_what_to_write() -> None:
    told = prompt.prompt(SPEC, SPEC.tasks[0], ["Attempt 1: boom"], ["/w.outputs/r.md"])

    assert told.startswith("Do one.\n")
    assert "/w" in told
    assert "- Attempt 1: boom" in told
    assert "Write your complete findings to: /w.outputs/r.md" in told
    assert "files of this lane" not in told
    owner = SPEC._replace(owns=("src/**", "docs"))
    assert "- src/**\n- docs\n" in prompt.prompt(owner, SPEC.tasks[0], [], [])


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (Ended("exited", 3, err="no such table\n"), "make test: exit status 3: no such table"),
        (Ended("signal", -9, out="half"), "make test: ended by signal 9: half"),
        (Ended("timeout", -15), "make test: its time was up"),
        (Ended("not started", 127, err="gone"), "make test: it could not be started: gone"),
    ],
)
def test_end_of_a_command_is_told_in_one_sentence(ended: Ended, words: str) -> None:
    assert prompt.how_it_ended("make test", ended) == words


def test_long_command_is_told_in_short_when_it_ended() -> None:
    told = prompt.how_it_ended(f"echo {'x' * 100_000}", Ended("exited", 3, err="boom"))

    assert len(told) < 500
    assert told.endswith("…: exit status 3: boom")


def test_commit_is_titled_by_its_task() -> None:
    task = Task("t", "\n# Add a users table, and a migration for it, long enough to be cut\n")

    title = prompt.title(SPEC, task)
    assert title.startswith("feat(P1-SL-1): Add a users table")
    assert len(title) < 80


@pytest.mark.parametrize(
    ("step", "left", "told"),
    [
        (None, "b", {"head": "a", "left": "b"}),
        (Step(1, BEGUN, 1), "a", {"head": "a"}),
        (Step(1, BEGUN, 1, {ONCE_MORE: "yes"}), "b", {"head": "a", "left": "b", ONCE_MORE: "yes"}),
        (Step(1, OK, 1, {ONCE_MORE: "yes"}), "a", {"head": "a"}),  # of work that is done again
        (None, None, {"head": "a"}),  # somebody took the branch away
    ],
)
def test_where_tests_left_the_branch_is_told(
    step: Step | None, left: str | None, told: dict[str, str]
) -> None:
    lane = Standing(SPEC, {}, {} if step is None else {TESTS: step})

    facts = after_tests(lane, "a", left)

    assert facts == told
    after = Standing(SPEC, {}, {TESTS: Step(1, OK, 2, facts)})
    assert left_by_tests(after, "b") == (left == "b", ONCE_MORE in told)

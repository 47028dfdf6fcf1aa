"""What a plan says together: who waits for whom, in which wave, and which files are whose."""

import pytest

from plan_samples import EVERYTHING, SMALLEST, plan_of, told
from standfast.plans.checks import lane_waves, plan_checks
from standfast.plans.findings import Finding
from standfast.plans.model import Lane, Phase, Plan, Task
from standfast.plans.readers import plan_reader


@pytest.mark.req("RUN-01", "RUN-03")
def test_waves_follow_from_what_lanes_wait_for() -> None:
    assert lane_waves.waves(plan_of(SMALLEST)) == [
        ("P1", ("schema",)),
        ("P1", ("api",)),
        ("P1", ("docs",)),
    ]
    assert lane_waves.waves(plan_of(EVERYTHING)) == [
        ("P1", ("SL-DB",)),
        ("P1", ("SL-API",)),
        ("P2", ("SL-DOCS",)),
    ]
    diamond = plan_of("""\
        lanes:
          d: {task: x, after: [b, P1/c]}
          b: {task: x, after: a}
          c: {task: x, after: a}
          e: x
          a: x
        """)
    assert [wave.lanes for wave in lane_waves.waves(diamond)] == [("e", "a"), ("b", "c"), ("d",)]


@pytest.mark.req("RUN-01")
def test_ring_is_named_in_full() -> None:
    assert told("""\
        lanes:
          a: {task: x, after: c}
          b: {task: x, after: [a]}
          c: {task: x, after: b}
          d: {task: x, after: d}
          e: {task: x, after: a}
          f: {tasks: {t: {prompt: x, after: u}, u: {prompt: x, after: t}}}
        """) == [
        "2: the lane `a` waits for `c`, which waits for `b`, which waits for `a`",
        "5: the lane `d` waits for `d`",
        "7: the task `t` waits for `u`, which waits for `t`",
    ]


@pytest.mark.req("RUN-01")
def test_names_that_lead_nowhere_are_told() -> None:
    text = """\
        phases:
          P1:
            lanes:
              SL-DB: x
              SL-UI: {task: x, after: P2/SL-API}
          P2:
            lanes:
              SL-API:
                task: x
                after:
                  - P1/SL-DB
                  - SL-DB
                  - P3/SL-X
                  - SL-AIP
                runner: claud
              SL-X:
                tasks: {one: x, two: {prompt: y, after: on, runner: gpt}}
        """

    assert told(text) == [
        "5: `SL-UI` waits for `P2/SL-API`, which is in a later phase",
        "12: `SL-API` waits for `SL-DB`, and there is no such lane",
        "13: there is no phase `P3`",
        "14: `SL-API` waits for `SL-AIP`, and there is no such lane",
        "15: there is no runner `claud`",
        "17: `two` waits for `on`: the lane has no such task",
        "17: there is no runner `gpt`",
    ]


@pytest.mark.req("RUN-01")
def test_lane_of_another_phase_is_named_by_both() -> None:
    text = b"""\
phases:
  P1: {lanes: {a: x}}
  P2: {lanes: {b: {task: x, after: a}, second: {task: x, after: secnd}}}
"""
    _, found = plan_reader.read(text, "p.yaml")

    assert [each.remedy for each in found] == [
        "Another phase has it: write `P1/a`.",
        "Did you mean `second`?",
    ]


@pytest.mark.req("RUN-03")
def test_files_of_two_lanes_that_can_run_together_are_told_with_both_lines() -> None:
    assert told("""\
        lanes:
          a:
            task: x
            owns: [src/**, docs/a.md]
          b:
            task: x
            owns:
              - src/a/*.py
          c: {task: x, owns: docs, after: a}
          d: {task: x, owns: docs/a.md, after: c}
          e: {task: x, owns: tests/**}
        """) == [
        "8: `b` owns `src/a/*.py`, and `a`, which can run at the same time, owns `src/**` (line 4)",
    ]


@pytest.mark.req("RUN-03")
def test_lanes_of_different_waves_overlap_if_nothing_orders_them() -> None:
    text = """\
        lanes:
          a: {task: x, owns: lib/a.py}
          b: {task: x, after: a}
          c: {task: x, after: b, owns: lib/**}
          d: {task: x, owns: lib/d/**}
        """

    assert told(text) == [
        "5: `d` owns `lib/d/**`, and `c`, which can run at the same time, owns `lib/**` (line 4)"
    ]


@pytest.mark.req("RUN-03")
def test_phases_keep_lanes_apart() -> None:
    assert (
        told("""\
        phases:
          P1: {lanes: {a: {task: x, owns: lib}}}
          P2: {lanes: {b: {task: x, owns: lib}}}
        """)
        == []
    )


@pytest.mark.req("RUN-03")
def test_patterns_that_cannot_be_compared_in_time_are_an_error() -> None:
    pattern = "*a" * 60
    lanes = "".join(f"  l{n}: {{task: x, owns: '{pattern}{n}'}}\n" for n in range(200))

    assert told(f"lanes:\n{lanes}") == ["1: the patterns are too many or too long to be compared"]


@pytest.mark.req("RUN-01")
def test_same_lane_twice_from_a_form_that_can_say_so_is_told() -> None:
    one = Lane("SL-1", (Task("t", "x"),), owns=("a",), line=3)
    plan = Plan("r", (Phase("P1", (one, one._replace(line=9))),))

    assert plan_checks.check(plan) == [
        Finding(9, "the lane `SL-1` is there twice; first in line 3", "Give it another name.")
    ]


@pytest.mark.req("RUN-01")
def test_bounds_of_a_plan_are_told() -> None:
    many = "".join(f"  l{n}: x\n" for n in range(2_001))
    prompt = "x" * 131_073

    assert told(f"lanes:\n{many}") == ["1: 2,001 lanes; a plan has 2,000 at most"]
    (long,) = plan_checks.too_long(plan_of(f"lanes:\n  a: {prompt}\n"), {})
    assert str(long) == "the tasks of a lane and its gates are 131,072 characters at most, together"
    assert long.line == 2


@pytest.mark.req("RUN-01")
def test_two_thousand_lanes_in_a_row_and_side_by_side_are_read() -> None:
    row = "".join(f"  l{n}: {{task: x, after: l{n - 1}}}\n" for n in range(1, 2_000))
    beside = "".join(f"  l{n}: {{task: x, owns: src/m{n}/**}}\n" for n in range(2_000))

    assert len(lane_waves.waves(plan_of(f"lanes:\n  l0: x\n{row}"))) == 2_000
    assert len(lane_waves.waves(plan_of(f"lanes:\n{beside}"))) == 1


@pytest.mark.req("RUN-01")
def test_request_commands_without_requests_are_warned_of() -> None:
    assert told("pr: make pr\nlanes: {a: x}\n") == [
        "1: (warning) `pr` and `pr_probe` are for `merge: pr`, which no lane has"
    ]
    assert told("pr: make pr\nlanes: {a: {task: x, merge: pr}}\n") == []

"""From a plan to lanes: what holds for all of it, and what a lane or a task says otherwise."""

from decimal import Decimal
from itertools import pairwise

import pytest

from standfast.plans import plan_lanes
from standfast.plans.lane_spec import Spec
from standfast.plans.model import Gate, Lane, Phase, Plan, Task
from standfast.plans.plan_lanes import Ground
from standfast.runners.registry import KNOWN

GROUND = Ground("r", "/repo", "main", "claude", KNOWN, {"p.md": "from a file"})


def specs(*lanes: Lane, **more: object) -> list[Spec]:
    gate = Gate("QG-1", "critic", Decimal("0.9"), 2, runner="gemini")
    plan = Plan("r", (Phase("P1", lanes, gates=(gate,)),), **more)  # type: ignore[arg-type]  # fields
    return list(plan_lanes.specs(plan, GROUND))


def lane(name: str, **more: object) -> Lane:
    return Lane(name, (Task("task", "Do it."),), **more)  # type: ignore[arg-type]  # fields


@pytest.mark.req("RUN-09")
def test_every_lane_of_a_run_has_ports_of_its_own() -> None:
    made = specs(*(lane(f"l{number}") for number in range(200)))
    bases = sorted(each.port_base for each in made)
    assert all(after - before >= 10 for before, after in pairwise(bases))
    assert bases[0] > 1024
    assert bases[-1] < 32768, "systems give out those above"


def test_lane_has_what_the_plan_says_unless_it_says_otherwise() -> None:
    said = {"test": "make t", "setup": "make s", "retries": 2, "merge": "no-ff", "time_s": 60.0}
    plain, own = specs(
        lane("plain"),
        lane(
            "own",
            test="",
            setup="",
            retries=0,
            merge="none",
            time_s=5.0,
            runner="codex",
            owns=("src/**",),
        ),
        **said,
    )
    assert (plain.test, plain.setup, plain.retries, plain.merge, plain.time_s) == (
        "make t", "make s", 2, "no-ff", 60.0,
    )  # fmt: skip
    assert (own.test, own.setup, own.retries, own.merge, own.time_s) == ("", "", 0, "none", 5.0)
    assert (plain.runner, own.runner) == ("claude", "codex")
    assert (plain.owns, own.owns) == ((), ("src/**",))
    assert set(own.runners) == {"codex", "gemini"}, "its own, and its gate's"


def test_branches_of_runs_stand_beside_each_other_and_phase_plans_keep_theirs() -> None:
    assert specs(lane("a"))[0].branch == "lane/r/P1/a"
    assert specs(lane("a"), kind="phase")[0].branch == "lane/P1/a"


def test_prompt_in_a_file_and_gates_are_carried_over() -> None:
    (made,) = specs(Lane("a", (Task("t", prompt_file="p.md", role="tester"),)))
    assert (made.tasks[0].prompt, made.tasks[0].role) == ("from a file", "tester")
    assert (made.gates[0].name, made.gates[0].least, made.gates[0].iterations) == (
        "QG-1", Decimal("0.9"), 2,
    )  # fmt: skip


def test_every_runner_that_does_something_is_found() -> None:
    tasks = (Task("t", "x", runner="opencode"), Task("u", "x"))
    phase = Phase("P1", (Lane("a", tasks, runner="codex"),), gates=(Gate("g", "c", runner="mine"),))
    plan = Plan("r", (phase,), runner="claude")

    assert plan_lanes.runners_used(plan, "x") == {"codex", "opencode", "mine"}
    plan = plan._replace(phases=(phase, Phase("P2", (Lane("b", (Task("t", "x"),)),))))
    assert plan_lanes.runners_used(plan, "x") == {"codex", "opencode", "mine", "claude"}
    assert "x" in plan_lanes.runners_used(plan._replace(runner=""), "x")

"""Quality gates of plans: every iteration is in the resumption section, under a name of its own."""

import json
from pathlib import Path

import pytest

from run_worlds import Night, documented, night, section
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.protocols.resumption.rules.section_logs import free_gate, gate_to_tell
from standfast.protocols.resumption.rules.section_schema import Section

GATE = "gates: {review: {role: critic, pass: 0.92, iterations: 3}}"


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def critic(world: Night, *values: float, more: str = ":") -> None:
    """An agent that judges with these scores in turn, the last one from then on, or does *more*."""
    lines = []
    for value in values:
        text = f"```json\\n{json.dumps(dict.fromkeys(WEIGHTS, value))}\\n```\\nEdges.\\n"
        lines.append(f"{text}<!-- AGENT_COMPLETE -->")
    (world.top / "scores").write_text("\n".join(lines) + "\n", encoding="utf-8")
    world.agent(
        f"""if [ "$STANDFAST_ROLE" = critic ]; then
  n=$(grep -c review "{world.ledger}")
  [ "$n" -le {len(values)} ] || n={len(values)}
  printf "$(sed -n "${{n}}p" "{world.top}/scores")\\n" > "$STANDFAST_OUTPUTS/review-scores.md"
  exit 0
fi
{more}"""
    )


def history(world: Night) -> dict[str, list[float]]:
    found: dict[str, list[float]] = section(world)["quality_trajectory"]["score_history"]
    return found


@pytest.mark.req("RUN-04", "RES-16")
def test_gate_of_a_plan_sends_work_back_and_every_iteration_is_in_the_section(world: Night) -> None:
    documented(world)
    critic(world, 0.5, 0.95)
    done = world.call("run", world.plan(f"phases:\n  P1: {{{GATE}, lanes: {{a: Do a.}}}}\n"))

    assert done.returncode == 0, done.stdout + done.stderr
    assert world.paid() == {"a/task": 2, "a/review": 2}, "built, judged, built again, judged again"
    found = section(world)["quality_trajectory"]
    assert found["score_history"] == {"review": [0.5, 0.95]}
    assert (found["gates_completed"], found["total_iterations_used"]) == (["review"], 2)


@pytest.mark.req("RES-16")
def test_gates_of_one_name_in_two_phases_are_both_told(world: Night) -> None:
    documented(world)
    critic(world, 0.95, 0.5, 0.96)
    phases = f"  P1: {{{GATE}, lanes: {{a: Do a.}}}}\n  P2: {{{GATE}, lanes: {{b: Do b.}}}}\n"
    done = world.call("run", world.plan(f"phases:\n{phases}"), "--run-id", "r")

    assert done.returncode == 0, done.stdout + done.stderr
    assert history(world) == {"review": [0.95], "P2/review": [0.5, 0.96]}
    found = section(world)["quality_trajectory"]
    assert (found["gates_completed"], found["gates_remaining"]) == (["review", "P2/review"], [])
    assert "was not updated" not in done.stderr


@pytest.mark.req("RES-16")
def test_gate_of_the_same_plan_under_another_run_is_told(world: Night) -> None:
    documented(world)
    critic(world, 0.95, 0.95, more='[ "$STANDFAST_PHASE" = P1 ] || exit 3')
    phases = f"  P1: {{{GATE}, lanes: {{a: Do a.}}}}\n  P2: {{lanes: {{b: Do b.}}}}\n"
    plan = world.plan(f"phases:\n{phases}")
    assert world.call("run", plan, "--run-id", "one").returncode == 1
    done = world.call("run", plan, "--run-id", "two")

    assert done.returncode == 1, done.stderr
    assert history(world) == {"review": [0.95], "P1/review": [0.95]}
    done = world.call("run", plan, "--run-id", "three")
    assert history(world) == {"review": [0.95], "P1/review": [0.95], "three/P1/review": [0.95]}


@pytest.mark.req("RES-16")
def test_gate_that_judges_again_after_a_persons_commit_is_told_again(world: Night) -> None:
    documented(world)
    critic(world, 0.95, 0.5, 0.96)
    (world.repo / "r-a.txt").write_text("in the way", encoding="utf-8")
    plan = world.plan(f"test: 'true'\nphases:\n  P1: {{{GATE}, lanes: {{a: Do a.}}}}\n")
    assert world.call("run", plan, "--run-id", "r").returncode == 115
    tree = world.repo / ".worktrees" / "r" / "P1" / "a"
    (tree / "person.txt").write_text("x", encoding="utf-8")
    world.git("-C", str(tree), "add", "person.txt")
    world.git("-C", str(tree), "commit", "-qm", "by hand")
    (world.repo / "r-a.txt").unlink()
    done = world.call("resume", "r")

    assert done.returncode == 0, done.stdout + done.stderr
    assert history(world) == {"review": [0.95], "review-retry": [0.5, 0.96]}


@pytest.mark.req("RES-16")
def test_lanes_of_one_phase_have_gates_of_their_own(world: Night) -> None:
    documented(world)
    critic(world, 0.95)
    plan = world.plan(f"phases:\n  P1: {{{GATE}, lanes: {{a: Do a., b: Do b.}}}}\n")
    assert world.call("run", plan, "--run-id", "r").returncode == 0
    assert history(world) == {"review-a": [0.95], "review-b": [0.95]}


@pytest.mark.req("RES-16")
def test_iteration_whose_judge_is_killed_after_it_is_told_once(world: Night) -> None:
    """Told in one transaction with what follows from it: never twice, and never not at all."""
    documented(world)
    gone = f"{world.top}/gone"
    critic(world, 0.5, 0.95)
    agent = (world.top / "agent.sh").read_text(encoding="utf-8")
    kill = f"  [ -e {gone} ] || {{ touch {gone}; kill -9 $(cat {world.top}/pid); }}\n  exit 0\n"
    (world.top / "agent.sh").write_text(agent.replace("  exit 0\n", kill), encoding="utf-8")
    plan = world.plan(f"phases:\n  P1: {{{GATE}, lanes: {{a: Do a.}}}}\n")
    begun = world.start("run", plan, "--run-id", "r")
    (world.top / "pid").write_text(str(begun.pid), encoding="utf-8")
    begun.communicate()
    assert begun.returncode == -9
    done = world.call("resume", "r")

    assert done.returncode == 0, done.stdout + done.stderr
    assert history(world) == {"review": [0.5, 0.95]}


# Pure.


def trajectory(passed: list[str], **scores: list[float]) -> Section:
    return {"quality_trajectory": {"gates_completed": passed, "score_history": scores}}


@pytest.mark.parametrize(
    ("passed", "name"),
    [([], "g"), (["g"], "g-retry"), (["g", "g-retry"], "g-retry2"), (["h"], "g")],
)
def test_gate_that_has_passed_is_judged_again_under_another_name(
    passed: list[str], name: str
) -> None:
    assert gate_to_tell(trajectory(passed), "g") == name


def test_first_name_that_no_section_has_is_taken_and_else_the_last() -> None:
    here, there = trajectory([], g=[0.5]), trajectory(["P/g"])

    assert free_gate([], ("g", "P/g")) == "g"
    assert free_gate([here], ("g", "P/g")) == "P/g"
    assert free_gate([here, there], ("g", "P/g", "r/P/g")) == "r/P/g"
    assert free_gate([here, there], ("g", "P/g")) == "P/g"

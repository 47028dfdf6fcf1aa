"""How runs are listed that ended in one way or another: from outside."""

import json
import signal
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, claude_like, night


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def listed(world: Night) -> dict[str, str]:
    return {each["run_id"]: each["state"] for each in status(world)["runs"]}


def status(world: Night, *run: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = json.loads(world.call("status", *run, "--json").stdout)
    return found


@pytest.mark.req("RUN-05")
def test_run_that_is_parked_or_was_interrupted_was_not_cut_off(world: Night) -> None:
    claude_like(world)
    plan = "limits: {lanes: 1, cost_usd: 0.5}\nlanes: {a: Do a., b: Do b.}\n"
    assert world.call("run", world.plan(plan, "dear.yaml")).returncode == 116
    world.agent("sleep 60")
    paid = world.paid().total()
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n", "left.yaml"))
    until(lambda: world.paid().total() > paid)
    begun.send_signal(signal.SIGINT)
    begun.communicate()

    assert listed(world) == {"dear": "parked", "left": "stopped"}


@pytest.mark.req("CKP-12")
def test_lane_that_was_taken_back_has_not_failed(world: Night) -> None:
    world.agent('test "$STANDFAST_LANE" != a || exit 3')
    plan = world.plan("retries: 0\nlanes: {a: Do a., b: Do b.}\n")
    assert world.call("run", plan).returncode == 1
    assert listed(world) == {"plan": "needs_you"}

    assert world.call("rollback", "plan", "a").returncode == 0

    assert world.lanes("plan") == {"a": "waiting", "b": "done"}
    assert listed(world) == {"plan": "stopped"}
    world.agent()
    assert world.call("resume").returncode == 0
    assert world.lanes("plan") == {"a": "done", "b": "done"}


@pytest.mark.req("CKP-12")
@pytest.mark.parametrize("lane", [(), ("a",)])
def test_run_that_was_done_and_taken_back_is_listed_and_waits(
    world: Night, lane: tuple[str, ...]
) -> None:
    assert world.call("run", world.plan("merge: none\nlanes: {a: Do a.}\n")).returncode == 0
    assert listed(world) == {}

    assert world.call("rollback", "plan", *lane).returncode == 0

    assert listed(world) == {"plan": "stopped"}
    assert world.call("status", "plan").stdout.startswith("plan: stopped")
    assert world.call("resume").stdout == "Nothing was left in the middle.\n"
    assert world.call("resume", "plan").returncode == 0
    assert listed(world) == {}


def test_run_with_a_failed_lane_is_not_done_because_a_later_phase_is(world: Night) -> None:
    world.agent('test "$STANDFAST_LANE" != b || exit 3')
    phases = "phases: {P1: {lanes: {b: Do b.}}, P2: {lanes: {c: Do c.}}}\n"
    plan = world.plan(f"retries: 0\n{phases}")
    assert world.call("run", plan).returncode == 1
    assert world.call("run", plan, "--resume", "--run-id", "plan", "--phase", "P2").returncode == 0

    assert world.call("status", "plan").stdout.startswith("plan: failed")


def test_worktree_that_stays_is_told_also_where_git_took_nothing(world: Night) -> None:
    (world.top / "agent.sh").write_text("git init -q app; touch app/main.py\n", encoding="utf-8")

    done = world.call("run", world.plan("lanes: {a: Do a.}\n"))

    assert done.returncode == 0
    assert "no agent changed anything; its worktree stays" in done.stdout


def stood(world: Night) -> dict[str, tuple[str, str]]:
    """State and last words of each lane, as `status` has them."""
    return {each["lane"]: (each["state"], each["last"]) for each in status(world, "plan")["lanes"]}


@pytest.mark.req("RUN-05")
def test_stopped_run_with_a_failed_lane_is_stopped_in_everybodys_words(world: Night) -> None:
    world.agent("test $STANDFAST_LANE != bad || exit 3; test $STANDFAST_LANE != slow || sleep 60")
    lanes = "lanes: {bad: Do bad., slow: Do slow., later: {after: slow, task: Do it.}}\n"
    begun = world.start("run", world.plan(f"retries: 0\n{lanes}"), "--json")
    until(lambda: world.paid().total() >= 2 and stood(world)["bad"][0] == "failed")
    live = stood(world)["bad"]

    stopped, again = world.call("stop", "plan"), world.call("stop", "plan")
    said = [json.loads(line) for line in begun.communicate()[0].splitlines()]

    assert (stopped.returncode, again.returncode, begun.returncode) == (0, 0, 117)
    assert listed(world) == {"plan": "stopped"}
    now = stood(world)
    told = {each["lane"]: (each["state"], each["why"]) for each in said[-1]["lanes"]}
    assert said[-1]["outcome"] == status(world, "plan")["outcome"] == "stopped"
    assert told == now
    assert [state for state, _ in now.values()] == ["failed", "ended", "waiting"]
    (heard,) = {each["words"] for each in said[:-1] if each["state"] == "failed"}
    assert heard == f"failed: {live[1]}"
    assert live == now["bad"]

    world.agent()
    assert world.call("resume", "plan", "bad").returncode == 0
    assert set(world.lanes("plan").values()) == {"done"}


def test_who_forgets_twice_hears_that_once_was_enough(world: Night) -> None:
    world.agent("exit 3")
    world.call("run", world.plan("retries: 0\nlanes: {a: Do a.}\n"))

    first, second = (world.call("forget", "plan") for _ in range(2))
    machine = json.loads(world.call("forget", "plan", "--json").stdout)

    assert first.stdout.startswith("Forgotten: run plan.")
    assert second.stdout == "Nothing to do: run plan was forgotten before.\n"
    assert (first.returncode, second.returncode) == (0, 0)
    assert machine == {"forgotten": "plan", "was_forgotten": True}


@pytest.mark.req("RUN-05")
def test_run_that_was_stopped_and_forgotten_is_told_as_it_stood(world: Night) -> None:
    world.agent('test "$STANDFAST_LANE" = a || exit 3; sleep 60')
    plan = "retries: 0\nlanes: {a: Do a., b: Do b., c: {task: Do c., after: [a]}}\n"
    begun = world.start("run", world.plan(plan))
    until(lambda: world.paid().total() == 2)
    assert world.call("stop", "plan").returncode == 0
    begun.communicate()
    stood = [world.call("status", "plan").stdout]
    machine = [status(world, "plan")]

    for verb in ("stop", "forget"):
        assert world.call(verb, "plan").returncode == 0
        stood.append(world.call("status", "plan").stdout)
        machine.append(status(world, "plan"))

    head = "plan: stopped, into main"
    assert [each.startswith(head) for each in stood] == [True, True, False]
    assert stood[2].startswith("plan: stopped, and forgotten, into main")
    assert [each.partition("\n")[2] for each in stood[1:]] == [stood[0].partition("\n")[2]] * 2
    assert [each["lanes"] for each in machine[1:]] == [machine[0]["lanes"]] * 2
    assert [each["state"] for each in machine] == ["stopped", "stopped", "forgotten"]
    assert {str(each["outcome"]) for each in machine} == {"stopped"}


@pytest.mark.req("RUN-05")
def test_run_that_needs_a_person_needs_one_after_stop_and_forget_too(world: Night) -> None:
    plan = world.plan("lanes: {a: {task: Do a., test: test -e never}}\n")
    assert world.call("run", plan).returncode != 0
    lanes = [status(world, "plan")["lanes"]]

    for verb in ("stop", "forget"):
        assert world.call(verb, "plan").returncode == 0
        lanes.append(status(world, "plan")["lanes"])

    assert "fails on main" in lanes[0][0]["last"]
    assert lanes[1:] == [lanes[0]] * 2

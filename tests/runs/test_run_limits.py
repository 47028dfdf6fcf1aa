"""Limits of a run, what follows it, and what it refuses: from outside, with scripted agents."""

import json
import sys
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, claude_like, documented, night, section
from standfast.runs import run_locks


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


@pytest.mark.req("RUN-10")
def test_cost_limit_begins_no_further_agent_and_parks(world: Night) -> None:
    claude_like(world)
    lanes = "".join(f"  l{number}: Do it.\n" for number in range(4))
    plan = world.plan(f"limits: {{lanes: 1, cost_usd: 1}}\nlanes:\n{lanes}")
    done = world.call("run", plan, "--run-id", "r")

    assert done.returncode == 116, done.stdout + done.stderr
    assert world.paid().total() == 2, "the second is over the limit, a third is not begun"
    shown = json.loads(world.call("resume", "r", "--json").stdout.splitlines()[-1])
    assert shown["outcome"] == "parked"
    assert shown["spent"]["cost_usd"] == "1.2"

    parked, *_ = [each for each in json.loads(world.call("status", "r", "--json").stdout)["lanes"]
                 if each["state"] == "parked"]  # fmt: skip
    assert "the run has cost 1.2 $ of 1 $" in parked["last"]
    assert "--cost-limit" in shown_again(world)
    assert world.call("resume", "r", "--cost-limit", "nothing").returncode == 2
    assert world.call("resume", "--cost-limit", "2").returncode == 2
    assert world.call("resume", "r", "--cost-limit", "2").returncode == 0
    assert world.paid().total() == 4, "none of it twice"


def shown_again(world: Night) -> str:
    return world.call("resume", "r").stdout


@pytest.mark.req("RUN-06", "RUN-11")
def test_usage_limit_parks_until_its_end_and_uses_no_retry(world: Night) -> None:
    limit = (
        f"if [ ! -e {world.top}/met ]; then touch {world.top}/met;"
        ' echo \'{"type":"result","is_error":true,"session_id":"s",'
        '"result":"Claude AI usage limit reached|\'$(($(date +%s) + 4))\'"}\'; exit 1; fi'
    )
    claude_like(world, limit)
    plan = world.plan("lanes: {one: Do it.}\n")
    early = world.call("run", plan, "--run-id", "r", "--wait-limit", "0.5s")

    assert early.returncode == 116, early.stdout + early.stderr
    assert world.lanes("r") == {"one": "parked"}
    late = world.call("resume")
    assert late.returncode == 0, late.stdout + late.stderr
    assert world.lanes("r") == {"one": "done"}
    stages = [each["stage"] for each in records(world, "r")]
    assert "retry_attempt" not in stages


def test_stop_of_a_run_that_waits_for_a_limit_is_a_stop(world: Night) -> None:
    until_us = '"$(($(date +%s) + 3600))"'
    said = (
        '{"type":"result","is_error":true,"session_id":"s","result":"Claude AI usage limit reached|'
    )
    claude_like(world, f"echo '{said}'{until_us}'\"}}'; exit 1")
    begun = world.start("run", world.plan("lanes: {one: Do it.}\n"), "--run-id", "r")
    until(lambda: "parked" in world.call("status", "r").stdout)
    shown = json.loads(world.call("status", "r", "--json").stdout)["lanes"]
    assert shown[0]["last"].startswith("until ")
    assert world.call("stop", "r").returncode == 0
    said_last, _ = begun.communicate(timeout=60)
    assert begun.returncode == 117, said_last
    assert "Stopped: r" in said_last


def records(world: Night, run_id: str) -> list[dict[str, str]]:
    shown = world.call("checkpoint", "list", "--run-id", run_id, "--json").stdout
    found: list[dict[str, str]] = json.loads(shown)["checkpoints"]
    return found


@pytest.mark.req("RES-03", "RES-18")
def test_resumption_section_follows_the_run(world: Night) -> None:
    documented(world)
    plan = world.plan("phases:\n  P1: {name: Foundation, lanes: {a: Do a.}}\n")
    done = world.call("run", plan, "--run-id", "r")

    assert done.returncode == 0, done.stderr
    found = section(world)
    state = found["recovery_state"]
    assert (state["current_phase"], state["current_phase_name"]) == (1, "Foundation")
    assert state["workflow_status"] == "COMPLETE"
    assert found["agent_summaries"] == {"r/P1/a": "Completed. merged."}
    assert "Foundation" in (world.repo / "ORCHESTRATION.yaml").read_text(encoding="utf-8")


@pytest.mark.req("RES-03", "RES-18")
def test_what_nobody_told_the_section_is_told_by_whoever_comes_next(world: Night) -> None:
    documented(world)
    world.agent("exit 3")
    lane = "{a: {task: Do a., retries: 0}}"
    plan = world.plan(f"phases:\n  P1: {{name: Foundation, lanes: {lane}}}\n")
    assert world.call("run", plan, "--run-id", "r").returncode == 1
    failed = section(world)["agent_summaries"]
    assert list(failed) == ["r/P1/a"]
    assert failed["r/P1/a"].startswith("Failed. ")
    world.agent()
    alone = world.call("lane", "resume", "--run-id", "r", "--phase", "P1", "--lane", "a")
    assert alone.returncode == 0, alone.stderr
    assert section(world)["recovery_state"]["workflow_status"] == "ACTIVE"

    for _ in range(2):  # the second finds nothing that is not told
        assert world.call("resume", "r").returncode == 0
        found = section(world)
        assert found["recovery_state"]["workflow_status"] == "COMPLETE"
        assert found["agent_summaries"] == {**failed, "r/P1/a-retry": "Completed. merged."}


@pytest.mark.req("RUN-01")
@pytest.mark.parametrize(
    ("plan", "status", "words"),
    [
        ("lanes: {a: {task: A., after: b}, b: {task: B., after: a}}\n", 110, "a"),
        ("lanes: {a: Do it.}\nrunner: nobody\n", 110, "nobody"),
        ("lanes: {a: Do it.}\nlanse: 3\n", 110, "lanse"),
        ("lanes: {}\n", 110, ""),
        ("- a list\n", 110, ""),
    ],
)
def test_bad_plan_is_refused_with_its_line_and_nothing_recorded(
    world: Night, plan: str, status: int, words: str
) -> None:
    done = world.call("run", world.plan(plan, trusted=False))

    assert done.returncode == status
    assert words in done.stderr
    assert "plan.yaml:" in done.stderr
    assert world.call("status").stdout.startswith("Nothing recorded")


@pytest.mark.req("RUN-02")
def test_runner_that_is_not_installed_is_told_before_anything_begins(world: Night) -> None:
    folder = world.top / "config" / "standfast"
    (folder / "config.yaml").write_text("runner: codex\n", encoding="utf-8")
    done = world.call("run", world.plan("lanes: {a: Do it.}\n"), PATH="/usr/bin:/bin")

    assert done.returncode == 122, done.stderr
    assert world.call("status").stdout.startswith("Nothing recorded")


def test_branch_that_is_there_is_told_before_anything_begins(world: Night) -> None:
    world.git("branch", "lane/r/P1/a")
    done = world.call("run", world.plan("lanes: {a: Do it.}\n"), "--run-id", "r")

    assert done.returncode == 114
    assert "lane/r/P1/a" in done.stderr


def test_run_that_nobody_knows_is_told_with_those_that_are(world: Night) -> None:
    assert world.call("run", world.plan("lanes: {a: Do it.}\n"), "--run-id", "r").returncode == 0
    for command in ("resume", "stop", "logs", "status", "rollback"):
        done = world.call(command, "x")
        assert done.returncode == 112, command
        assert "r" in done.stderr


@pytest.mark.req("RUN-02")
def test_agent_finds_its_worktree_in_pwd(world: Night) -> None:
    settings = world.top / "config" / "standfast" / "config.yaml"
    text = f"import os; open('{world.ledger}', 'wb').write(os.environb[b'PWD'])"
    runners = json.dumps({"own": {"command": [sys.executable, "-c", text]}})
    settings.write_text(f"runner: own\nrunners: {runners}\n", encoding="utf-8")
    plan = world.plan("lanes: {a: Do it.}\n")
    assert world.call("run", plan, "--run-id", "r", PWD="/nowhere").returncode == 0

    said = world.ledger.read_text(encoding="utf-8")
    assert said == f"{world.repo}/.worktrees/r/P1/a"


def test_run_without_a_name_is_refused(world: Night) -> None:
    assert world.call("run", world.plan("lanes: {a: Do it.}\n"), "--run-id", "").returncode == 10


def test_run_that_goes_on_is_not_forgotten(world: Night) -> None:
    plan = world.plan("lanes: {a: Do it.}\n")
    assert world.call("run", plan, "--run-id", "r").returncode == 0
    with run_locks.taken(world.journal(), run_locks.RUNS, "r"):
        refused = world.call("forget", "r")
    assert (refused.returncode, world.call("forget", "r").returncode) == (118, 0)


def test_forgotten_run_is_listed_no_more(world: Night) -> None:
    world.agent("exit 3")
    assert world.call("run", world.plan("lanes: {a: Do it.}\n"), "--run-id", "r").returncode == 1
    assert "r/P1/a" in world.call("status").stdout
    assert world.call("forget", "r").returncode == 0
    assert "r/P1/a" not in world.call("status").stdout
    assert world.call("resume").stdout == "Nothing was left in the middle.\n"

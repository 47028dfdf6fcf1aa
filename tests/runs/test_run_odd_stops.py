"""Runs that people stop at odd moments: from outside, with real processes."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, claude_like, night, slow_git
from standfast.runs import run_locks


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


@pytest.mark.req("RUN-05")
def test_interrupt_between_two_commands_begins_no_further_one(world: Night) -> None:
    tested = world.top / "tested"
    plan = world.plan(f"test: 'echo x >> {tested}'\nlanes: {{a: Do a., b: Do b.}}\n")
    world.agent("test $STANDFAST_LANE = a || until test -e go; do sleep 0.05; done")
    path, waits, go = slow_git(world, "commit")
    begun = world.start("run", plan, PATH=path)
    until(waits.exists)  # what the agent of a left is being committed
    begun.send_signal(signal.SIGINT)
    until(lambda: not json.loads(world.call("ps", "--json").stdout)["effects"])  # b was ended
    go.touch()
    said, _ = begun.communicate(timeout=60)
    assert begun.returncode == 130, said
    assert "Go on: standfast resume plan" in said
    assert lines(tested) == 1  # the baseline's
    assert world.merged().total() == 0

    world.agent()
    assert world.call("resume").returncode == 0
    assert world.merged().total() == 2
    assert lines(tested) == 4  # one of them once more, on what the other had landed


@pytest.mark.req("RUN-11")
def test_terminal_that_goes_away_changes_nothing_about_how_a_run_ended(world: Night) -> None:
    """Where its end is no signal, or one that is ignored, every write to it is refused."""
    go = world.top / "go"
    world.agent(f"until test -e {go}; do sleep 0.02; done")
    plan = world.plan("lanes: {a: Do a.}\n")
    ours, theirs = os.openpty()
    begun = subprocess.Popen(world.argv("run", plan), cwd=world.repo, env=world.environ,
                             stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                             start_new_session=True)  # fmt: skip
    os.close(theirs)
    until(lambda: world.paid().total() >= 1)
    os.close(ours)
    go.touch()
    assert begun.wait() == 0
    assert world.lanes("plan") == {"a": "done"}


def cut_off(world: Night, begun: subprocess.Popen[str]) -> None:
    """As a power cut does: whoever leads the run, the supervisors and the agent."""
    begun.kill()
    begun.communicate()
    while pids := [pid for each in effects(world) for pid in each["pids"]]:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def effects(world: Night) -> list[dict[str, list[int]]]:
    found: list[dict[str, list[int]]] = json.loads(world.call("ps", "--json").stdout)["effects"]
    return found


def goes_on(world: Night) -> subprocess.Popen[str]:
    """A run whose agent was cut off, and works once more in its session."""
    claude_like(world, f"until test -e {world.top}/go; do sleep 0.02; done")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"))
    until(lambda: world.paid().total() >= 1)
    cut_off(world, begun)
    resumed = world.start("resume")
    until(lambda: world.paid().total() >= 2)
    return resumed


@pytest.mark.req("RUN-05")
def test_agent_that_goes_on_is_seen_at_work(world: Night) -> None:
    resumed = goes_on(world)
    (shown,) = json.loads(world.call("status", "plan", "--json").stdout)["lanes"]
    words = world.call("logs", "plan/P1/a").stdout
    (world.top / "go").touch()
    said, _ = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, said
    assert shown["last"] == "a/task working"
    assert "a/task working" in words


@pytest.mark.req("RUN-05")
def test_agent_that_was_ended_before_a_call_is_no_stop_of_that_call(world: Night) -> None:
    resumed = goes_on(world)
    resumed.kill()
    resumed.communicate()
    assert world.call("reap").returncode == 0
    assert not effects(world)

    (world.top / "go").touch()
    done = world.call("resume")
    assert done.returncode == 0, done.stdout
    assert world.merged().total() == 1


@pytest.mark.req("RUN-05")
def test_agent_that_is_being_ended_when_a_call_begins_is_no_stop_of_that_call(world: Night) -> None:
    ready, told = world.top / "ready", world.top / "told"  # asked to end, it takes its time
    waits = f"test -e {told} || while :; do sleep 0.02; done"
    world.agent(f"trap 'touch {told}' TERM; touch {ready}; {waits}")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"))
    until(ready.exists)
    begun.send_signal(signal.SIGINT)
    until(told.exists)
    begun.send_signal(signal.SIGINT)
    said, _ = begun.communicate(timeout=60)
    assert begun.returncode == 130, said
    assert "is being ended: `standfast resume` begins it again" in said

    done = world.call("resume")
    assert done.returncode == 0, done.stdout
    assert world.paid().total() == 2
    assert world.merged().total() == 1


@pytest.mark.req("RUN-05")
def test_agent_that_a_call_began_and_somebody_ended_is_not_begun_again(world: Night) -> None:
    world.agent("while :; do sleep 0.02; done")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"))
    until(lambda: world.paid().total() >= 1)
    assert world.call("reap").returncode == 0
    said, _ = begun.communicate(timeout=60)
    assert begun.returncode == 117, said
    assert world.paid().total() == 1


@pytest.mark.req("RUN-05")
@pytest.mark.parametrize("how", ["stop", "interrupt"])
def test_call_that_is_stopped_does_not_begin_again_what_others_began(
    world: Night, how: str
) -> None:
    world.leave("lanes: {a: Do a.}\n")
    resumed = world.start("resume")
    until(lambda: run_locks.is_taken(world.journal(), run_locks.LANES, "plan", "P1", "a"))
    if how == "stop":
        assert world.call("stop", "plan").returncode == 0
    else:
        resumed.send_signal(signal.SIGINT)
    said, _ = resumed.communicate(timeout=60)
    assert resumed.returncode == {"stop": 117, "interrupt": 130}[how], said
    assert world.paid().total() == 1

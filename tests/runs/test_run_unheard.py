"""Commands whose reader went away (`| head -1`): all they were to do is done, and told honestly."""

import os
import subprocess
from pathlib import Path

import pytest

from lone_lanes import Alone
from run_worlds import Night, night


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def unheard(world: Night, *words: str) -> int:
    """The status of a call that nobody hears."""
    theirs, ours = os.pipe()
    os.close(theirs)
    try:
        return subprocess.run(world.argv(*words), cwd=world.repo, env=world.environ,
                              stdin=subprocess.DEVNULL, stdout=ours, stderr=ours,
                              timeout=60, check=False).returncode  # fmt: skip
    finally:
        os.close(ours)


@pytest.mark.req("RUN-11")
def test_rollback_takes_every_lane_back(world: Night) -> None:
    world.agent("exit 1")
    plan = world.plan("lanes: {a: Do a., b: Do b., c: Do c.}\n")
    assert world.call("run", plan).returncode == 1
    assert set(world.lanes("plan").values()) == {"failed"}

    assert unheard(world, "rollback", "plan") == 0
    assert set(world.lanes("plan").values()) == {"waiting"}


@pytest.mark.req("RUN-11")
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_lane_comes_to_its_end(world: Night, flags: tuple[str, ...]) -> None:
    alone = Alone(world)
    alone.go.touch()

    assert unheard(world, *alone.call("a"), *flags) == 0
    assert world.merged().total() == 1


@pytest.mark.req("RUN-11")
def test_lane_that_failed_goes_on_and_tells_how_it_ended(world: Night) -> None:
    alone, flag = Alone(world), world.top / "may"
    runner = f"test -e {flag} && echo a > a"
    failed = unheard(world, *alone.call("a", runner=runner))
    again = unheard(world, "lane", "resume", *alone.words("a"))
    flag.touch()

    assert (failed, again) == (1, 1)
    assert unheard(world, "lane", "resume", *alone.words("a")) == 0
    assert world.merged().total() == 1


@pytest.mark.req("RUN-11")
def test_resume_of_many_lanes_takes_them_on(world: Night) -> None:
    """What it found is more than a pipe's buffer of ours holds."""
    lanes = ", ".join(f"{'x' * 60}{number}: Do it." for number in range(100))
    plan = world.plan(f"limits: {{lanes: 1}}\non_failure: stop\nlanes: {{{lanes}}}\n")
    world.agent("exit 1")
    assert world.call("run", plan).returncode == 1

    assert unheard(world, "resume", "plan", f"{'x' * 60}0") == 1
    assert world.paid().total() == 2


@pytest.mark.req("RUN-11")
def test_bad_plan_is_bad_though_nobody_reads_why(world: Night) -> None:
    plan = world.plan("lanes: {a: {task: Do a., after: nobody}}\n", trusted=False)
    heard = world.call("plan", "check", plan).returncode

    assert heard != 0
    assert unheard(world, "plan", "check", plan) == heard

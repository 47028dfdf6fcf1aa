"""Lanes that were begun one by one, treated as runs are: resumed, stopped, forgotten."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from effect_desk import until
from lone_lanes import Alone
from run_worlds import night, slow_git


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Alone]:
    made = Alone(night(tmp_path))
    yield made
    made.go.touch()


@pytest.mark.req("RUN-07")
def test_lane_whose_tests_fail_on_the_base_is_brought_back(alone: Alone) -> None:
    alone.leave("a", "--test", "test -e a")
    alone.go.touch()
    done = alone.world.call("resume")

    assert done.returncode == 0, done.stdout + done.stderr
    assert alone.world.merged().total() == 1


@pytest.mark.req("RUN-07")
def test_lanes_of_no_plan_make_no_phase(alone: Alone) -> None:
    failed = alone.start("bad", runner="false")
    failed.communicate(timeout=60)
    alone.leave("a")
    alone.go.touch()
    done = alone.world.call("resume")

    assert failed.returncode == 1
    assert done.returncode == 0, done.stdout + done.stderr
    assert alone.records() == {"a", "bad"}


@pytest.mark.req("RUN-05")
def test_lane_between_two_commands_is_stopped_and_stays_so(alone: Alone) -> None:
    world = alone.world
    path, waits, go = slow_git(world, "commit")
    test = f"touch {world.top}/tested"
    begun = alone.start("a", "--test", test, runner="echo a > a", PATH=path)
    until(waits.exists)
    stopping = world.start("stop", "r1")
    until(lambda: world.word("r1") == "stopped")
    go.touch()
    stopped, _ = stopping.communicate(timeout=60)
    said, _ = begun.communicate(timeout=60)

    assert stopping.returncode == 0, stopped
    assert begun.returncode == 106, said
    assert not (world.top / "tested").exists()
    assert world.call("resume").stdout == "Nothing was left in the middle.\n"
    assert world.call("resume", "r1").returncode == 0
    assert world.merged().total() == 1


@pytest.mark.req("RUN-05")
def test_lane_that_was_stopped_is_going_again_once_it_is_named(alone: Alone) -> None:
    begun = alone.start()
    until(lambda: alone.begun() == 1)
    stopped = alone.world.call("stop", "r1")
    begun.communicate(timeout=60)
    assert (stopped.returncode, begun.returncode) == (0, 106), stopped.stderr
    again = alone.world.start("lane", "resume", *alone.words("a"))
    until(lambda: alone.begun() == 2)
    again.kill()
    again.communicate()
    alone.go.touch()
    done = alone.world.call("resume")

    assert "Done: r1, 1 done" in done.stdout
    assert alone.world.merged().total() == 1


def test_lane_is_forgotten_once_it_does_not_go_on(alone: Alone) -> None:
    begun = alone.start()
    until(lambda: alone.begun() == 1)
    early = alone.world.call("forget", "r1")
    alone.world.call("stop", "r1")
    begun.communicate(timeout=60)
    late = alone.world.call("forget", "r1")

    assert early.returncode == 118, early.stderr
    assert late.returncode == 0, late.stderr
    assert "r1" not in alone.world.call("status").stdout
    assert alone.world.call("resume").stdout == "Nothing was left in the middle.\n"


def test_lanes_that_were_all_taken_back_are_not_begun_again_unasked(alone: Alone) -> None:
    begun = alone.start()
    until(lambda: alone.begun() == 1)
    begun.kill()
    begun.communicate()
    alone.world.call("reap")
    back = alone.world.call("rollback", "r1")
    alone.go.touch()

    assert back.returncode == 0, back.stdout + back.stderr
    assert alone.world.call("resume").stdout == "Nothing was left in the middle.\n"


@pytest.mark.req("RUN-11")
def test_lane_below_nohup_outlives_its_terminal(alone: Alone) -> None:
    argv = ["nohup", *alone.world.argv(*alone.call("a"))]
    begun = subprocess.Popen(argv, cwd=alone.world.repo, env=alone.world.environ,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, encoding="utf-8",
                             start_new_session=True)  # fmt: skip
    until(lambda: alone.begun() == 1)
    begun.send_signal(signal.SIGHUP)
    alone.go.touch()
    said, _ = begun.communicate(timeout=60)

    assert begun.returncode == 0, said
    assert alone.world.merged().total() == 1


@pytest.mark.req("CLI-02")
def test_run_of_lanes_of_no_plan_is_done_once_they_are(alone: Alone) -> None:
    alone.go.touch()
    alone.start().communicate(timeout=60)

    shown = alone.world.call("status", "r1")
    facts = json.loads(alone.world.call("status", "r1", "--json").stdout)

    assert shown.stdout.startswith("r1: done, into main")
    assert facts["outcome"] == "done"


@pytest.mark.req("CLI-02")
def test_lane_whose_agent_works_on_without_a_run_is_shown_at_work(alone: Alone) -> None:
    alone.leave()

    shown, listed = alone.world.call("status", "r1").stdout, alone.world.call("status").stdout

    assert shown.startswith("r1: running")
    assert shown.splitlines()[2].split()[:3] == ["1", "P1/a", "running"]
    assert "RUNNING  r1/P1/a" in listed
    assert "`standfast lane resume` goes on" in listed

"""Lanes that were begun one by one, treated as runs are: resumed, stopped, forgotten."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, night
from standfast.journal import checkpoints
from test_run_odd_stops import slow_git


class Alone:
    """A lane of no plan, whose agent waits until `go` is there."""

    def __init__(self, world: Night) -> None:
        self.world = world
        self.go, self.marker = world.top / "go", world.top / "marker"
        task = world.top / "one.md"
        task.write_text("Do it.\n", encoding="utf-8")
        waits = f"until test -e {self.go}; do sleep 0.02; done"
        self._runner = f"echo x >> {self.marker}; {waits}; echo $STANDFAST_LANE > $STANDFAST_LANE"
        self._task = str(task)

    def words(self, lane: str) -> list[str]:
        return ["--run-id", "r1", "--phase", "P1", "--lane", lane]

    def begun(self) -> int:
        """How many agents have."""
        return self.marker.read_text(encoding="utf-8").count("x") if self.marker.exists() else 0

    def start(
        self, lane: str = "a", *more: str, runner: str = "", **env: str
    ) -> subprocess.Popen[str]:
        return self.world.start(*self.call(lane, *more, runner=runner), **env)

    def call(self, lane: str, *more: str, runner: str = "") -> list[str]:
        given = ("--runner", runner or self._runner, "--task", self._task)
        return ["lane", "run", *self.words(lane), *given, *more]

    def leave(self, lane: str = "a", *more: str) -> None:
        """It is killed while its agent works, which goes on."""
        before = self.begun()
        begun = self.start(lane, *more)
        until(lambda: self.begun() > before)
        begun.kill()
        begun.communicate()

    def records(self) -> set[str]:
        """The lanes that checkpoints of the run were written of."""
        journal = self.world.journal()
        try:
            return {each.key.lane for each in checkpoints.history(journal, "r1")}
        finally:
            journal.close()


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

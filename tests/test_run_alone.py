"""Lanes that were begun one by one, treated as runs are: resumed, stopped, forgotten."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, night
from standfast.journal import checkpoints


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
        given = ("--runner", runner or self._runner, "--task", self._task)
        return self.world.start("lane", "run", *self.words(lane), *given, *more, **env)

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

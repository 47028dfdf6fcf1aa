"""A lane of no plan, begun from outside, whose agent waits for a file."""

import subprocess

from effect_desk import until
from run_worlds import Night
from standfast.protocols.checkpoints.records import checkpoint_records


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
            return {each.key.lane for each in checkpoint_records.history(journal, "r1")}
        finally:
            journal.close()

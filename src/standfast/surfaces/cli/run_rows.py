"""The lanes of a run as rows: for the live table, for `status RUN` and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import clock
from standfast.runs.lanes import lane_watch
from standfast.runs.records import lane_records
from standfast.runs.rules.schedule import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.journal.store import Journal
    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.schedule import Lane, Name

HEAD = ("WAVE", "LANE", "STATE", "STAGE", "RUN", "ELAPSED", "LAST")
STYLES = {State.FAILED: "bad", State.NEEDS: "bad", State.DONE: "good", State.WAITING: "dim"}


class Row(NamedTuple):
    """One lane."""

    wave: int
    phase: str
    lane: str
    state: State
    stage: str
    attempt: int
    attempts: int
    elapsed_s: int
    last: str

    def cells(self) -> tuple[str, ...]:
        """What people read."""
        runs = f"{self.attempt}/{self.attempts}" if self.stage else ""
        time = elapsed(self.elapsed_s) if self.elapsed_s else ""
        name = f"{self.phase}/{self.lane}"
        return str(self.wave), name, self.state, self.stage, runs, time, self.last

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints."""
        return {**self._asdict(), "state": self.state.lower().replace(" ", "_")}


def why(lane: Lane) -> str:
    """Why it stands so and, where it waits for a moment, until when."""
    until = f"until {clock.local_minute(lane.until_us)}" if lane.until_us else ""
    return lane.why if until in lane.why else f"{until}: {lane.why}"


def rows(
    journal: Journal, run: Run, lanes: Mapping[Name, Lane], *, all_lanes: bool = True
) -> Iterator[Row]:
    """Every lane, wave by wave; or those alone about which there is something to say now."""
    waves = run.graph.waves()
    for name in sorted(lanes, key=lambda name: waves[name]):
        if all_lanes or lanes[name].state not in (State.DONE, State.WAITING):
            yield _row(journal, (run.run_id, *name), lanes[name], waves[name])


def _row(journal: Journal, names: tuple[str, str, str], lane: Lane, wave: int) -> Row:
    plain = Row(wave, *names[1:], lane.state, "", 1, 1, 0, why(lane))
    spec = lane_records.find(journal, names)
    if spec is None:
        return plain
    seen = lane_watch.look(journal, spec)
    if not seen.since_us:
        return plain  # it has not begun
    last = why(lane) or seen.last or (seen.doing if lane.state is State.RUNNING else "")
    since = clock.now_us() - seen.since_us if lane.state is State.RUNNING else 0
    return plain._replace(
        stage=seen.stage, attempt=seen.attempt, attempts=seen.attempts,
        elapsed_s=max(0, since) // 1_000_000, last=last,
    )  # fmt: skip


def elapsed(seconds: int) -> str:
    """A time that people can take in at a glance."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

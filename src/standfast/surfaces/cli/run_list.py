"""The runs that `status` lists, a line each; and one run whole, lane by lane."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from standfast.journal.tables.schema import ANY_RUN
from standfast.runs.records import lane_records
from standfast.runs.records import run_records as told
from standfast.runs.rules.schedule import Lane, Outcome, State, outcome
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.runs.records.run_records import Run, Word
    from standfast.runs.rules.schedule import Name
    from standfast.surfaces.cli.command_context import Context

RUNNING, NEEDS, CUT_OFF = "RUNNING", "NEEDS YOU", "CUT OFF"
ELSEWHERE = "ELSEWHERE"  # what a copy brought along
_BAD = (Outcome.NEEDS, Outcome.FAILED)


class Shown(NamedTuple):
    """One run that is not done."""

    run_id: str
    state: str
    wave: int
    waves: int
    counted: dict[str, int]
    original: str = ""

    @property
    def words(self) -> str:
        """What people read."""
        numbers = ", ".join(f"{number} {state}" for state, number in self.counted.items())
        hint = f"`standfast resume {self.run_id}` goes on"
        if self.state == ELSEWHERE:
            hint = f"begun in {printable(self.original)}, and left to that"
        if self.state == NEEDS:  # what failed, or is held by a gate, stays so unless it is named
            hint = f"`standfast status {self.run_id}` says why"
        told = "" if self.state == RUNNING else f"; {hint}"
        return f"wave {self.wave}/{self.waves}, {numbers}{told}"


def gather(context: Context) -> tuple[Shown, ...]:
    """Every run that is not done; where there never was one, nothing is loaded."""
    if not context.journal.query(ANY_RUN):
        return ()
    every = told.every(context.journal)
    states = {run.run_id: told.word(context.journal, run.run_id).state for run in every}
    return tuple(_shown(context, run) for run in every if states[run.run_id] != told.DONE)


def look(context: Context, run: Run) -> dict[Name, Lane]:
    """How the lanes stand, those at work among them."""
    from standfast.runs.lanes import lane_progress
    from standfast.runs.lanes.lane_context import is_taken

    lanes = lane_progress.look(context.journal, run)
    word = told.word(context.journal, run.run_id)
    for name, lane in lanes.items():
        names = (run.run_id, *name)
        for state, key in told.WHYS.items():
            why = word.facts.get(key, {}).get("/".join(name))
            is_open = lane.state is State.WAITING and why is not None
            if is_open and not _moved(context, word, names):
                lanes[name] = Lane(state, why=why)
        if lane.state is State.DONE:
            continue
        if is_taken(context.journal, names) or _works_on(context, names, lane):
            lanes[name] = Lane(State.RUNNING)
    return lanes


def _works_on(context: Context, names: tuple[str, str, str], lane: Lane) -> bool:
    """Whether an agent outlives whoever began it."""
    from standfast.runs.lanes import lane_watch

    spec = lane_records.find(context.journal, names)
    if spec is None or lane.state is not State.WAITING:
        return False
    return lane_watch.works_on(context.journal, spec)


def _moved(context: Context, word: Word, names: Sequence[str]) -> bool:
    """Whether something is said of a lane since: it was taken back, perhaps."""
    return lane_records.last_seq(context.journal, names) > word.seq


def stands(context: Context, run: Run, lanes: Mapping[Name, Lane]) -> str:
    """How a run that nobody takes on stands: as it ended, or nobody saw its end."""
    word, found = told.word(context.journal, run.run_id), outcome(lanes)
    if word.stood == told.STOPPED:
        return Outcome.STOPPED
    if not run.is_plan and found is not Outcome.STOPPED:
        return found  # nothing is said of it as a whole: it is what its lanes are
    if not run.is_plan and any(lane.state is State.RUNNING for lane in lanes.values()):
        return State.RUNNING
    return found if found in _BAD or "outcome" in word.facts else CUT_OFF.lower()


def _shown(context: Context, run: Run) -> Shown:
    from standfast.runs import run_locks

    lanes, waves = look(context, run), run.graph.waves()
    counted = Counter(lane.state for lane in lanes.values())
    left = [waves[name] for name, lane in lanes.items() if lane.state is not State.DONE]
    state = stands(context, run, lanes)
    state = NEEDS if state in _BAD else state.upper()
    if run_locks.is_taken(context.journal, run_locks.RUNS, run.run_id):
        state = RUNNING
    numbers = {str(state): counted[state] for state in State if counted[state]}
    original = lane_records.original_of(context.journal, run.run_id, run.names) or ""
    state = ELSEWHERE if original else state
    return Shown(run.run_id, state, min(left, default=0), max(waves.values()), numbers, original)


def rows(context: Context, found: tuple[Shown, ...]) -> str:
    """A line for each."""
    listed = [(each.state, each.run_id, each.words) for each in found]
    return context.screen.table(listed, ("good", "strong"))


def as_dict(shown: Shown) -> dict[str, object]:
    """What `status --json` prints of one."""
    return {**shown._asdict(), "state": shown.state.lower().replace(" ", "_")}

"""The runs that `status` lists, a line each; and one run whole, lane by lane."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from standfast.journal import runs as told
from standfast.protocol.schedule import Lane, Outcome, State, outcome

if TYPE_CHECKING:
    from standfast.journal.runs import Run
    from standfast.protocol.schedule import Name
    from standfast.surfaces.cli.context import Context

RUNNING, STOPPED, NEEDS, CUT_OFF = "RUNNING", "STOPPED", "NEEDS YOU", "CUT OFF"


class Shown(NamedTuple):
    """One run that is not done."""

    run_id: str
    state: str
    wave: int
    waves: int
    counted: dict[str, int]

    @property
    def words(self) -> str:
        """What people read."""
        numbers = ", ".join(f"{number} {state}" for state, number in self.counted.items())
        hint = f"`standfast resume {self.run_id}` goes on"
        if self.state == NEEDS:  # what failed, or is held by a gate, stays so unless it is named
            hint = f"`standfast status {self.run_id}` says why"
        told = "" if self.state == RUNNING else f"; {hint}"
        return f"wave {self.wave}/{self.waves}, {numbers}{told}"


def gather(context: Context) -> tuple[Shown, ...]:
    """Every run that is not done; where there never was one, nothing is loaded."""
    if not context.journal.query(told.ANY):
        return ()
    every = told.every(context.journal)
    states = {run.run_id: told.word(context.journal, run.run_id).state for run in every}
    return tuple(_shown(context, run) for run in every if states[run.run_id] != told.DONE)


def look(context: Context, run: Run) -> dict[Name, Lane]:
    """How the lanes stand, those at work among them."""
    from standfast.run import lane_states
    from standfast.run.working import is_taken

    lanes = lane_states.look(context.journal, run)
    facts = told.word(context.journal, run.run_id).facts
    for name, lane in lanes.items():
        for state, key in told.WHYS.items():
            why = facts.get(key, {}).get("/".join(name))
            if lane.state is State.WAITING and why is not None:
                lanes[name] = Lane(state, why=why)
        if lane.state is not State.DONE and is_taken(context.journal, (run.run_id, *name)):
            lanes[name] = Lane(State.RUNNING)
    return lanes


def _shown(context: Context, run: Run) -> Shown:
    from standfast.run import taking

    lanes, waves = look(context, run), run.graph.waves()
    counted = Counter(lane.state for lane in lanes.values())
    left = [waves[name] for name, lane in lanes.items() if lane.state is not State.DONE]
    word = told.word(context.journal, run.run_id)
    if taking.is_taken(context.journal, taking.RUNS, run.run_id):
        state = RUNNING
    elif word.state == told.STOPPED:
        state = STOPPED
    else:
        bad = outcome(lanes) in (Outcome.NEEDS, Outcome.FAILED)
        state = NEEDS if bad else CUT_OFF
    numbers = {str(state): counted[state] for state in State if counted[state]}
    return Shown(run.run_id, state, min(left, default=0), max(waves.values()), numbers)


def rows(context: Context, found: tuple[Shown, ...]) -> str:
    """A line for each."""
    listed = [(each.state, each.run_id, each.words) for each in found]
    return context.screen.table(listed, ("good", "strong"))


def as_dict(shown: Shown) -> dict[str, object]:
    """What `status --json` prints of one."""
    return {**shown._asdict(), "state": shown.state.lower().replace(" ", "_")}

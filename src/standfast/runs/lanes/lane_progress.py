"""How the lanes of a run stand, as a schedule sees them: asked of their own steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import clock
from standfast.runs.records import lane_records
from standfast.runs.rules import parking
from standfast.runs.rules.lane_steps import Do, decide, remark
from standfast.runs.rules.schedule import Lane, State

if TYPE_CHECKING:
    from collections.abc import Collection

    from standfast.journal.store import Journal
    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.lane_steps import Standing
    from standfast.runs.rules.schedule import Name

_STUCK = {Do.FAIL: State.FAILED, Do.BLOCK: State.NEEDS, Do.PARK: State.PARKED}


def look(journal: Journal, run: Run, asked: Collection[Name] = ()) -> dict[Name, Lane]:
    """How the lanes of a run stand, whoever takes them on."""
    found = {}
    for name in run.names:
        spec = lane_records.find(journal, (run.run_id, *name))
        assert spec is not None  # noqa: S101  # told in one transaction with its run
        found[name] = state_of(lane_records.standing(journal, spec), is_asked=name in asked)
    return found


def state_of(standing: Standing, *, is_asked: bool) -> Lane:
    """What a schedule makes of how a lane stands."""
    following = decide(standing, asked=is_asked, now_us=clock.now_us())
    if following.do is Do.NOTHING:
        return Lane(State.DONE, why=remark(standing))
    if following.do not in _STUCK:
        return Lane(State.WAITING)
    said = standing.steps[following.step].facts
    if following.do is Do.PARK:
        since, until = parking.number(said, "at"), parking.number(said, "until")
        return Lane(State.PARKED, until, said.get("why", ""), since_us=since)
    why = said.get("error") or f"gate {following.step.removeprefix('gate-')}: {said.get('score')}"
    return Lane(_STUCK[following.do], why=why)

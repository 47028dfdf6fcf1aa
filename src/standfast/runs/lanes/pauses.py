"""A lane that waits: for the end of a usage limit, or because no further agent may be begun."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import clock
from standfast.effects import door
from standfast.effects.effect_folder import STARTED, Folder
from standfast.errors.lanes import LaneParked
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes.lane_commands import key
from standfast.runs.lanes.lane_context import checkpoint, log, recording, step
from standfast.runs.rules import parking, spending
from standfast.runs.rules.lane_steps import BEGUN, ENDED, FAILED, GOES_ON, PARKED, TOLD_AS, of_gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.effects.rules import Ended
    from standfast.plans.lane_spec import Gate, Task
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Next, Standing


ANEW = "anew"


def is_limited(ended: Ended | None) -> bool:
    """Whether a client stopped at a limit; one that somebody ended did not."""
    return ended is not None and bool(ended.report.get("limit")) and ended.how != "cancelled"


def park(work: Work, lane: Standing, who: Task | Gate, number: int, ended: Ended) -> None:
    """Write down until when the lane waits: no retry is used, and nothing has failed."""
    known = lane.steps.get(who.step)
    before = known.facts if known is not None and known.state in GOES_ON else {}
    kept = {name: before[name] for name in ("failing", TOLD_AS) if name in before}
    kept |= spending.facts(ended._asdict())
    now = clock.now_us()
    if parking.is_in_vain(ended.report, now, before):
        _give_up(work, who, number, kept, str(ended.report.get("limit")))
        return
    said = parking.facts(ended.report, now, before)
    with recording(work) as tx:
        step(work, tx, who.step, number, PARKED, {**kept, **said})
    until = clock.rfc3339(int(said["until"]))
    log(work, "task_parked", "blocked", who.name, notes=f"until {until}: {said['why']}")


def _give_up(
    work: Work, who: Task | Gate, number: int, facts: Mapping[str, str], limit: str
) -> None:
    """No time takes it away: the step has failed, with no retry used, and a person is asked."""
    times = parking.MOST_PARKS + 1
    error = f"it met a limit {times} times in a row, and never heard when it ends: {limit}"
    with recording(work) as tx:
        step(work, tx, who.step, number, FAILED, {**facts, "error": error})
        checkpoint(work, tx, cp.STARTED, cp.FAILED, notes=error)
    log(work, "task_failed", "error", who.name, notes=error)


def wait(work: Work, lane: Standing, following: Next) -> None:
    """Say until when."""
    said = lane.steps[following.step].facts
    until = parking.number(said, "until")
    raise LaneParked(
        f"{'/'.join(work.spec.names)} is parked until {clock.local_minute(until)}:"
        f" {said.get('why', '')}",
        since_us=parking.number(said, "at"),
        until_us=until,
    )


def refuse_more(work: Work, lane: Standing, who: Task | Gate) -> None:
    """Before another agent is begun: whoever leads the run may want none; none is ever ended."""
    why = "" if is_begun(work, lane, who) else work.may_begin()
    if why:
        raise LaneParked(
            f"{'/'.join(work.spec.names)} is parked, no further agent is begun: {why}",
            until_us=None,
            remedy="Resume it: what the plan allows in time begins anew with each call.",
        )


def is_begun(work: Work, lane: Standing, who: Task | Gate) -> bool:
    """Whether the run that is due was begun in the world, not only in the journal."""
    known = lane.steps.get(who.step)
    if known is None or known.state != BEGUN:
        return False
    name = key(work, who.step, known.number)
    is_known = door.find(work.journal, name) is not None  # then its folder may be cleared
    return is_known or os.path.lexists(Folder(work.journal.folder, name).at(STARTED))


def is_put_off(
    work: Work, lane: Standing, who: Task | Gate, number: int, ended: Ended | None
) -> bool:
    """Whether the work comes later: after the end of a limit, or in another session at once."""
    if ended is not None and is_limited(ended):
        park(work, lane, who, number, ended)
        return True
    return begun_anew(work, lane, who, number, ended)


def begun_anew(
    work: Work, lane: Standing, who: Task | Gate, number: int, ended: Ended | None
) -> bool:
    """Whether the session to go on with was gone, so that nothing was done: then it is begun anew.

    That is no failure of the work. It happens once in turn: a client that loses every session
    fails.
    """
    if ended is None or not ended.report.get("is_gone") or is_anew(lane, who):
        return False
    known = lane.steps.get(who.step)
    before = known.facts if known is not None else {}
    with recording(work) as tx:
        step(work, tx, who.step, number, ENDED, {"error": str(ended.report.get("error") or "")})
        step(
            work, tx, who.step, number + 1, BEGUN, {**of_gate(before), ANEW: "its session is gone"}
        )
    log(work, "task_start", task=who.name, notes="begun anew: its session is gone")
    return True


def is_anew(lane: Standing, who: Task | Gate) -> bool:
    """Whether the run that is due follows one whose session was gone."""
    known = lane.steps.get(who.step)
    return known is not None and known.state in GOES_ON and ANEW in known.facts


def waited(lane: Standing, who: Task | Gate) -> dict[str, str]:
    """What is known from a run that was parked or ended: its session, and how often it waited."""
    known = lane.steps.get(who.step)
    if known is None or known.state not in GOES_ON:
        return {}
    return parking.carried(known.facts)

"""The lanes that `status` lists: at work, stopped in the middle, or in need of somebody."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import clock
from standfast.journal.tables.schema import ANY_LANE
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.records import lane_records as told
from standfast.runs.records import run_records
from standfast.runs.rules import parking
from standfast.runs.rules.lane_steps import Do, decide
from standfast.surfaces.cli.run_list import ELSEWHERE
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from standfast.runs.rules.lane_steps import Standing
    from standfast.surfaces.cli.command_context import Context

_WORDS = 100
NEEDS, RUNNING, STOPPED, PARKED = "NEEDS YOU", "RUNNING", "STOPPED", "PARKED"


class Shown(NamedTuple):
    """One lane that is not done."""

    run_id: str
    name: str
    state: str
    stage: str
    words: str


def gather(context: Context) -> tuple[Shown, ...]:
    """Every lane of ours that is not done; where there never was one, nothing is loaded."""
    if not context.journal.query(ANY_LANE):
        return ()
    planned = {run.run_id for run in run_records.every(context.journal)}
    gone = run_records.forgotten(context.journal)
    specs = [spec for spec in told.unfinished(context.journal) if spec.run_id not in gone]
    every = (told.standing(context.journal, spec) for spec in specs)
    found = [_shown(context, lane) for lane in every if decide(lane).do is not Do.NOTHING]
    return tuple(  # of a run only what needs somebody: the rest is told in one line
        each for each in found if each.state == NEEDS or each.run_id not in planned
    )


def _shown(context: Context, lane: Standing) -> Shown:
    from standfast.runs.lanes import lane_watch
    from standfast.runs.lanes.lane_context import is_taken

    run_id, name = lane.spec.run_id, "/".join(lane.spec.names)
    newest = max(lane.marks.items(), key=lambda item: item[1].seq, default=None)
    stage, mark = newest if newest is not None else (cp.BEFORE, None)
    runs = f", run {lane.retries + 1} of {lane.spec.retries + 1}" if lane.spec.retries else ""
    where = told.original_of(context.journal, run_id, [lane.spec.names[1:]])
    if where is not None:
        return Shown(
            run_id, name, ELSEWHERE, stage, f"begun in {printable(where)}, and left to that"
        )
    if is_taken(context.journal, lane.spec.names):
        return Shown(run_id, name, RUNNING, stage, f"{_doing(lane)}{runs}")
    following = decide(lane)
    if following.do is Do.PARK:
        said = lane.steps[following.step].facts
        until = clock.local_minute(parking.number(said, "until"))
        why = one_line(said.get("why", ""), _WORDS)
        return Shown(
            run_id, name, PARKED, stage, f"until {until}: {why}; `standfast lane resume` goes on"
        )
    if mark is not None and mark.status in (cp.FAILED, cp.BLOCKED):
        why = one_line(str(mark.record.get("notes") or ""), _WORDS)
        return Shown(run_id, name, NEEDS, stage, f"{mark.status}{runs}: {why}")
    if lane_watch.works_on(context.journal, lane.spec):
        words = f"{_doing(lane)}{runs}, and nobody waits for it; `standfast lane resume` goes on"
        return Shown(run_id, name, RUNNING, stage, words)
    return Shown(
        run_id, name, STOPPED, stage, f"next: {_doing(lane)}; `standfast lane resume` goes on"
    )


def _doing(lane: Standing) -> str:
    following = decide(lane)
    task = f" ({following.task.name})" if following.task else ""
    return f"{following.do}{task}"


def rows(context: Context, found: tuple[Shown, ...]) -> list[str]:
    """A line for each, those that need somebody first."""
    table = context.screen.table
    mine = [(each.state, each.name, each.words) for each in found if each.state == NEEDS]
    rest = [(each.state, each.name, each.words) for each in found if each.state != NEEDS]
    return [table(mine, ("bad", "strong")), table(rest, ("good", "strong"))]


def needs(found: tuple[Shown, ...]) -> list[dict[str, object]]:
    """Those that need somebody, beside what else does."""
    return [
        {"code": None, "problem": f"{each.name}: {each.words}", "file": None, "line": None}
        for each in found
        if each.state == NEEDS
    ]


def as_dict(shown: Shown) -> dict[str, object]:
    """What `status --json` prints of one."""
    return {**shown._asdict(), "state": shown.state.lower().replace(" ", "_")}

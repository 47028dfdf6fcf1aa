"""Runs that were left in the middle: which there are, how they stand, and taking them on again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from standfast.effects import orphans
from standfast.errors.base import NothingFound, WrongUsage
from standfast.errors.lanes import RunUnknown
from standfast.journal import questions
from standfast.journal.tables.schema import ANY_RUN
from standfast.plans.model import MOST_LANES_AT_ONCE
from standfast.runs import run_locks
from standfast.runs.lanes import lane_watch
from standfast.runs.lanes.lane_context import is_taken
from standfast.runs.records import lane_records, run_records
from standfast.runs.records.run_records import Run
from standfast.runs.rules.lane_steps import Do, decide
from standfast.surfaces.cli import doubt_list
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Sized

    from standfast.effects.orphans import Left
    from standfast.plans.lane_spec import Spec
    from standfast.runs.rules.schedule import Name
    from standfast.surfaces.cli.command_context import Context


def find(context: Context, run_id: str) -> Run:
    """A run by its name."""
    found = known(context, run_id)
    if found is None:
        others = ", ".join(run.run_id for run in _planned(context)) or "none"
        raise RunUnknown(f"there is no run `{one_line(run_id, 60)}`; those known are: {others}")
    return found


def known(context: Context, run_id: str) -> Run | None:
    """A run by its name, if there is one; lanes that were begun one by one are a run too."""
    found = run_records.find(context.journal, run_id)
    if found is not None:
        return found
    alone = [spec for spec in _every_lane(context) if spec.run_id == run_id]
    return _of_lanes(run_id, alone) if alone else None


class Unfinished(NamedTuple):
    """What nobody stopped and is not done."""

    left: list[Run]
    busy: list[str]  # runs that somebody takes on now, and lanes of none
    elsewhere: list[str]  # in words: what a copy brought along, and where its original is


def unfinished(context: Context) -> Unfinished:
    """Look for it, everywhere."""
    found = Unfinished([], [], [])
    try:
        context.journal.query(ANY_RUN)
    except NothingFound:  # or a disk was full when it was to be made
        return found
    for run in _planned(context):
        if run_records.word(context.journal, run.run_id).state != run_records.GOING:
            continue
        if run_locks.is_taken(context.journal, run_locks.RUNS, run.run_id):
            found.busy.append(run.run_id)
        else:
            _take(context, found, run)
    alone: dict[str, list[Spec]] = {}
    for spec in _begun_alone(context):
        if is_taken(context.journal, spec.names):
            found.busy.append("/".join(spec.names))
        else:
            alone.setdefault(spec.run_id, []).append(spec)
    for run_id, specs in alone.items():
        _take(context, found, _of_lanes(run_id, specs))
    return found


def _take(context: Context, found: Unfinished, run: Run) -> None:
    where = lane_records.original_of(context.journal, run.run_id, run.names)
    if where is None:
        found.left.append(run)
    else:
        found.elsewhere.append(f"{run.run_id} was begun in {where}, and left to that.")


def _begun_alone(context: Context) -> Iterable[Spec]:
    """The lanes of no plan that nobody stopped and that are neither done nor failed."""
    journal = context.journal
    planned = {run.run_id for run in _planned(context)}
    for spec in lane_records.unfinished(journal):
        if (
            spec.run_id in planned
            or run_records.word(journal, spec.run_id).state != run_records.GOING
        ):
            continue
        if decide(lane_records.standing(journal, spec)).do not in (Do.NOTHING, Do.FAIL):
            yield spec


def _planned(context: Context) -> list[Run]:
    return run_records.every(context.journal) if context.journal.exists else []


def _every_lane(context: Context) -> list[Spec]:
    return lane_records.every(context.journal) if context.journal.exists else []


def _of_lanes(run_id: str, specs: Sequence[Spec]) -> Run:
    """Lanes that no plan holds together."""
    phases: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for spec in specs:
        phases.setdefault(spec.phase, []).append((spec.lane, ()))
    return Run(
        run_id=run_id,
        file="",
        digest="",
        base=specs[0].base,
        phases=tuple((phase, "", tuple(lanes)) for phase, lanes in phases.items()),
        at_once=MOST_LANES_AT_ONCE,
        stops_at_failure=False,
        time_s=None,
        cost_usd="",
        is_plan=False,
    )


def told(context: Context, wanted: Sequence[Run], asked: Mapping[str, Sequence[Name]]) -> str:
    """What was found, before anything is done about it."""
    rows, left = _looked_at(context, wanted, asked)
    counted = Counter(each.state for each in left)
    commands = ", ".join(f"{number} {state}" for state, number in counted.items())
    head = f"Looked at {_many(wanted, 'run')}, {_many(rows, 'lane')}, {_many(left, 'command')}"
    shown = [(f"  {lane}", was, following) for lane, was, following in rows]
    parts = [f"{head}{f' ({commands})' if commands else ''}.", context.screen.table(shown, ("",))]
    if _in_doubt(context, left):
        parts.append(doubt_list.HINT)
    return "\n".join(part for part in parts if part)


def as_json(
    context: Context, wanted: Sequence[Run], asked: Mapping[str, Sequence[Name]]
) -> dict[str, object]:
    """The same for programs."""
    rows, left = _looked_at(context, wanted, asked)
    lanes = [{"lane": lane, "was": was, "next": following} for lane, was, following in rows]
    commands = [{"key": each.key, "state": each.state} for each in left]
    found = {"lanes": lanes, "commands": commands, "in_doubt": _in_doubt(context, left)}
    return {"runs": [run.run_id for run in wanted], **found}


def _looked_at(
    context: Context, wanted: Sequence[Run], asked: Mapping[str, Sequence[Name]]
) -> tuple[list[tuple[str, str, str]], list[Left]]:
    """The lanes of these runs, how they stand and what comes next; commands that were left."""
    rows = [row for run in wanted for row in _rows(context, run, asked.get(run.run_id, ()))]
    own = tuple(f"lane/{run.run_id}/" for run in wanted)
    return rows, [each for each in orphans.every(context.journal) if each.key.startswith(own)]


def _in_doubt(context: Context, left: Sequence[Left]) -> list[str]:
    """Commands of which only a person can say whether they happened."""
    doubtful = [each.key for each in left if each.state == orphans.IN_DOUBT]
    return [key for key in doubtful if _is_asked(context, key)]


def _many(found: Sized, what: str) -> str:
    return f"{len(found)} {what}{'' if len(found) == 1 else 's'}"


def _is_asked(context: Context, key: str) -> bool:
    """An agent with a session goes on by itself: only what nobody can know is asked."""
    return bool(questions.cell(context.journal, f"effect.asked:{key}"))


def _rows(context: Context, run: Run, asked: Sequence[Name]) -> Iterable[tuple[str, str, str]]:
    for name in run.names:
        spec = lane_records.find(context.journal, (run.run_id, *name))
        if spec is not None:
            found = _found(context, spec, is_asked=name in asked)
            yield (f"{run.run_id}/{'/'.join(name)}", *found)


def _found(context: Context, spec: Spec, *, is_asked: bool) -> tuple[str, str]:
    lane = lane_records.standing(context.journal, spec)
    following = decide(lane)
    if following.do is Do.NOTHING:
        return "done before", "nothing to do"
    if following.do in (Do.FAIL, Do.BLOCK):
        call = f"`standfast resume {spec.run_id} {spec.lane}`"
        words = "tried once more, as asked" if is_asked else f"stays: {call} tries once more"
        held = "held by a gate" if following.task else "needs you"
        return ("failed" if following.do is Do.FAIL else held), words
    seen = lane_watch.look(context.journal, spec)
    runs_of = f", run {seen.attempt} of {seen.attempts}" if seen.attempts > 1 else ""
    return (f"at {seen.stage}" if lane.marks else "not begun"), f"next: {seen.doing}{runs_of}"


def lanes(run: Run, said: str) -> list[Name]:
    """The lane that is meant; its phase need not be said where its name is the only one."""
    found = [name for name in run.names if said in (name[1], "/".join(name))]
    if len(found) == 1:
        return found
    known = ", ".join("/".join(name) for name in (found or run.names))
    shown = one_line(said, 60)
    problem = f"more than one lane is called `{shown}`" if found else f"there is no lane `{shown}`"
    raise WrongUsage(f"{problem} in {run.run_id}: it has {known}")

"""What is said when runs are over: how each ended, what is in the way, and how to go on."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from standfast import clock
from standfast.plans.lane_spec import NEVER, NONE
from standfast.runs.records import cost_records, lane_records
from standfast.runs.rules.schedule import Outcome, State
from standfast.surfaces.cli.run_rows import why
from standfast.surfaces.cli.screen import json_line, speak

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from standfast.runs.active_run import Going
    from standfast.runs.rules.schedule import Lane, Name
    from standfast.runs.rules.spending import Spent
    from standfast.surfaces.cli.command_context import Context

_UNTESTED = "Not tested as merged: `retest: never` is asked for."
_SAID = (State.FAILED, State.NEEDS, State.PARKED)


def tell(context: Context, goings: Sequence[Going], outcomes: Mapping[str, Outcome]) -> None:
    """Say it, for people or as one JSON object for each run."""
    for going in goings:
        found = outcomes[going.run.run_id]
        if context.json:
            speak(json_line(_as_dict(going, found)), sys.stdout)
        else:
            speak(_text(context, going, found), sys.stdout)


def _text(context: Context, going: Going, found: Outcome) -> str:
    counted = Counter(lane.state for lane in going.lanes.values())
    numbers = ", ".join(f"{counted[state]} {state}" for state in State if counted[state])
    spent = said_of(cost_records.spent(going.journal, going.run.run_id))
    lines = [f"{found.capitalize()}: {going.run.run_id}, {numbers}{f'; {spent}' if spent else ''}"]
    rows = [row for name, lane in going.lanes.items() for row in _rows(name, lane)]
    held = going.graph.held(going.lanes)
    rows += [("  held back", "/".join(name), f"by {'/'.join(by)}") for name, by in held.items()]
    lines += [context.screen.table(rows, ("bad", "strong"))] if rows else []
    lines += [_UNTESTED] if _is_untested(going) else []
    if found is not Outcome.DONE:
        again = _named(going.lanes, found)
        if found is Outcome.FAILED:
            lines.append(f"Why: standfast logs {going.run.run_id}/{again}")
        lines.append(f"Go on: standfast resume {going.run.run_id} {again}".rstrip())
    return "\n".join(lines)


def _is_untested(going: Going) -> bool:
    """Whether lanes with tests were to land without being tested again: said, never silent."""
    specs = (lane_records.find(going.journal, (going.run.run_id, *name)) for name in going.lanes)
    return any(spec.test and spec.retest == NEVER and spec.merge != NONE for spec in specs if spec)


def _rows(name: Name, lane: Lane) -> Iterable[tuple[str, str, str]]:
    """What is to be said of a lane: what is in its way and, where a person must act, what helps."""
    if lane.state in _SAID or (lane.state is State.DONE and lane.why):
        yield f"  {lane.state}", "/".join(name), why(lane)
    is_stuck = lane.state is State.PARKED and not lane.until_us
    if lane.remedy and (lane.state is State.NEEDS or is_stuck):
        yield "", "", lane.remedy


def _named(lanes: Mapping[Name, Lane], found: Outcome) -> str:
    """The lane that only goes on when it is named: what failed, and what a gate does not let by."""
    state = {Outcome.FAILED: State.FAILED, Outcome.NEEDS: State.NEEDS}.get(found)
    return next(("/".join(name) for name, lane in lanes.items() if lane.state is state), "")


def said_of(spent: Spent) -> str:
    """What agents cost, as far as they said it."""
    tokens = spent.tokens_in + spent.tokens_out
    money = f"{spent.cost_usd.normalize():f} $" if spent.cost_usd else ""
    return ", ".join(part for part in (money, f"{tokens:,} tokens" if tokens else "") if part)


def as_figures(spent: Spent) -> dict[str, object]:
    """The same for `--json`."""
    return {**spent._asdict(), "cost_usd": str(spent.cost_usd)}


def _as_dict(going: Going, found: Outcome) -> dict[str, object]:
    lanes = [
        {"phase": phase, "lane": lane, "state": each.state.replace(" ", "_"), "why": each.why,
         "remedy": each.remedy,
         "until": clock.rfc3339(each.until_us) if each.until_us else None,
         "spent": as_figures(cost_records.spent(going.journal, going.run.run_id, phase, lane))}
        for (phase, lane), each in going.lanes.items()
    ]  # fmt: skip
    spent = as_figures(cost_records.spent(going.journal, going.run.run_id))
    named = {"run_id": going.run.run_id, "outcome": found.replace(" ", "_")}
    is_tested = not _is_untested(going)
    return {**named, "spent": spent, "retested": is_tested, "lanes": lanes}

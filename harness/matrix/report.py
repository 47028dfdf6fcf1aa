"""The figures of the matrix: as JSON for programs, as a table and a histogram for people."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.table import Table

from harness.matrix.confidence import per_kill
from harness.matrix.work import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.matrix.campaign import Campaign

_WIDEST_BAR = 30
HEAD = (
    "arm",
    "kills",
    "effects",
    "lost",
    "repeated",
    "repeated per kill, 95 %",
    "asked",
    "failed",
)


def figures(done: Campaign) -> dict[str, Any]:
    """What one arm did, counted."""
    strikes = [strike for each in done.told for strike in each.strikes]
    kills, repeated = len(strikes), sum(each.repeated for each in done.told)
    low, high = per_kill(repeated, kills)
    asked: Counter[str] = sum((each.asked for each in done.told), Counter())
    return {
        "kills": kills,
        "lanes": len(done.told),
        "expected": len(done.told) * len(NAMES),
        "lost": sum(each.lost for each in done.told),
        "repeated": repeated,
        "asked": asked.total(),
        "asked_after": dict(asked),
        "failed": sum(each.failed for each in done.told),
        "supervisors_killed": sum(strike.supervised for strike in strikes),
        "repeated_per_kill": round(repeated / max(1, kills), 3),
        "interval_95": [round(low, 3), round(high, 3) if math.isfinite(high) else None],
        "victims": dict(Counter(strike.victim for strike in strikes).most_common()),
        "places": _places(done),
        "missed": done.missed(),
        "problems": [problem for each in done.told for problem in each.problems],
    }


def _places(done: Campaign) -> dict[str, int]:
    """How often each place was struck: those of a calm lane in their order, then the others."""
    hits = done.places()
    known = done.intervals.labels
    others = sorted(label for label in hits if label not in known)
    return {label: hits[label] for label in (*known, *others)}


def findings(arms: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What may not be: anything lost or repeated by Standfast, or asked without need."""
    found = [f"{name}: {told}" for name, arm in arms.items() for told in arm["problems"]]
    ours = arms.get("standfast")
    if ours is None:
        return found
    found += [f"standfast: {ours[name]} {name}" for name in ("lost", "repeated") if ours[name]]
    if ours["asked"] > ours["supervisors_killed"]:
        found.append(f"standfast: asked {ours['asked']} times, but only "
                     f"{ours['supervisors_killed']} kills took all that could know")  # fmt: skip
    return found + [f"standfast: no kill struck {label}" for label in ours["missed"]]


def table(arms: Mapping[str, Mapping[str, Any]]) -> Table:
    """The arms beside each other."""
    made = Table()
    for number, name in enumerate(HEAD):
        made.add_column(name, justify="right" if number else "left")
    for name, arm in arms.items():
        made.add_row(*cells(name, arm))
    return made


def cells(name: str, arm: Mapping[str, Any]) -> list[str]:
    """One row of the table."""
    low, high = arm["interval_95"]
    rate = f"{arm['repeated_per_kill']:.2f} ({low:.2f} to {high:.2f})"
    counts = [f"{arm[key]:,}" for key in ("kills", "expected", "lost", "repeated")]
    return [name, *counts, rate, str(arm["asked"]), str(arm["failed"])]


def histogram(places: Mapping[str, int]) -> Iterable[str]:
    """One line for each place, with a bar."""
    most = max([1, *places.values()])
    for label, hits in places.items():
        yield f"{hits:5} {'█' * round(hits / most * _WIDEST_BAR):<{_WIDEST_BAR}} {label}"

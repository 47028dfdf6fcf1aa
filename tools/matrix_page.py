"""Writes docs/crash-matrix.md: what is tried, how to read it, and the last full run.

The figures come from docs/crash-matrix.json, a copy of what `make matrix` leaves in build/; the
words stand in docs/crash-matrix-about.md.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.matrix import report
from harness.matrix.confidence import per_kill
from harness.matrix.places import EFFECT

DOCS = Path(__file__).resolve().parents[1] / "docs"
RUN = DOCS / "crash-matrix.json"
ABOUT = DOCS / "crash-matrix-about.md"
PLACES = """\
Standfast's, by the last transaction that was in the journal. Events of one transaction are joined
by `+`; places at the end of the list come only after a kill.
"""
NAMES = {
    "standfast": "**Standfast**",
    "dbos": "DBOS 3.3 on SQLite",
    "langgraph_sync": 'LangGraph, SqliteSaver, `durability="sync"`',
    "langgraph_async": 'LangGraph, SqliteSaver, `durability="async"`',
}


def page() -> str:
    """The whole page."""
    run = json.loads(RUN.read_text(encoding="utf-8"))
    parts = [
        "# The crash matrix\n",
        "<!-- Made by `make docs` from crash-matrix.json and crash-matrix-about.md. -->\n",
        ABOUT.read_text(encoding="utf-8"),
        _figures(run),
        _victims(run["arms"]),
        _places(run["arms"]["standfast"]),
    ]
    return "\n".join(parts)


def _figures(run: Mapping[str, Any]) -> str:
    lines = [
        "## The last full run\n",
        f"Commit `{str(run['commit'])[:12]}`, seed {run['seed']}.\n",
        f"| {' | '.join(report.HEAD)} |",
        f"|---|{'--:|' * (len(report.HEAD) - 1)}",
    ]
    for name, arm in run["arms"].items():
        lines.append(f"| {' | '.join(report.cells(NAMES[name], arm))} |")
    return "\n".join(lines) + "\n"


def _victims(arms: Mapping[str, Mapping[str, Any]]) -> str:
    """Who was struck, and how often anybody was asked about it."""
    lines = ["Kills by whom they struck:\n"]
    for name, arm in arms.items():
        struck = ", ".join(f"{victim} {count}" for victim, count in arm["victims"].items())
        lines.append(f"- {NAMES[name]}: {struck}")
    ours = arms["standfast"]
    asked = ", ".join(f"{count} after {victim}" for victim, count in ours["asked_after"].items())
    lines.append(
        f"\nStandfast asked {ours['asked']} times ({asked or 'never'}); "
        f"{ours['supervisors_killed']} kills took an effect and both of its supervisors. "
        f"{_in_flight(ours)}\n"
    )
    return "\n".join(lines)


def _in_flight(ours: Mapping[str, Any]) -> str:
    """The kills that could have made something happen twice are fewer than all kills."""
    hits = sum(count for label, count in ours["places"].items() if label.startswith(EFFECT))
    _, high = per_kill(0, hits)
    return (
        f"Of its {ours['kills']} kills {hits} struck while an effect was about to run or ran, for "
        "every interval was to be struck; peers do little between two effects, so that more of "
        "their kills strike there (how many is not counted). No repeat in that "
        "many has an interval up to "
        f"{high:.2f}: compare that with theirs."
    )


def _places(ours: Mapping[str, Any]) -> str:
    """The histogram of kill points, by the last transaction before each."""
    return "\n".join(
        [
            "## Where the kills struck\n",
            PLACES,
            "```text",
            *(line.rstrip() for line in report.histogram(ours["places"])),
            "```\n",
        ]
    )

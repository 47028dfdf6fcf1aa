"""Writes docs/reliability.md: the promises with their tests, the last full run, the bugs found.

The counters come from docs/reliability.json, which `make faults` leaves after a full run, and from
docs/night.json, which `make night` leaves; the bugs stand in docs/reliability-bugs.md, by hand.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from requirement_rows import namings_in, parse_manifest  # noqa: E402  # it lives with the tests

DOCS = ROOT / "docs"
RUN = DOCS / "reliability.json"
NIGHT = DOCS / "night.json"
BUGS = DOCS / "reliability-bugs.md"
ABOUT = """\
What is recorded stays recorded: through kill -9, crash and loss of power, with many processes
writing. This page says which tests check that, what the last full run of `make faults` counted,
and which bugs it has found. A finding names its trial; the same seed tries the same again.
"""
TRIED = {
    "injected": "faults injected: every call that changes a file, of every command and hook",
    "replayed": "states replayed that a power cut could have left",
    "cuts": "real power cuts",
    "writers": "processes writing at once",
    "flips": "bytes flipped",
}
FOUND = {
    "lost": "acknowledged facts lost",
    "half": "files half written",
    "wedged": "states from which the next command did not go on",
    "wrong": "wrong answers",
}


def page() -> str:
    """The whole page."""
    run = json.loads(RUN.read_text(encoding="utf-8"))
    parts = [
        "# Reliability\n",
        "<!-- Made by `make docs` from reliability.json, night.json and reliability-bugs.md. -->\n",
        ABOUT,
        _promises(),
        _last_run(run),
        _night(json.loads(NIGHT.read_text(encoding="utf-8"))),
        BUGS.read_text(encoding="utf-8"),
    ]
    return "\n".join(parts)


def _promises() -> str:
    tests: dict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for naming in namings_in(path.read_text(encoding="utf-8"), path.name):
            tests[naming.row].add(path.name)
    lines = ["## Promises\n", "| promise | | checked by |", "|---|---|---|"]
    for row in parse_manifest((DOCS / "requirements.md").read_text(encoding="utf-8")):
        if row.family == "REL":
            files = ", ".join(f"`{name}`" for name in sorted(tests[row.id]))
            lines.append(f"| {row.id} | {row.promise} | {files or 'nothing yet'} |")
    return "\n".join(lines) + "\n"


def _last_run(run: dict[str, Any]) -> str:
    lines = [
        "## The last full run\n",
        f"Commit `{str(run['commit'])[:12]}`, seed {run['seed']}.\n",
        "| | |",
        "|--:|---|",
        *(f"| {run[name]:,} | {says} |" for name, says in TRIED.items()),
        *(f"| **{run[name]:,}** | {says} |" for name, says in FOUND.items()),
    ]
    planted, caught = run["canaries"]["planted"], run["canaries"]["caught"]
    lines.append(f"| **{caught} of {planted}** | bugs planted for the harness that it caught |")
    lines += ["", "| part | counted | seconds |", "|---|---|--:|"]
    for name, figures in run["parts"].items():
        counted = ", ".join(f"{key} {value}" for key, value in figures.items() if key != "seconds")
        lines.append(f"| {name} | {counted} | {figures['seconds']} |")
    lines += [f"| {name} | skipped: {why} | |" for name, why in run["skipped"].items()]
    return "\n".join(lines) + "\n"


def _night(night: dict[str, Any]) -> str:
    """A run of real clients, killed again and again."""
    whom = "; ".join(f"{name} {count}" for name, count in night["victims"].items())
    rows = [
        (night["kills"], f"kills with -9: {whom}"),
        (night["reboots"], "of them reboots: every process killed, another boot id"),
        (night["parked"], "lanes parked by a usage limit, and gone on with by themselves"),
        (f"{night['seen']} of {night['expected']}", "effects seen, each a line in a ledger"),
        (f"**{night['lost']}**", "lost"),
        (f"**{night['repeated']}**", "repeated"),
        (f"**{night['asked']}**", "questions to a person"),
        (f"**{night['merged']} of {night['lanes']}**", "lanes merged, each once"),
    ]
    what = f"`make night`, commit `{night['commit'][:12]}`, seed {night['seed']}: a plan of"
    whose = "half by Claude Code, half by Codex, against scripted models"
    lines = ["## A night of real clients\n", f"{what} {night['lanes']} lanes, {whose}.\n"]
    lines += ["| | |", "|--:|---|", *(f"| {number} | {says} |" for number, says in rows)]
    return "\n".join(lines) + "\n"

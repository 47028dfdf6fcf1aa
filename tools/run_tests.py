"""Runs every test, then says which requirement rows were proved: what `make test` calls.

First the tests that share the machine, many at once; then those marked `alone`, one by one.
Arguments are handed to both runs of pytest; a run narrowed that way is not judged for rows.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from requirement_rows import (  # noqa: E402  # it lives with the tests, found by the line above
    Outcome,
    Row,
    named_ahead_of_claim,
    parse_manifest,
    parse_outcomes,
    proved_rows,
)

REPORT = ROOT / "build" / "requirement-outcomes.jsonl"
# One more than cores: a test that waits for a disk or a process leaves room for another.
WORKERS = (os.cpu_count() or 1) + 1
PARTS = {
    "together": ("-n", str(WORKERS), "-m", "not alone"),
    "alone": ("-n", "0", "-m", "alone"),
}
NO_TESTS_COLLECTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One run of pytest: how it ended and how long it took."""

    name: str
    status: int
    seconds: float


def main(extra: Sequence[str]) -> int:
    """Run both parts, print what was proved, and give the status to exit with."""
    REPORT.unlink(missing_ok=True)
    parts = [_run_part(name, arguments, extra) for name, arguments in PARTS.items()]
    rows = parse_manifest((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"))
    outcomes = _outcomes()
    proved = proved_rows(outcomes)
    skipped = skipped_rows(outcomes)
    unproved = () if extra else unproved_claims(rows, proved | skipped)
    print("\n".join(["", *table(rows, proved), ""]))
    print(_claims_line(unproved, narrowed=bool(extra)))
    print(f"skipped on this machine: {', '.join(sorted(skipped - proved)) or 'none'}")
    print(_ahead_line(rows, outcomes))
    print(*(f"{part.name}: {part.seconds:.1f} s, status {part.status}" for part in parts), sep="\n")
    print(closing_line(outcomes), flush=True)
    return exit_status(parts, unproved)


def _run_part(name: str, arguments: Iterable[str], extra: Iterable[str]) -> Part:
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    # pytest writes to our own stdout, so that its lines appear as they come.
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *extra, *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "STANDFAST_REQ_REPORT": str(REPORT),
            "PYTHONWARNDEFAULTENCODING": "1",  # text without an encoding is an error
        },
        check=False,
    )
    return Part(name=name, status=ended.returncode, seconds=time.monotonic() - started)


def _outcomes() -> tuple[Outcome, ...]:
    """Read what both parts wrote; a file that failed to load is reported by each, and is one."""
    text = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    return tuple(dict.fromkeys(parse_outcomes(text)))


def unproved_claims(rows: Iterable[Row], proved: frozenset[str]) -> tuple[str, ...]:
    """List the claimed rows that this run did not prove."""
    return tuple(row.id for row in rows if row.claimed != "no" and row.id not in proved)


def skipped_rows(outcomes: Iterable[Outcome]) -> frozenset[str]:
    """List the rows whose tests were all skipped: each says what this machine lacks."""
    results: dict[str, set[str]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            results.setdefault(row, set()).add(outcome.result)
    return frozenset(row for row, seen in results.items() if seen == {"skipped"})


def table(rows: Iterable[Row], proved: frozenset[str]) -> list[str]:
    """Draw one line per family: rows proved, rows claimed, rows in all."""
    everything = Counter(row.family for row in rows)
    claimed = Counter(row.family for row in rows if row.claimed != "no")
    shown = Counter(row.family for row in rows if row.id in proved)
    lines = [
        _table_line(family, str(shown[family]), str(claimed[family]), str(everything[family]))
        for family in everything
    ]
    totals = _table_line("all", str(shown.total()), str(claimed.total()), str(everything.total()))
    return [_table_line("family", "proved", "claimed", "rows"), *lines, totals]


def _table_line(family: str, *figures: str) -> str:
    return f"{family:<8}" + "".join(f"{figure:>9}" for figure in figures)


def _claims_line(unproved: Sequence[str], *, narrowed: bool) -> str:
    if narrowed:
        return "claimed rows: not judged, because arguments narrowed the run"
    return f"claimed but not proved: {', '.join(unproved) or 'none'}"


def _ahead_line(rows: Iterable[Row], outcomes: Iterable[Outcome]) -> str:
    named = {row for outcome in outcomes for row in outcome.rows}
    ahead = named_ahead_of_claim(rows, named)
    return f"named by a test, not claimed yet: {', '.join(ahead) or 'none'}"


def closing_line(outcomes: Iterable[Outcome]) -> str:
    """Give the totals of both parts in the one form that others may rely on."""
    count = Counter(outcome.result for outcome in outcomes)
    return f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"


def exit_status(parts: Sequence[Part], unproved: Sequence[str]) -> int:
    """Judge the run: pytest's own failure first, then claims without proof."""
    for part in parts:
        if part.status not in {0, NO_TESTS_COLLECTED}:
            return part.status if part.status > 0 else 1
    if all(part.status == NO_TESTS_COLLECTED for part in parts):
        return NO_TESTS_COLLECTED
    return 1 if unproved else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

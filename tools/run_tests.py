"""Runs one tier of the tests, `make test` or `make prove`, and says which rows were proved.

`test` is what any machine can tell, however busy it is: many tests at once, and none tried twice.
`prove` tries first the cases of sweeps that `test` left out, many at once, and then what needs the
machine to itself: ratios, deadlines, power cuts, storms. There a trial may be inconclusive; it is
done once more when the machine has come to rest, and then it counts.
More arguments are handed to pytest; a run narrowed that way is not judged for rows.
"""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
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

BUILD = ROOT / "build"
KEPT = BUILD / "prove"  # what trials that failed leave to look at
# One more than cores: a test that waits for a disk or a process leaves room for another.
WORKERS = (os.cpu_count() or 1) + 1
AT_ONCE = ("-n", str(WORKERS), "--dist=worksteal")
TIERS = {
    "test": ((*AT_ONCE, "-m", "not prove"),),
    "prove": ((*AT_ONCE, "-m", "prove and sweep"), ("-n", "0", "-m", "prove and not sweep")),
}
REST_S = 120  # what a loaded machine is given to come to rest
TESTS_FAILED, NO_TESTS_COLLECTED = 1, 5


def main(tier: str, extra: Sequence[str]) -> int:
    """Run a tier, print what was proved, and give the status to exit with."""
    began = time.monotonic()
    if tier == "test":  # a run begins with it: what an earlier one proved is no proof
        _report("prove").unlink(missing_ok=True)
    else:
        shutil.rmtree(KEPT, ignore_errors=True)
    status, outcomes = _tried(tier, extra)
    rows = parse_manifest((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"))
    everything = (*outcomes, *(each for other in TIERS if other != tier for each in _read(other)))
    proved = proved_rows(everything)
    skipped = skipped_rows(everything)
    lacking = () if extra else unproved_claims(rows, proved | skipped)
    is_judged = not extra and all(_report(each).exists() for each in TIERS)
    print("\n".join(["", *table(rows, proved), ""]))
    print(_claims_line(lacking, narrowed=bool(extra), is_judged=is_judged))
    print(f"skipped on this machine: {', '.join(sorted(skipped - proved)) or 'none'}")
    print(_ahead_line(rows, everything))
    print(f"{tier}: {time.monotonic() - began:.1f} s, status {status}")
    print(closing_line(outcomes), flush=True)
    return status or int(is_judged and bool(lacking))


def _tried(tier: str, extra: Sequence[str]) -> tuple[int, tuple[Outcome, ...]]:
    """Run the tests, the inconclusive ones twice; the second time is what counts."""
    _report(tier).unlink(missing_ok=True)
    statuses = {_run_pytest(tier, (*extra, *part)) for part in TIERS[tier]}
    status = max(statuses - {NO_TESTS_COLLECTED}, default=NO_TESTS_COLLECTED)
    outcomes = _read(tier)
    doubtful = [each.test for each in outcomes if each.result == "inconclusive"]
    if not doubtful:
        return status, outcomes
    rest()
    _report(tier).unlink()
    again = _run_pytest(tier, ("-n", "0", *doubtful), {"STANDFAST_LAST_TRY": "1"})
    had_failures = any(each.result == "failed" for each in outcomes)
    told = {each.test: each for each in (*outcomes, *_read(tier))}
    first = 0 if status == TESTS_FAILED and not had_failures else status
    return first or again, tuple(told.values())


def _run_pytest(tier: str, arguments: Iterable[str], also: dict[str, str] | None = None) -> int:
    # pytest writes to our own stdout, so that its lines appear as they come.
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "STANDFAST_REQ_REPORT": str(_report(tier)),
            "STANDFAST_KEPT_TRIALS": str(KEPT),
            "PYTHONWARNDEFAULTENCODING": "1",  # text without an encoding is an error
            **(also or {}),
        },
        check=False,
    )
    return ended.returncode if ended.returncode >= 0 else 1


def rest() -> None:
    """Wait until the machine has time, at most two minutes."""
    until = time.monotonic() + REST_S
    print("\n== inconclusive: once more, when the machine has come to rest", flush=True)
    while os.getloadavg()[0] >= (os.cpu_count() or 1) and time.monotonic() < until:
        time.sleep(1)


def _report(tier: str) -> Path:
    return BUILD / f"outcomes-{tier}.jsonl"


def _read(tier: str) -> tuple[Outcome, ...]:
    report = _report(tier)
    return parse_outcomes(report.read_text(encoding="utf-8")) if report.exists() else ()


def unproved_claims(rows: Iterable[Row], proved: frozenset[str]) -> tuple[str, ...]:
    """List the claimed rows that were not proved."""
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


def _claims_line(lacking: Sequence[str], *, narrowed: bool, is_judged: bool) -> str:
    if narrowed:
        return "claimed rows: not judged, because arguments narrowed the run"
    named = ", ".join(lacking) or "none"
    return f"claimed but not proved: {named}" if is_judged else f"left to the other tier: {named}"


def _ahead_line(rows: Iterable[Row], outcomes: Iterable[Outcome]) -> str:
    named = {row for outcome in outcomes for row in outcome.rows}
    ahead = named_ahead_of_claim(rows, named)
    return f"named by a test, not claimed yet: {', '.join(ahead) or 'none'}"


def closing_line(outcomes: Iterable[Outcome]) -> str:
    """Give the totals in the one form that others may rely on."""
    count = Counter(outcome.result for outcome in outcomes)
    return f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in TIERS:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    sys.exit(f"run_tests.py {'|'.join(TIERS)} [what pytest takes]")

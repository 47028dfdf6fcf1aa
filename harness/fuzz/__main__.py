"""`make fuzz`: every target for its share of the time, and a table of what came of it."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import time
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from harness.fuzz.findings import Finding, Search, problem_of
from harness.fuzz.mutation import cuts, mutants
from harness.fuzz.target import SCRATCH, scratch
from harness.fuzz.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.fuzz.target import Target

FOLDER = os.path.join("build", "fuzz")
_TRIED = re.compile(r"stat::number_of_executed_units: *(\d+)")


class Result(NamedTuple):
    """One row of the table."""

    target: Target
    tried: int
    seconds: float
    findings: list[Finding]
    trouble: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Fuzz what was asked for; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="standfast-fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--input", help="run the target on this file only")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    options = parser.parse_args(argv)
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {', '.join(unknown)}")
    chosen = [TARGETS[name] for name in options.targets or TARGETS]
    if options.input is not None:
        return _again(chosen, options.input)
    guided = importlib.util.find_spec("atheris") is not None
    print("guided by coverage (atheris)" if guided else "from a seed; atheris is not installed")
    share = options.seconds / len(chosen)
    results = [(_guided if guided else _seeded)(target, share, options.seed) for target in chosen]
    return _tell(results, options.seed)


def _again(chosen: Sequence[Target], path: str) -> int:
    with open(path, "rb") as file:
        data = file.read()
    problems = [f"{target.name}: {problem_of(target, data) or 'true'}" for target in chosen]
    print("\n".join(problems))
    return 0 if all(line.endswith(": true") for line in problems) else 1


def _seeded(target: Target, seconds: float, seed: int) -> Result:
    search = Search(target, FOLDER)
    began = time.perf_counter()
    dice = random.Random(f"{target.name} {seed}")
    for data in chain(cuts(target.starts()), mutants(target.starts(), dice)):
        search.attempt(data)
        if time.perf_counter() - began > seconds:
            break
    spent = time.perf_counter() - began
    return Result(target, search.tried, spent, list(search.findings.values()))


def _guided(target: Target, seconds: float, seed: int) -> Result:
    script = os.path.join(os.path.dirname(__file__), "guided.py")
    whole = max(1, round(seconds))  # libFuzzer counts in seconds
    with scratch(target.name) as within:
        done = subprocess.run(
            [sys.executable, "-P", script, target.name, str(whole), str(seed), FOLDER],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, SCRATCH: within},
            check=False,
        )
    tried = _TRIED.search(done.stderr)
    findings = [Finding(*json.loads(line)) for line in done.stdout.splitlines()]
    last = done.stderr.strip().rpartition("\n")[2]
    trouble = "" if tried and not done.returncode else f"atheris ended with {last:.200}"
    return Result(target, int(tried[1]) if tried else 0, whole, findings, trouble)


def _tell(results: Sequence[Result], seed: int) -> int:
    widest = max(len(result.target.name) for result in results)
    print(f"{'target':{widest}}  {'executions':>10}  {'per second':>10}  findings")
    for target, tried, seconds, findings, trouble in results:
        row = f"{tried:>10,}  {tried / seconds:>10,.0f}  {len(findings):>8}"
        print(f"{target.name:{widest}}  {row}  {trouble}".rstrip())
    found = [finding for result in results for finding in result.findings]
    total = sum(result.tried for result in results)
    print(f"\nseed {seed}: {total:,} executions, {len(found)} findings")
    for finding in found:
        print(finding)
    return 1 if found or any(result.trouble for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

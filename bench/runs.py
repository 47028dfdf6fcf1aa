"""What a lane of a run costs when its agent does nothing: beside the same work by hand in git.

Every lane is taken to its merge. By hand means: a worktree, the agent, a commit, a merge and the
worktree gone, one after the other, with nothing recorded and nothing synced.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter
from typing import TYPE_CHECKING, TypedDict

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZES, QUICK_SIZES = (10, 100, 1000), (4, 12)
BY_HAND = 50
FILES = 50  # no more, so that the work of a lane stays the same
AGENT = f'n=${{STANDFAST_LANE#L}} && echo "$n" > "$((n % {FILES})).txt"'
HAND = """\
set -e
for n in $(seq "$1"); do
  git worktree add -q -b "lane-$n" "../trees/$n" main
  (cd "../trees/$n" && STANDFAST_LANE=$n sh -c "$2" && git add . && git commit -qm "lane $n")
  git merge -q --no-edit "lane-$n"
  git worktree remove "../trees/$n"
  git branch -qd "lane-$n"
done
"""
RUN = """\
import json, resource, sys
from standfast.surfaces.cli.entry import main
status = main(sys.argv[1:])
own, git = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
spent = [used.ru_utime + used.ru_stime for used in (own, git)]
print(json.dumps({"status": status, "own_s": spent[0], "git_s": spent[1], "kb": own.ru_maxrss}))
"""


class Figures(TypedDict):
    """Of one run, for each of its lanes; memory is of the orchestrator at its largest."""

    lanes: int
    ms: float
    own_cpu_ms: float
    git_cpu_ms: float
    memory_mb: float


def measure(folder: Path, *, quick: bool, say: Callable[[str], None]) -> dict[str, object]:
    """By hand, then runs of more and more lanes."""
    hand = 4 if quick else BY_HAND
    say(f"{hand} lanes by hand")
    found = {"by_hand_ms": _by_hand(folder / "hand", hand)}
    runs = []
    for lanes in QUICK_SIZES if quick else SIZES:
        say(f"a run of {lanes:,} lanes")
        runs.append(_run(folder / f"run-{lanes}", lanes))
    return {**found, "runs": runs}


def _repository(folder: Path) -> Path:
    repository = folder / "repository"
    repository.mkdir(parents=True)
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Bench"),
        ("config", "user.email", "bench@example.org"),
        ("commit", "-q", "--allow-empty", "-m", "begin"),
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    return repository


def _by_hand(folder: Path, lanes: int) -> float:
    argv = ["sh", "-c", HAND, "sh", str(lanes), AGENT]
    repository = _repository(folder)
    began = perf_counter()
    subprocess.run(argv, cwd=repository, check=True)
    return round((perf_counter() - began) * 1000 / lanes, 1)


def _run(folder: Path, lanes: int) -> Figures:
    repository = _repository(folder)
    settings = folder / "config" / "standfast" / "config.yaml"
    settings.parent.mkdir(parents=True)
    runner = {"runner": "noop", "runners": {"noop": {"command": ["sh", "-c", AGENT]}}}
    settings.write_text(json.dumps(runner), encoding="utf-8")
    plan = folder / "plan.yaml"
    plan.write_text(
        json.dumps({"lanes": {f"L{number}": "Do it." for number in range(lanes)}}), encoding="utf-8"
    )
    env = {
        **os.environ,
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    argv = [sys.executable, "-c", RUN, "run", str(plan)]
    began = perf_counter()
    done = subprocess.run(
        argv, cwd=repository, env=env, capture_output=True, encoding="utf-8", check=False
    )
    took = perf_counter() - began
    said = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {"status": done.stderr}
    if said["status"] != 0:
        raise SystemExit(f"a run of {lanes} lanes did not end well: {said['status']}")
    return {
        "lanes": lanes,
        "ms": round(took * 1000 / lanes, 1),
        "own_cpu_ms": round(said["own_s"] * 1000 / lanes, 1),
        "git_cpu_ms": round(said["git_s"] * 1000 / lanes, 1),
        "memory_mb": round(said["kb"] / 1024, 1),
    }


def show(figures: dict[str, object]) -> None:
    """A table: what each lane takes, and the memory of the process that leads them all."""
    table = Table(
        title="\nOne lane of a run, its agent does nothing", title_justify="left", box=None,
        padding=(0, 2, 0, 0),
    )  # fmt: skip
    for heading in ("", "time", "own CPU", "CPU of git", "memory"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_row("by hand in git, in turn", f"{figures['by_hand_ms']} ms", "", "", "")
    runs = figures["runs"]
    assert isinstance(runs, list)
    for each in runs:
        spent = [f"{each[key]} ms" for key in ("ms", "own_cpu_ms", "git_cpu_ms")]
        table.add_row(f"run of {each['lanes']:,} lanes", *spent, f"{each['memory_mb']} MB")
    Console().print(table)

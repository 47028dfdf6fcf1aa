"""What a lane of a run costs the orchestrator itself: as much with a thousand lanes as with ten."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from lane_runs import build
from planted_runs import plant
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.runs.records import run_records

MANY, FEW = 1000, 20
OWN = """
import json, resource, sys
from standfast.surfaces.cli.entry import main
status = main(["resume"])
used = resource.getrusage(resource.RUSAGE_SELF)
seconds = used.ru_utime + used.ru_stime
print(json.dumps({"status": status, "seconds": seconds, "kilobytes": used.ru_maxrss}))
"""


def own_cost(folder: Path, lanes: int) -> tuple[float, int]:
    """CPU seconds of the orchestrator alone for its last ten lanes, and its memory in KB."""
    repo = build(folder).repo
    plant(repo, lanes, lanes - FEW)
    done = subprocess.run(
        [sys.executable, "-c", OWN], cwd=repo, check=True, capture_output=True, encoding="utf-8"
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["status"] == 0
    face = repo / ".claude/ai-dev-kit/run-logs/checkpoints.json"
    records = json.loads(face.read_text(encoding="utf-8"))
    assert len(records) == 4 * (lanes + 1), "the face of many lanes is kept too"
    return found["seconds"], found["kilobytes"]


@pytest.mark.ratio
@pytest.mark.prove
@pytest.mark.req("PERF-06")
def test_lane_costs_the_orchestrator_as_much_among_a_thousand_as_among_ten(tmp_path: Path) -> None:
    seen = []
    for attempt in range(3):
        few, small = own_cost(tmp_path / f"few-{attempt}", FEW)
        many, large = own_cost(tmp_path / f"many-{attempt}", MANY)
        seen.append((round(many / few, 2), round(large / small, 2)))
        if many <= 1.5 * few and large <= 1.5 * small:
            return
    raise AssertionError(f"cost and memory of many against few: {seen}")


@pytest.mark.ratio
@pytest.mark.prove
@pytest.mark.req("PERF-07")
def test_status_takes_no_notice_of_a_thousand_lanes_that_are_done(tmp_path: Path) -> None:
    few, many = (past(tmp_path / str(lanes), lanes) for lanes in (FEW, MANY))
    seen = []
    for _ in range(6):
        seen.append(round(status_cost(many) / status_cost(few), 2))
        if seen[-1] <= 1.5:
            return
    raise AssertionError(f"status after many lanes against few: {seen}")


def past(folder: Path, lanes: int) -> Path:
    """A repository with a run that was taken to its end."""
    repo = build(folder).repo
    plant(repo, lanes, lanes)
    journal = Journal(str(repo / ".git" / "standfast"))
    with journal.writing() as tx:
        run_records.tell(tx, "big", run_records.DONE, USER)
    journal.close()
    return repo


def status_cost(repo: Path) -> float:
    """CPU seconds of `standfast status`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "standfast", "status"], cwd=repo, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert b"big" not in done.stdout
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

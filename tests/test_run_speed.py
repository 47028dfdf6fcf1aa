"""What a lane of a run costs the orchestrator itself: as much with a thousand lanes as with ten."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lane_runs import build
from standfast.journal import checkpoints as recorded
from standfast.journal import lane_steps as told
from standfast.journal import runs
from standfast.journal.author import USER
from standfast.journal.runs import Run
from standfast.journal.store import Journal
from standfast.protocol import checkpoints as cp
from standfast.protocol import lane_steps
from standfast.protocol.lane_spec import Spec, Task

MANY, FEW = 1000, 20
OWN = """
import json, resource, sys
from standfast.surfaces.cli import main
status = main(["resume"])
used = resource.getrusage(resource.RUSAGE_SELF)
seconds = used.ru_utime + used.ru_stime
print(json.dumps({"status": status, "seconds": seconds, "kilobytes": used.ru_maxrss}))
"""


def spec(repo: Path, number: int) -> Spec:
    lane = f"L{number}"
    tree = f"{repo}/.worktrees/big/P1/{lane}"
    return Spec("big", "P1", lane, "main", f"lane/big/P1/{lane}", tree, "true", (Task("one", "?"),))


def plant(repo: Path, lanes: int, done: int) -> None:
    """A run of so many lanes, of which so many are done."""
    journal = Journal(str(repo / ".git" / "standfast"))
    specs = [spec(repo, number) for number in range(lanes)]
    phase = ("P1", "", tuple((each.lane, ()) for each in specs))
    run = Run("big", "plan.yaml", "-", "main", (phase,), 4, False, None, "")
    with journal.writing() as tx:
        runs.plan(tx, run, specs, USER)
        for each in specs[:done]:
            for stage, status in ((cp.BEFORE, cp.READY), (cp.STARTED, cp.IN_PROGRESS)):
                recorded.upsert(tx, record(each, stage, status), USER)
            told.tell(tx, each, "task-one", 1, lane_steps.OK, USER, {"head": "0" * 40})
            recorded.upsert(tx, record(each, cp.TESTED, cp.COMPLETE), USER)
            recorded.upsert(tx, record(each, cp.PRE_PR, cp.READY), USER)
            recorded.upsert(tx, record(each, cp.PRE_PR, cp.COMPLETE), USER)
            told.tell(tx, each, lane_steps.RETIRE, 1, lane_steps.OK, USER, {"stays": ""})
    journal.close()


def record(lane: Spec, stage: str, status: str) -> cp.Record:
    return {
        "run_id": "big", "phase": "P1", "lane": lane.lane, "stage": stage, "status": status,
        "base_branch": "main", "worktree_path": lane.worktree, "log_path": "/log",
        "timestamp": "2026-01-02T03:04:05Z", "notes": "", "resume_hint": "", "rollback_hint": "",
    }  # fmt: skip


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


@pytest.mark.alone
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

"""What a lane of a run costs the orchestrator itself: as much with a thousand lanes as with ten."""

import hashlib
import json
import os
import resource
import subprocess
import sys
import zlib
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
from standfast.run import vouching
from standfast.run.vouching import Where

MANY, FEW = 1000, 20
OBJECTS = 6  # as a lane with one file leaves them
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
    here = Where(os.environ["XDG_STATE_HOME"], str(repo / ".git" / "standfast"), str(repo), ())
    vouching.vouch(here, vouching.as_kept(specs), (), "user")
    leave_objects(repo, OBJECTS * done)


def leave_objects(repo: Path, number: int) -> None:
    """What lanes that are done leave in the repository: commits, trees and files, loose."""
    for each in range(number):
        data = b"blob 4\0%04d" % each
        name = hashlib.sha1(data).hexdigest()
        path = repo / ".git" / "objects" / name[:2] / name[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.compress(data))


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
        runs.tell(tx, "big", runs.DONE, USER)
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

"""A run of many lanes, some of them done, as its journal has it: none of them was ever run."""

import hashlib
import os
import zlib
from pathlib import Path

from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.plans.lane_spec import Spec, Task
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs import vouched_lanes
from standfast.runs.records import lane_records as told
from standfast.runs.records import run_records
from standfast.runs.records.run_records import Run
from standfast.runs.rules import lane_steps
from standfast.runs.vouched_lanes import Where

OBJECTS = 6  # as a lane with one file leaves them


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
        run_records.plan(tx, run, specs, USER)
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
    vouched_lanes.vouch(here, vouched_lanes.as_kept(specs), (), "user")
    _leave_objects(repo, OBJECTS * done)


def _leave_objects(repo: Path, number: int) -> None:
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

"""Landing a lane: brought up to date with its base, then merged once, or a pull request made.

New commits are made as objects alone; only then is anything moved, and always from a place that is
named to a place that is named. So a death in between leaves nothing that the next call could not
tell apart, and what somebody merged meanwhile is found, not repeated.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from standfast.git import advancing, branches, replay, worktrees
from standfast.journal import lane_steps as told
from standfast.journal import locks
from standfast.lane_errors import BaseMoved, BaseRefused
from standfast.protocol import checkpoints as cp
from standfast.protocol import lane_prompt, lane_spec, lane_steps
from standfast.protocol.text import a_few
from standfast.run import moving, owning, requesting, stock
from standfast.run.checking import is_new, tip
from standfast.run.pre_pr import block, complete, listed, ready
from standfast.run.starting import base_commit
from standfast.run.working import log, recording, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocol.lane_steps import Next, Standing
    from standfast.run.working import Work

LOCK = "merge.lock"


def land(work: Work, lane: Standing, _next: Next) -> None:
    """Merge the lane, or make its pull request, or leave it, as it was asked."""
    if not requesting.is_open(lane) and is_new(work, lane):
        return
    if work.spec.merge == lane_spec.NONE:
        complete(work, tip(work, lane), "not merged, as it was asked")
        return
    if requesting.is_open(lane):
        requesting.request(work, lane)
        return
    with _turn(work):
        ready_to_go = _bring_up_to_date(work, lane)
        if ready_to_go is None:
            return
        if work.spec.merge != lane_spec.PR:
            _merge(work, *ready_to_go)
            return
    requesting.request(work, lane)


@contextmanager
def _turn(work: Work) -> Iterator[None]:
    """One lane at a time; the others wait, however long it takes."""
    path = os.path.join(work.journal.folder, LOCK)
    fd = locks.open_lock(path)
    if not locks.try_lock(fd):
        os.close(fd)
        work.tell("another lane is landing: this one waits for its turn")
        fd = locks.take(path)
    try:
        yield
    finally:
        os.close(fd)


def _bring_up_to_date(work: Work, lane: Standing) -> tuple[str, str] | None:
    """Put the lane's commits on top of its base; gives both, or None if that holds all already."""
    spec, git = work.spec, work.git
    now, base = tip(work, lane), base_commit(git, spec.base)
    if replay.holds(git, base, now):
        complete(work, now, f"{spec.base} has all of it already")
        return None
    made = replay.replay(git, now, base)
    if made.conflicts:
        why = f"it conflicts with {spec.base} in {a_few(made.conflicts)}"
        remedy = (
            f"Merge or rebase {spec.base} in {spec.worktree}, commit that, then resume the lane."
        )
        block(work, now, why, event="merge_conflict", remedy=remedy)
    with recording(work) as tx:
        tested = str(lane.marks[cp.TESTED].record.get("head_sha") or "")
        about = {"from": now, "to": made.tip, "tested": tested}
        number = told.last_number(work.journal, spec, lane_steps.REBASE) + 1
        step(work, tx, lane_steps.REBASE, number, lane_steps.BEGUN, about)
    moving.move(work, now, made.tip)
    if not lane.is_at(cp.PRE_PR, cp.READY):
        log(work, "lane_ready_to_merge", notes=f"{made.tip[:12]} on {spec.base} {base[:12]}")
    return base, made.tip


def _merge(work: Work, base: str, now: str) -> None:
    spec, git = work.spec, work.git
    title = f"Merge lane {spec.lane} of {spec.phase}: {lane_prompt.title(spec, spec.tasks[0])}"
    new = replay.join(git, base, now, title) if spec.merge == lane_spec.NO_FF else now
    commits = listed(work, base, now)
    with recording(work) as tx:
        ready(work, tx, now, base, commits)
        number = told.last_number(work.journal, spec, lane_steps.MERGE) + 1
        step(work, tx, lane_steps.MERGE, number, lane_steps.BEGUN, {"old": base, "new": new})
    log(work, "merge_start", notes=f"{spec.base} {base[:12]} to {new[:12]}")
    try:
        advancing.advance(git, spec.base, base, new)
    except BaseMoved as moved:
        work.tell(f"{moved.problem}: once more")
        return  # the next look finds it as it is now
    except BaseRefused as refused:
        where = f" ({refused.file})" if refused.file else ""
        remedy = (
            f"Put your changes there away, or merge {spec.branch} there yourself; then resume the"
            " lane."
        )
        block(work, now, f"{refused.problem}{where}", event="lane_blocked", remedy=remedy)
    complete(work, now, f"merged into {spec.base} as {new}")
    log(work, "merge_done", notes=f"{spec.base} is at {new[:12]}")


def retire(work: Work, lane: Standing, _next: Next) -> None:
    """Put the worktree away if nothing in it can be lost, and with it a branch that is merged."""
    spec, git, outside = work.spec, work.git, owning.outside(work, lane)
    stays = "it was not merged" if spec.merge == lane_spec.NONE else None
    if stays is None:
        stays = worktrees.remove(git, spec.worktree, stock.made(work))
    if stays is None and spec.merge in (lane_spec.FF, lane_spec.NO_FF):
        branches.delete_merged(git, spec.branch, spec.base)
    with recording(work) as tx:
        facts = {"stays": stays or "", "outside": outside}
        number = told.last_number(work.journal, spec, lane_steps.RETIRE) + 1
        step(work, tx, lane_steps.RETIRE, number, lane_steps.OK, facts)
    if stays:
        work.tell(f"the worktree stays, {stays}: {spec.worktree}")
    if outside:
        work.tell(lane_steps.outside_said(outside))

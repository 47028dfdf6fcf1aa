"""Landing a lane: brought up to date with its base, then merged once, or a pull request made.

New commits are made as objects alone; only then is anything moved, and always from a place that is
named to a place that is named. So a death in between leaves nothing that the next call could not
tell apart, and what somebody merged meanwhile is found, not repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from standfast.errors.lanes import BaseMoved, BaseRefused
from standfast.git import branch_advance, branches, replay, worktrees
from standfast.plans import lane_spec
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs import baseline
from standfast.runs.lanes import (
    base_history,
    base_retest,
    branch_reset,
    clean_worktree,
    merge_turns,
    ownership,
    pull_request,
    setup_leftovers,
    shared_settings,
    unfinished_merge,
)
from standfast.runs.lanes.lane_context import log, recording, step
from standfast.runs.lanes.lane_start import base_commit, see_to_worktree
from standfast.runs.lanes.lane_tests import is_new, tip
from standfast.runs.lanes.pre_pr import block, complete, listed, ready
from standfast.runs.records import lane_records as told
from standfast.runs.rules import lane_steps, prompt, retest_rules
from standfast.text import a_few

if TYPE_CHECKING:
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Next, Standing

MOST_MOVES = 3


def land(work: Work, lane: Standing, _next: Next) -> None:
    """Merge the lane, or make its pull request, or leave it, as it was asked."""
    if pull_request.is_open(lane):
        pull_request.request(work, lane)
        return
    if not base_retest.is_begun(lane) and is_new(work, lane):
        return
    if work.spec.merge == lane_spec.NONE:
        complete(work, tip(work, lane), "not merged, as it was asked")
        return
    if work.spec.merge == lane_spec.PR:
        _request(work, lane)
        return
    with merge_turns.turn(work):
        while _lands_later(work):
            continue


def _request(work: Work, lane: Standing) -> None:
    """The branch is the lane's own: only bringing it up to date is done in turn."""
    if base_retest.is_begun(lane) and (
        not base_retest.finish(work) or is_new(work, work.standing())
    ):
        return
    with merge_turns.turn(work):
        found = _bring_up_to_date(work, work.standing())
    if found is not None and base_retest.passes(work, *found) and not _is_late(work):
        pull_request.request(work, work.standing(), found[0])


def _lands_later(work: Work) -> bool:
    """Bring it up to date, test that, merge it; True if that has to be looked at once more.

    A run of the tests that was begun is waited for first: the worktree is theirs until then.
    """
    lane = work.standing()
    if base_retest.is_begun(lane):
        return base_retest.finish(work) and not is_new(work, work.standing())
    found = _bring_up_to_date(work, lane)
    if found is None or not base_retest.passes(work, *found):
        return False
    return not _is_late(work) and _merge(work, *found)


def _is_late(work: Work) -> bool:
    """Whether somebody committed under the retest, which is not of that."""
    return retest_rules.is_wanted(work.spec) and is_new(work, work.standing())


def _bring_up_to_date(work: Work, lane: Standing) -> tuple[str, str] | None:
    """Put the lane's commits on top of its base; gives both, or None if that holds all already."""
    spec, git = work.spec, work.git
    known = base_history.known(work)
    now, base = tip(work, lane), base_commit(git, spec.base)
    _refuse_steered(work, now)
    gone = base_history.rewritten(work, base, known)
    if gone is not None:
        _refuse_base(work, now, base_history.rewritten_said(work, base, gone))
    strange = base_history.moved(work, lane, base)
    if strange is not None:
        _refuse_base(work, now, strange)
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
        about = {"from": now, "to": made.tip, "tested": tested, "base": base}
        number = told.last_number(work.journal, spec, lane_steps.REBASE) + 1
        state = lane_steps.OK if now == made.tip else lane_steps.BEGUN
        step(work, tx, lane_steps.REBASE, number, state, about)
    branch_reset.move(work, now, made.tip)
    if state == lane_steps.BEGUN:
        with recording(work) as tx:
            step(work, tx, lane_steps.REBASE, number, lane_steps.OK, about)
    if not lane.is_at(cp.PRE_PR, cp.READY):
        log(work, "lane_ready_to_merge", notes=f"{made.tip[:12]} on {spec.base} {base[:12]}")
    return base, made.tip


def is_moving(lane: Standing) -> bool:
    """Whether a call died while it brought the lane up to date: its files may be torn.

    Versions before told no end of that, and not of which base it was.
    """
    known = lane.steps.get(lane_steps.REBASE)
    return known is not None and known.state == lane_steps.BEGUN and "base" in known.facts


def settle(work: Work, lane: Standing) -> None:
    """End what a dead call began to write: the worktree is as its branch has it, and durable."""
    see_to_worktree(work, lane)
    clean_worktree.clean(work, lane)
    branch_reset.sync(work.tree, "HEAD")
    known = lane.steps[lane_steps.REBASE]
    with recording(work) as tx:
        step(work, tx, lane_steps.REBASE, known.number, lane_steps.OK, known.facts)


def _refuse_base(work: Work, head: str, why: str) -> NoReturn:
    block(work, head, why, event="lane_blocked", remedy=base_history.way_back(work))


def _refuse_steered(work: Work, head: str) -> None:
    why = shared_settings.steered(work)
    if why is not None:
        block(work, head, why, event="lane_blocked", remedy=shared_settings.way_back(work))


def _merge(work: Work, base: str, now: str) -> bool:
    """Move the base; True if somebody was faster."""
    spec, git = work.spec, work.git
    _refuse_steered(work, now)  # agents of other lanes were at work while it was tested
    title = f"Merge lane {spec.lane} of {spec.phase}: {prompt.title(spec, spec.tasks[0])}"
    new = replay.join(git, base, now, title) if spec.merge == lane_spec.NO_FF else now
    commits, moved = listed(work, base, now), _moved(work)
    with recording(work) as tx:
        ready(work, tx, now, base, commits)
        number = told.last_number(work.journal, spec, lane_steps.MERGE) + 1
        said = {"old": base, "new": new, "base": spec.base, "moved": moved}
        step(work, tx, lane_steps.MERGE, number, lane_steps.BEGUN, said)
    log(work, "merge_start", notes=f"{spec.base} {base[:12]} to {new[:12]}")
    try:
        unlike = branch_advance.advance(git, spec.base, base, new)
    except BaseMoved as moved:
        _refuse_moved(work, number, now, moved.problem)
        return True  # the next look finds it as it is now
    except BaseRefused as refused:
        unfinished_merge.refuse(work, now, refused)
    left = f"in its checkout is not as {spec.base} has it: {a_few(unlike)}" if unlike else ""
    words = (f"merged into {spec.base} as {new}", *_said(work), left)
    complete(work, now, "; ".join(filter(None, words)))
    log(work, "merge_done", notes="; ".join(filter(None, (f"{spec.base} is at {new[:12]}", left))))
    return False


def _said(work: Work) -> tuple[str, ...]:
    """What is to be known of a merge beside that it was made."""
    is_untested = work.spec.test and work.spec.retest == lane_spec.NEVER
    return lane_steps.flaky(work.standing()), lane_steps.NOT_RETESTED if is_untested else ""


def _moved(work: Work) -> str:
    """How often in turn somebody moved the base while the lane was on its way there."""
    known = work.standing().steps.get(lane_steps.MERGE)
    return known.facts.get("moved", "0") if known is not None else "0"


def _refuse_moved(work: Work, number: int, head: str, problem: str) -> None:
    """Once more, but not for ever: whoever moves it that often has to let the lane in."""
    count = int(_moved(work)) + 1
    is_last = count >= MOST_MOVES
    with recording(work) as tx:
        facts = {"moved": "0" if is_last else str(count)}
        step(work, tx, lane_steps.MERGE, number, lane_steps.MOVED, facts)
    if not is_last:
        work.tell(f"{problem}: once more")
        return
    why = f"{work.spec.base} was moved by others {count} times while the lane was about to land"
    remedy = f"Resume the lane when nobody works on {work.spec.base}."
    block(work, head, why, event="lane_blocked", remedy=remedy)


def retire(work: Work, lane: Standing, _next: Next) -> None:
    """Put the worktree away if nothing in it can be lost, and with it a branch that is merged."""
    spec, git, outside = work.spec, work.git, ownership.outside(work, lane)
    stays = "it was not merged" if spec.merge == lane_spec.NONE else None
    if stays is None:
        stays = worktrees.remove(git, spec.worktree, setup_leftovers.made(work))
    if stays is None and spec.merge in (lane_spec.FF, lane_spec.NO_FF):
        branches.delete_merged(git, spec.branch, spec.base)
    if lane_steps.RETEST in lane.steps:
        baseline.clear_alone(work)
    with recording(work) as tx:
        facts = {"stays": stays or "", "outside": outside}
        number = told.last_number(work.journal, spec, lane_steps.RETIRE) + 1
        step(work, tx, lane_steps.RETIRE, number, lane_steps.OK, facts)
    if stays:
        work.tell(f"the worktree stays, {stays}: {spec.worktree}")
    if outside:
        work.tell(lane_steps.outside_said(outside))

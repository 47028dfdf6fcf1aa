"""A merge that was begun and of which nobody saw the end: ended first, whatever the lane does next.

That the base holds the lane is not all of it: the index of a person's checkout comes after the
branch, and what was written before it may be half there. Both are put right here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from standfast.errors.lanes import BaseRefused
from standfast.git import branch_advance
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes import merge_turns
from standfast.runs.lanes.lane_context import log, recording, step
from standfast.runs.lanes.pre_pr import block
from standfast.runs.rules import lane_steps

if TYPE_CHECKING:
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing


def is_left(lane: Standing) -> bool:
    """Whether a call died, or was refused, between the word that it merges and the end of that."""
    known = lane.steps.get(lane_steps.MERGE)
    is_begun = known is not None and known.state == lane_steps.BEGUN
    return is_begun and not lane.is_at(cp.PRE_PR, cp.COMPLETE)


def end(work: Work, lane: Standing) -> None:
    """Finish it where the base has been moved; else the checkouts are as they were before."""
    known = lane.steps[lane_steps.MERGE]
    with merge_turns.turn(work):
        try:
            branch_advance.end_begun(work.git, work.spec.base)
        except BaseRefused as refused:
            refuse(work, str(lane.marks[cp.PRE_PR].record.get("head_sha") or ""), refused)
        has_landed = _has_landed(work, known.facts.get("new", ""))
    # A commit to which the base was not moved is none that it must hold.
    facts = known.facts if has_landed else {"moved": known.facts.get("moved", "0")}
    state = lane_steps.OK if has_landed else lane_steps.ENDED
    with recording(work) as tx:
        step(work, tx, lane_steps.MERGE, known.number, state, facts)
    if has_landed:
        log(work, "merge_done", notes=f"{work.spec.base} has {facts['new'][:12]}")


def _has_landed(work: Work, new: str) -> bool:
    base = work.git.resolve(f"refs/heads/{work.spec.base}")
    return bool(new and base) and work.git.is_ancestor(new, str(base))


def refuse(work: Work, head: str, refused: BaseRefused) -> NoReturn:
    """What stands in the way is a person's, and they are told where it is."""
    where = f" ({refused.file})" if refused.file else ""
    remedy = (
        f"Put your changes there away, or merge {work.spec.branch} there yourself; then resume the"
        " lane."
    )
    block(work, head, f"{refused.problem}{where}", event="lane_blocked", remedy=remedy)

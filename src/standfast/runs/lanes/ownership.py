"""Files that a lane changed and does not own: told at its end, for no rule of a plan is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import StandfastError
from standfast.git.command import names
from standfast.plans.checks.owned_patterns import outside as not_owned
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.text import a_few

if TYPE_CHECKING:
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing


def outside(work: Work, lane: Standing) -> str:
    """Their names, the first few of them; what cannot be read any more holds no lane up."""
    record = lane.marks[cp.PRE_PR].record
    base, head = record.get("base_sha"), record.get("head_sha")
    if not (work.spec.owns and base and head):
        return ""
    try:
        changed = work.git.read(
            "diff-tree", "-r", "-z", "--name-only", "--merge-base", str(base), str(head)
        )
    except StandfastError:
        return ""
    found = not_owned(names(changed), work.spec.owns)
    return a_few(found)

"""Files that a lane changed and does not own: told at its end, for no rule of a plan is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import StandfastError
from standfast.git import names
from standfast.protocol import checkpoints as cp
from standfast.protocol.plan_patterns import outside as not_owned
from standfast.protocol.text import a_few

if TYPE_CHECKING:
    from standfast.protocol.lane_steps import Standing
    from standfast.run.working import Work


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

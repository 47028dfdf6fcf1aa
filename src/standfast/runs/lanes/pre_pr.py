"""The last checkpoint of a lane, in its three states: ready, complete, or blocked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from standfast.errors.lanes import LaneBlocked
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes.lane_context import checkpoint, log, recording
from standfast.runs.lanes.lane_start import base_commit

if TYPE_CHECKING:
    from standfast.journal.transaction import Writing
    from standfast.runs.lanes.lane_context import Work

_MOST_COMMITS = 200


def listed(work: Work, base: str, head: str) -> list[str]:
    """The lane's commits, oldest first."""
    most = f"--max-count={_MOST_COMMITS}"
    return work.git.read("rev-list", "--reverse", most, f"{base}..{head}").decode().split()


def ready(work: Work, tx: Writing, head: str, base: str, commits: list[str]) -> None:
    """Just before anything is merged or asked for: which commits go where."""
    checkpoint(
        work,
        tx,
        cp.PRE_PR,
        cp.READY,
        head_sha=head,
        base_sha=base,
        target_branch=work.spec.base,
        commits=[*commits],
    )


def complete(work: Work, head: str, words: str) -> None:
    """The lane is done; a stage that was never ready is made so first, as the protocol has it."""
    lane = work.standing()
    before = lane.marks.get(cp.PRE_PR)
    commits = before.record.get("commits") if before else []
    base = None if lane.is_at(cp.PRE_PR, cp.READY) else base_commit(work.git, work.spec.base)
    with recording(work) as tx:
        if base is not None:
            ready(work, tx, head, base, [])
        checkpoint(work, tx, cp.PRE_PR, cp.COMPLETE, head_sha=head, commits=commits,
                   target_branch=work.spec.base, notes=words)  # fmt: skip


def block(work: Work, head: str, why: str, *, event: str, remedy: str | None = None) -> NoReturn:
    """Only a person can go on: say so, and leave everything as it is."""
    with recording(work) as tx:
        checkpoint(work, tx, cp.PRE_PR, cp.BLOCKED, head_sha=head, notes=why,
                   target_branch=work.spec.base)  # fmt: skip
    log(work, event, "blocked", notes=why)
    raise LaneBlocked(f"{'/'.join(work.spec.names)}: {why}", remedy=remedy)

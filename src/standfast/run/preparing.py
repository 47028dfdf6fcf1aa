"""Preparing a worktree before any agent works there: ignored files it needs, and `setup`.

No agent can mend what fails here, and telling one of it would be of no use: so it uses up no
retry, and the lane stops with the command's own words. Somebody sees to it and resumes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.git import ignored
from standfast.protocol import checkpoints as cp
from standfast.protocol import lane_prompt
from standfast.protocol.effects import is_killed
from standfast.protocol.lane_steps import BEGUN, BLOCKED, FAILED, KILLED, OK, SETUP
from standfast.run import copying, hiding, stock
from standfast.run.commands import check
from standfast.run.starting import see_to_the_dead, see_to_worktree
from standfast.run.working import checkpoint, leave, log, recording, step

if TYPE_CHECKING:
    from standfast.protocol.lane_steps import Next, Standing
    from standfast.run.working import Work


def prepare(work: Work, lane: Standing, _next: Next) -> None:
    """Copy what the worktree needs, and run the setup in it."""
    if not see_to_worktree(work, lane):
        return
    known = lane.steps.get(SETUP)
    if known is not None and known.state == BEGUN:
        number = known.number
        see_to_the_dead(work, lane, SETUP, number)
    else:
        number = stock.begin(work, ignored.listed(work.tree))
    log(work, "setup_start", cmd=work.spec.setup or None)
    error = make_ready(work, number)
    stock.settle(work, number)
    if error is not None:
        _fail(work, number, error)
        return
    hidden = hiding.by_setup(work)
    with recording(work) as tx:
        step(work, tx, SETUP, number, OK, hidden)
        if not lane.is_at(cp.STARTED, cp.IN_PROGRESS):
            checkpoint(work, tx, cp.STARTED, cp.IN_PROGRESS, head_sha=str(work.tree.head()))
    log(work, "setup_done")


def _fail(work: Work, number: int, error: str) -> None:
    log(work, "setup_failed", "error", cmd=work.spec.setup or None, notes=error)
    with recording(work) as tx:
        state = BLOCKED if KILLED in error else FAILED
        step(work, tx, SETUP, number, state, {"error": error})
        checkpoint(work, tx, cp.STARTED, cp.FAILED, notes=error,
                   last_command=work.spec.setup or None)  # fmt: skip


def make_ready(work: Work, number: int) -> str | None:
    """Copy the files and run the setup; gives what went wrong."""
    return copying.copy(work) or _set_up(work, number)


def _set_up(work: Work, number: int) -> str | None:
    if not work.spec.setup:
        return None
    ended = check(work, SETUP, number, work.spec.setup)
    if ended is None or ended.is_ok:
        return None
    error = lane_prompt.how_it_ended(work.spec.setup, ended)
    if ended.how == "cancelled":
        stock.settle(work, number)  # the next one would take what it left for somebody's
        leave(work, SETUP, number, {"error": error})
    return f"its setup was {KILLED}: {error}" if is_killed(ended) else error

"""Preparing a worktree before any agent works there: ignored files it needs, and `setup`.

No agent can mend what fails here, and telling one of it would be of no use: so it uses up no
retry, and the lane stops with the command's own words. Somebody sees to it and resumes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.effects.rules import is_killed
from standfast.git import ignored_files
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes import copied_files, hidden_changes, setup_leftovers
from standfast.runs.lanes.lane_commands import check
from standfast.runs.lanes.lane_context import checkpoint, leave, log, recording, step
from standfast.runs.lanes.lane_start import see_to_the_dead, see_to_worktree
from standfast.runs.rules import prompt
from standfast.runs.rules.lane_steps import BEGUN, BLOCKED, FAILED, KILLED, OK, SETUP

if TYPE_CHECKING:
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Next, Standing


def prepare(work: Work, lane: Standing, _next: Next) -> None:
    """Copy what the worktree needs, and run the setup in it."""
    if not see_to_worktree(work, lane):
        return
    known = lane.steps.get(SETUP)
    if known is not None and known.state == BEGUN:
        number = known.number
        see_to_the_dead(work, lane, SETUP, number)
    else:
        number = setup_leftovers.begin(work, ignored_files.listed(work.tree))
    log(work, "setup_start", cmd=work.spec.setup or None)
    error = make_ready(work, number)
    setup_leftovers.settle(work, number)
    if error is not None:
        _fail(work, number, error)
        return
    hidden = hidden_changes.by_setup(work)
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
    return copied_files.copy(work) or _set_up(work, number)


def _set_up(work: Work, number: int) -> str | None:
    if not work.spec.setup:
        return None
    ended = check(work, SETUP, number, work.spec.setup)
    if ended is None or ended.is_ok:
        return None
    error = prompt.how_it_ended(work.spec.setup, ended)
    if ended.how == "cancelled":
        setup_leftovers.settle(work, number)  # the next one would take what it left for somebody's
        leave(work, SETUP, number, {"error": error})
    return f"its setup was {KILLED}: {error}" if is_killed(ended) else error

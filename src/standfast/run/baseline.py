"""Before any agent: setup and tests where nobody has changed anything.

What fails there would fail in every lane, and every agent would be sent to look for it. A worktree
of its own is made for it at the base branch, and goes when all is well.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.effects.settling import Effect
from standfast.git import branches, ignored, worktrees
from standfast.journal import lane_steps as told
from standfast.lane_errors import BaselineFailed
from standfast.protocol import lane_prompt, lane_steps
from standfast.protocol.schedule import State
from standfast.run import preparing, stock
from standfast.run.commands import order
from standfast.run.starting import base_commit, make_room
from standfast.run.working import log, see_to, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocol.lane_spec import Spec
    from standfast.run.going import Going, Worker
    from standfast.run.working import Work

LANE = "-baseline"


def check(going: Going, worker: Worker) -> None:
    """Raise where setup or tests of a run fail on its base; what passed once is not done again."""
    if all(lane.state is not State.WAITING for lane in going.lanes.values()):
        return
    for place, spec in enumerate(_distinct(going)):
        named = _own(spec, f"{LANE}-{place}", "")
        known = told.standing(going.journal, named).steps.get(lane_steps.TESTS)
        if known is None or known.state != lane_steps.OK:
            _check(worker(going.journal, named), known)


def _distinct(going: Going) -> Iterator[Spec]:
    """One lane for each way to set up and to test; a run has one or two of them."""
    seen: set[tuple[str, str]] = set()
    for name in going.run.names:
        spec = told.find(going.journal, (going.run.run_id, *name))
        if spec is not None and (spec.setup, spec.test) not in seen | {("", "")}:
            seen.add((spec.setup, spec.test))
            yield spec


def _own(spec: Spec, lane: str, number: str) -> Spec:
    """The same lane, but for its name, its branch and its worktree: each try has its own."""
    place = f"{lane}{number}"
    top = os.path.dirname(os.path.dirname(spec.worktree))
    return spec._replace(
        phase="-", lane=lane, branch=f"lane/{spec.run_id}/{place}",
        worktree=os.path.join(top, place),
    )  # fmt: skip


def _check(work: Work, known: lane_steps.Step | None) -> None:
    """One try: one that was begun goes on, also after a death."""
    if known is None or known.state != lane_steps.BEGUN:
        known = _begin(work)
    base = known.facts["base"]
    mine = work._replace(spec=_own(work.spec, work.spec.lane, f"-{known.number}"))
    make_room(mine)
    worktrees.add(mine.git, mine.spec.worktree, mine.spec.branch, base)
    _refuse(mine, known.number, "setup", _prepared(mine))
    _refuse(mine, known.number, "the test command", _tested(mine, known.number))
    _clear(mine)  # before it is told: what passed is never looked at again
    with work.journal.writing() as tx:
        step(work, tx, lane_steps.TESTS, known.number, lane_steps.OK, {"base": base})


def _begin(work: Work) -> lane_steps.Step:
    base = base_commit(work.git, work.spec.base)
    number = told.last_number(work.journal, work.spec, lane_steps.TESTS) + 1
    with work.journal.writing() as tx:
        step(work, tx, lane_steps.TESTS, number, lane_steps.BEGUN, {"base": base})
    return lane_steps.Step(number, lane_steps.BEGUN, 0, {"base": base})


def _prepared(work: Work) -> str | None:
    """As every lane is; what that leaves behind is known when the worktree goes."""
    if not work.spec.is_prepared:
        return None
    number = stock.begin(work, ignored.listed(work.tree))
    error = preparing.make_ready(work, number)
    stock.settle(work, number)
    return error


def _tested(work: Work, number: int) -> str | None:
    line = work.spec.test
    if not line:
        return None
    made = order(work, lane_steps.TESTS, number, ("sh", "-c", line), {})
    ended = see_to(work, Effect(made, "tests", repeatable=True))
    return None if ended is None or ended.is_ok else lane_prompt.how_it_ended(line, ended)


def _refuse(work: Work, number: int, what: str, error: str | None) -> None:
    if error is None:
        log(work, "test_done", notes=f"{what} on {work.spec.base}: as it should be")
        return
    log(work, "test_done", "error", notes=error)
    with work.journal.writing() as tx:
        step(work, tx, lane_steps.TESTS, number, lane_steps.FAILED, {"error": error})
    raise BaselineFailed(
        f"{what} fails on {work.spec.base}, where no agent has changed anything: {error}",
        file=work.spec.worktree,
    )


def _clear(work: Work) -> None:
    """Put the worktree away if nothing in it can be lost, and the branch with it."""
    spec, git = work.spec, work.git
    is_there = os.path.lexists(spec.worktree)
    stays = worktrees.remove(git, spec.worktree, stock.made(work)) if is_there else None
    if stays is None and git.resolve(f"refs/heads/{spec.branch}") is not None:
        branches.delete_merged(git, spec.branch, spec.base)
    elif stays is not None:
        work.tell(f"the worktree of the baseline stays, {stays}: {spec.worktree}")

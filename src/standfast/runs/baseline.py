"""Before any agent: setup and tests where nobody has changed anything.

What fails there would fail in every lane, and every agent would be sent to look for it. A test
that a Markdown plan names for one task is of what that task makes, and is not tried. A worktree of
its own is made for it at the base branch, and goes when all is well. That of a try that failed
stays to be looked at until the next one begins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.errors.lanes import BaselineFailed, LaneEnded
from standfast.git import branches, ignored_files, worktrees
from standfast.runs.lanes import setup_leftovers, worktree_setup
from standfast.runs.lanes.lane_commands import check as check_line
from standfast.runs.lanes.lane_context import leave, log, recording, step
from standfast.runs.lanes.lane_start import base_commit, make_room, see_to_the_dead
from standfast.runs.records import lane_records as told
from standfast.runs.rules import lane_steps, prompt
from standfast.runs.rules.schedule import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from standfast.plans.lane_spec import Spec
    from standfast.runs.active_run import Going, Worker
    from standfast.runs.lanes.lane_context import Work

LANE = "-baseline"


def check(going: Going, worker: Worker) -> None:
    """Raise where setup or tests of a run fail on its base; what passed once is not done again."""
    is_due = any(lane.state is State.WAITING for lane in going.lanes.values())
    if not (is_due and going.run.is_plan):  # one begun by itself may be there to mend its tests
        return
    for place, spec in enumerate(_distinct(going)):
        work = worker(going.journal, _own(spec, f"{LANE}-{place}"))
        try:
            _check(work)
        except LaneEnded:
            if going.rules().is_stopping:
                raise
            _check(work)  # it was ended before this call: that is no word about this one


def alone(work: Work, base: str) -> str | None:
    """Test a commit of the base branch as it is; gives why it fails, if it does.

    What passed once is not tested again, and a try that a death cut off goes on. A test of what the
    lane is to make says nothing of a base that does not have it.
    """
    if work.spec.test_is_new:
        return None
    mine = _beside(work)
    known = _step(mine, lane_steps.TESTS)
    if known is not None and (known.state, known.facts.get("base")) == (lane_steps.OK, base):
        _clear(mine, range(1, known.number + 1))
        return None
    try:
        _check(mine, base)
    except BaselineFailed as error:
        return error.problem
    return None


def clear_alone(work: Work) -> None:
    """The lane is done: what a base that failed alone has left is of no use any more."""
    mine = _beside(work)
    known = _step(mine, lane_steps.TESTS)
    if known is not None:
        _clear(mine, range(1, known.number + 1))


def _beside(work: Work) -> Work:
    """Where the base of one lane is tested."""
    name = f"-base-{work.spec.phase}-{work.spec.lane}"
    return work._replace(spec=_own(work.spec, name))


def _distinct(going: Going) -> Iterator[Spec]:
    """One lane for each way to set up and to test; a run has one or two of them."""
    seen: set[tuple[str, str]] = set()
    for name in going.run.names:
        spec = told.find(going.journal, (going.run.run_id, *name))
        if spec is None:
            continue
        spec = spec._replace(test="") if spec.test_is_new else spec
        if (spec.setup, spec.test) not in seen | {("", "")}:
            seen.add((spec.setup, spec.test))
            yield spec


def _own(spec: Spec, lane: str) -> Spec:
    """The same lane under a name of its own, in the folder of its run: runs begin beside others."""
    top = os.path.dirname(os.path.dirname(spec.worktree))
    return spec._replace(
        phase="-", lane=lane, branch=f"lane/{spec.run_id}/{lane}",
        worktree=os.path.join(top, lane),
    )  # fmt: skip


def _of_try(spec: Spec, number: int) -> Spec:
    """Each try has its own branch and worktree."""
    return spec._replace(branch=f"{spec.branch}-{number}", worktree=f"{spec.worktree}-{number}")


def _check(work: Work, base: str | None = None) -> None:
    """One try: one that was begun goes on, also after a death."""
    known = _step(work, lane_steps.TESTS)
    if known is not None and known.state == lane_steps.OK and base is None:
        _clear(work, range(1, known.number + 1))
        return
    if known is None or known.state != lane_steps.BEGUN:
        known = _begin(work, base or base_commit(work.git, work.spec.base))
    _clear(work, range(1, known.number))  # before setup: what that left is known of one try
    base = known.facts["base"]
    mine = work._replace(spec=_of_try(work.spec, known.number))
    make_room(mine)
    is_new = not os.path.lexists(mine.spec.worktree)
    worktrees.add(mine.git, mine.spec.worktree, mine.spec.branch, base)
    if mine.spec.is_prepared:
        log(mine, "setup_start", cmd=mine.spec.setup or None)
        _refuse(mine, known.number, "setup", _prepared(mine, known, is_new=is_new))
    if mine.spec.test:
        log(mine, "test_start", cmd=mine.spec.test)
        _refuse(mine, known.number, "the test command", _tested(mine, known.number))
    with work.journal.writing() as tx:
        step(work, tx, lane_steps.TESTS, known.number, lane_steps.OK, {"base": base})
    _clear(work, [known.number])


def _begin(work: Work, base: str) -> lane_steps.Step:
    number = told.last_number(work.journal, work.spec, lane_steps.TESTS) + 1
    with work.journal.writing() as tx:
        facts = {"base": base, "head": base}
        step(work, tx, lane_steps.TESTS, number, lane_steps.BEGUN, facts)
    begun = _step(work, lane_steps.TESTS)
    assert begun is not None  # noqa: S101  # told right here
    return begun


def _step(work: Work, name: str) -> lane_steps.Step | None:
    return told.standing(work.journal, work.spec).steps.get(name)


def _prepared(work: Work, tried: lane_steps.Step, *, is_new: bool) -> str | None:
    """As every lane is, once a try; what that leaves behind is known when the worktree goes."""
    known = _step(work, lane_steps.SETUP)
    is_ours = known is not None and known.seq > tried.seq and not is_new
    if is_ours and known is not None and known.state == lane_steps.OK:
        return None
    if is_ours and known is not None and known.state == lane_steps.BEGUN:
        number = known.number  # it may run still: two of them must not
        _see_to_the_dead(work, lane_steps.SETUP, number)
    else:
        number = setup_leftovers.begin(work, ignored_files.listed(work.tree))
    error = worktree_setup.make_ready(work, number)
    setup_leftovers.settle(work, number)
    state, facts = (lane_steps.FAILED, {"error": error}) if error else (lane_steps.OK, {})
    with recording(work) as tx:
        step(work, tx, lane_steps.SETUP, number, state, facts)
    return error


def _see_to_the_dead(work: Work, name: str, number: int) -> None:
    """What a power cut tore under it would be red, and no word about the base."""
    see_to_the_dead(work, told.standing(work.journal, work.spec), name, number)


def _tested(work: Work, number: int) -> str | None:
    line = work.spec.test
    _see_to_the_dead(work, lane_steps.TESTS, number)
    ended = check_line(work, lane_steps.TESTS, number, line)
    if ended is None or ended.is_ok:
        return None
    error = prompt.how_it_ended(line, ended)
    if ended.how == "cancelled":
        leave(work, lane_steps.TESTS, number, {"error": error})
    return error


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


def _clear(work: Work, numbers: Iterable[int]) -> None:
    """Put away what these tries left.

    Once it is told that all passed, or that another try begins, and again by whoever comes after a
    death: the branch, which goes last, says whether there is anything left.
    """
    tries = [_of_try(work.spec, number) for number in numbers]
    there = branches.heads(work.git, *(each.branch for each in tries))
    for spec in tries:
        if spec.branch in there:
            _put_away(work._replace(spec=spec))


def _put_away(work: Work) -> None:
    """The worktree if nothing in it can be lost, and then its branch."""
    spec, git = work.spec, work.git
    stays = worktrees.remove(git, spec.worktree, setup_leftovers.made(work))
    if stays is not None:
        work.tell(f"the worktree of the baseline stays, {stays}: {spec.worktree}")
    elif not branches.delete_merged(git, spec.branch, spec.base):
        work.tell(f"the branch of the baseline stays, {spec.base} does not hold it: {spec.branch}")

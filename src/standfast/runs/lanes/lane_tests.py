"""The tests of a lane: run on what is committed, and once more on what somebody commits later."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from standfast.effects.rules import is_killed
from standfast.errors.lanes import LaneBlocked
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes import agent_commits, base_history, hidden_changes
from standfast.runs.lanes.failures import Failure, failed
from standfast.runs.lanes.lane_commands import check
from standfast.runs.lanes.lane_context import checkpoint, log, recording, step
from standfast.runs.lanes.lane_start import see_to_the_dead, see_to_worktree
from standfast.runs.records import lane_records as told
from standfast.runs.rules import lane_steps, prompt
from standfast.text import printable

if TYPE_CHECKING:
    from standfast.effects.rules import Ended
    from standfast.formats.document_limits import Value
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Next, Standing


def test(work: Work, lane: Standing, _next: Next) -> None:
    """Commit what is there, by a person's hand perhaps, and run the tests on it."""
    if not see_to_worktree(work, lane):
        return
    known = lane.steps.get(lane_steps.TESTS)
    if known is not None:
        see_to_the_dead(work, lane, lane_steps.TESTS, known.number)
    head = _commit(work, lane)
    _refuse_early(work, lane, is_green=False)
    if not work.spec.test:
        with recording(work) as tx:
            checkpoint(work, tx, cp.TESTED, cp.COMPLETE, head_sha=head, notes="no tests were asked")
        return
    number, head = _begin(work, lane, head)
    ended = check(work, lane_steps.TESTS, number, work.spec.test, {"STANDFAST_HEAD": head})
    if ended is None or ended.is_ok:
        _refuse_early(work, lane, is_green=True)
        _passed(work, lane, number, head)
    elif is_killed(ended):
        _killed(work, number, head, prompt.how_it_ended(work.spec.test, ended))
    else:
        _refuse_early(work, lane, is_green=False)
        _failed(work, lane, number, head, ended)


def _commit(work: Work, lane: Standing) -> str:
    spec, strays = work.spec, agent_commits.amiss(work)
    if strays is not None:  # a person's work on another branch, or a merge that is not finished
        raise LaneBlocked(f"{'/'.join(spec.names)}: {strays}", file=spec.worktree)
    if spec.test:
        hidden_changes.uncover(work, lane)
        hidden_changes.tell_ignored(work)
    return agent_commits.commit(work, prompt.title(spec, spec.tasks[-1]))


def _refuse_early(work: Work, lane: Standing, *, is_green: bool) -> None:
    """What is in the base before it was tested came there by no merge of ours."""
    why = base_history.early(work, lane, is_green=is_green)
    if why is not None:
        log(work, "lane_blocked", "blocked", notes=why)
        raise LaneBlocked(f"{'/'.join(work.spec.names)}: {why}", remedy=base_history.way_back(work))


def _begin(work: Work, lane: Standing, head: str) -> tuple[int, str]:
    """The run that is due, and of which commit: one that was begun says nothing of later ones."""
    known = lane.steps.get(lane_steps.TESTS)
    begun = known if known is not None and known.state == lane_steps.BEGUN else None
    if begun is not None and "head" in begun.facts:
        return begun.number, begun.facts["head"]
    facts = {**(begun.facts if begun is not None else {}), "head": head}
    number = told.last_number(work.journal, work.spec, lane_steps.TESTS) + (begun is None)
    with recording(work) as tx:
        step(work, tx, lane_steps.TESTS, number, lane_steps.BEGUN, facts)
    if begun is None:
        log(work, "test_start")
    return number, head


def _told(work: Work, head: str, status: int) -> dict[str, Value]:
    return {"test_command": work.spec.test, "exit_code": status, "head_sha": head}


def _passed(work: Work, lane: Standing, number: int, head: str) -> None:
    left = work.git.resolve(f"refs/heads/{work.spec.branch}")
    facts = lane_steps.after_tests(lane, head, left)
    with recording(work) as tx:
        step(work, tx, lane_steps.TESTS, number, lane_steps.OK, facts)
        checkpoint(work, tx, cp.TESTED, cp.COMPLETE, **_told(work, head, 0))
    log(work, "test_done", cmd=work.spec.test, exit_code=0)


def _killed(work: Work, number: int, head: str, error: str) -> None:
    """Twice in turn: no failure of the agent's, and nothing that another run would mend."""
    facts = {"head": head, "error": f"its tests were {lane_steps.KILLED}: {error}"}
    log(work, "lane_blocked", "blocked", notes=facts["error"])
    with recording(work) as tx:
        step(work, tx, lane_steps.TESTS, number, lane_steps.BLOCKED, facts)


def _failed(work: Work, lane: Standing, number: int, head: str, ended: Ended) -> None:
    line = work.spec.test
    error = prompt.how_it_ended(line, ended)
    log(work, "test_done", "error", cmd=line, exit_code=ended.status, notes=error)
    said = {**_told(work, head, ended.status), "notes": error}
    failure = Failure(lane_steps.TESTS, number, {"error": error}, cp.TESTED, said, ended)
    failed(work, lane, work.spec.tasks[-1], failure)


def is_new(work: Work, lane: Standing) -> bool:
    """Whether somebody committed after the tests: then they are due once more.

    Tests that commit by themselves are run once more too, and then a person is asked.
    """
    now = tip(work, lane)
    if lane_steps.is_tested_at(lane, now):
        return False
    number = told.last_number(work.journal, work.spec, lane_steps.TESTS) + 1
    by_tests, is_again = lane_steps.left_by_tests(lane, now)
    rounds = lane_steps.rounds_of(lane.steps.get(lane_steps.TESTS)) + 1
    is_last = rounds > lane_steps.MOST_ROUNDS
    facts = {lane_steps.ONCE_MORE: "yes"} if by_tests and not is_again else {}
    facts |= {} if is_last else {lane_steps.ROUNDS: str(rounds)}
    with recording(work) as tx:
        step(work, tx, lane_steps.TESTS, number, lane_steps.BEGUN, facts)
    if by_tests and is_again:
        why = f"twice in turn: {now[:12]} has not been tested"
        _refuse_new(work, f"something was committed under its tests, {why}",
                    "Have the tests commit nothing")  # fmt: skip
    if is_last:
        _refuse_new(work, f"somebody committed after its tests {rounds} times in turn",
                    "See to it that nobody does")  # fmt: skip
    log(work, "test_start", notes="somebody changed the lane after its tests")
    return True


def _refuse_new(work: Work, why: str, remedy: str) -> NoReturn:
    raise LaneBlocked(
        f"{'/'.join(work.spec.names)}: {why}",
        file=work.spec.worktree,
        remedy=f"{remedy}, then resume the lane.",
    )


def tip(work: Work, lane: Standing) -> str:
    """The lane's last commit; a branch that is gone is made again from what is known of it."""
    found = work.git.resolve(f"refs/heads/{work.spec.branch}")
    if found is None:
        see_to_worktree(work, lane)
        found = work.git.resolve(f"refs/heads/{work.spec.branch}")
    if found is None:
        why = f"its branch {printable(work.spec.branch)} is gone, and cannot be made again"
        raise LaneBlocked(f"{'/'.join(work.spec.names)}: {why}", file=work.root)
    return found

"""The work of a lane: an agent's run, what it left committed, the tests, and trying again.

Each run is an effect under a number of its own, so that whoever comes after a death finds how it
ended instead of running it again. A run that failed is counted before the next one begins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.effects.settling import Effect
from standfast.errors import StandfastError
from standfast.files import run_log
from standfast.git import worktrees
from standfast.journal import lane_steps as told
from standfast.lane_errors import LaneBlocked
from standfast.protocol import checkpoints as cp
from standfast.protocol import lane_prompt, lane_steps, runners, spending
from standfast.protocol.json_text import write_json
from standfast.protocol.lane_spec import Task
from standfast.protocol.text import printable
from standfast.run import agents, committing, expecting, parking
from standfast.run.commands import begin, key, order
from standfast.run.starting import mend_checkout, see_to_the_dead, see_to_worktree
from standfast.run.working import checkpoint, leave, log, recording, see_to, step

if TYPE_CHECKING:
    from standfast.protocol.documents import Value
    from standfast.protocol.effects import Ended
    from standfast.protocol.lane_spec import Gate
    from standfast.protocol.lane_steps import Next, Standing
    from standfast.run.working import Work


GONE = "the worktree was gone when it ended"


def work(work: Work, lane: Standing, following: Next) -> None:
    """One run of the agent: begin it or find out how it ended, then keep what it left."""
    task = following.task
    assert isinstance(task, Task)  # noqa: S101  # for the type: decide names one
    was_there = os.path.lexists(os.path.join(work.spec.worktree, ".git"))
    if not see_to_worktree(work, lane):
        return
    mend_checkout(work, lane)
    is_begun = parking.is_begun(work, lane, task)
    parking.refuse_more(work, lane, task)
    number = begin(work, lane, task.step, "task_start", task.name, parking.waited(lane, task))
    see_to_the_dead(work, lane, task.step, key(work, task.step, number))
    ended = _agent(work, lane, task, number)
    if ended is not None and parking.is_limited(ended):
        parking.park(work, lane, task, number, ended)
        return
    if parking.begun_anew(work, lane, task, number, ended):
        return
    error = None
    if ended is not None and not ended.is_ok:
        error = lane_prompt.how_it_ended(agents.name_of(work, task), ended)
    if is_begun and not was_there:
        error = error or GONE  # what it left there uncommitted went with it
    error = error or amiss(work) or expecting.lacking(work, task, number)
    if error is not None:
        was = None if ended is None else ended.how
        _agent_failed(work, lane, task, number, error, ended, may_retry=was != "cancelled")
        return
    head = committing.commit(work, lane_prompt.title(work.spec, task))
    with recording(work) as tx:
        step(work, tx, task.step, number, lane_steps.OK, {"head": head, **_spent(ended)})
    log(work, "task_done", task=task.name)


def _agent(work: Work, lane: Standing, task: Task, number: int) -> Ended | None:
    text = lane_prompt.prompt(
        work.spec, task, lane.failures, expecting.paths(work, task, number), lane.findings
    )
    runner = work.spec.runner_of(task)
    if runner is not None and runners.takes_script(runner):
        text = task.prompt
    said = agents.surroundings(lane, task)
    if task.outputs:
        said["STANDFAST_OUTPUTS"] = expecting.folder(work, task, number)
    session = parking.waited(lane, task).get("session", "")
    is_cut_off = bool(session) or parking.is_anew(lane, task)
    run = agents.Run(work, task, number, text, said, session, is_cut_off)
    return agents.perform(run, expecting.probe(work, task, number))


def _spent(ended: Ended | None) -> dict[str, str]:
    return {} if ended is None else spending.facts(ended._asdict())


def amiss(work: Work) -> str | None:
    """What an agent may have done to its own worktree."""
    spec = work.spec
    if not os.path.lexists(os.path.join(spec.worktree, ".git")):
        return GONE
    try:
        tree = work.tree
        if tree.common_directory() != work.git.common_directory():
            return "the worktree belongs to another repository now"
        if os.path.realpath(tree.toplevel()) != os.path.realpath(spec.worktree):
            return "core.worktree makes git work elsewhere than in the worktree"
        branch, unfinished = tree.branch(), worktrees.unfinished(tree)
    except StandfastError as error:
        return f"the worktree cannot be read any more: {error.problem}"
    if branch == spec.branch and unfinished:
        return f"{unfinished} is unfinished in the worktree: finish it or break it off there first"
    at = f"on {printable(branch)}" if branch else "on no branch"
    strays = f"the worktree is {at}, not on {printable(spec.branch)}: check that out there first"
    return strays if branch != spec.branch else None


def _agent_failed(
    work: Work,
    lane: Standing,
    task: Task,
    number: int,
    error: str,
    ended: Ended | None,
    *,
    may_retry: bool,
) -> None:
    log(work, "task_failed", "error", task.name, cmd=agents.name_of(work, task),
        exit_code=ended.status if ended else None, notes=error)  # fmt: skip
    said: dict[str, Value] = {"last_command": agents.name_of(work, task), "notes": error}
    said["exit_code"] = ended.status if ended else None
    facts = {"error": error, **_spent(ended), **agents.session_of(ended)}
    which = (task.step, number, facts)
    failed(work, lane, task, which, cp.STARTED, said, may_retry=may_retry)


def test(work: Work, lane: Standing, _next: Next) -> None:
    """Commit what is there, by a person's hand perhaps, and run the tests on it."""
    spec = work.spec
    if not see_to_worktree(work, lane):
        return
    strays = amiss(work)
    if strays is not None:  # a person's work on another branch, or a merge that is not finished
        raise LaneBlocked(f"{'/'.join(spec.names)}: {strays}", file=spec.worktree)
    last = spec.tasks[-1]
    head = committing.commit(work, lane_prompt.title(spec, last))
    if not spec.test:
        with recording(work) as tx:
            checkpoint(work, tx, cp.TESTED, cp.COMPLETE, head_sha=head, notes="no tests were asked")
        return
    number = begin(work, lane, lane_steps.TESTS, "test_start")
    made = order(work, lane_steps.TESTS, number, ("sh", "-c", spec.test), {"STANDFAST_HEAD": head})
    ended = see_to(work, Effect(made, "tests", repeatable=True))
    status = ended.status if ended else 0
    said: dict[str, Value] = {
        "test_command": spec.test, "exit_code": status, "head_sha": head,
    }  # fmt: skip
    if ended is None or ended.is_ok:
        facts = lane_steps.after_tests(lane, head, work.git.resolve(f"refs/heads/{spec.branch}"))
        with recording(work) as tx:
            step(work, tx, lane_steps.TESTS, number, lane_steps.OK, facts)
            checkpoint(work, tx, cp.TESTED, cp.COMPLETE, **said)
        log(work, "test_done", cmd=spec.test, exit_code=status)
        return
    error = lane_prompt.how_it_ended(spec.test, ended)
    log(work, "test_done", "error", cmd=spec.test, exit_code=status, notes=error)
    said["notes"] = error
    may_retry = ended.how != "cancelled"
    which = (lane_steps.TESTS, number, {"error": error})
    failed(work, lane, last, which, cp.TESTED, said, may_retry=may_retry)


def failed(
    work: Work,
    lane: Standing,
    redo: Task | Gate,
    which: tuple[str, int, dict[str, str]],
    stage: str,
    said: dict[str, Value],
    *,
    may_retry: bool,
) -> None:
    """Count it and begin the next run, in one transaction; or say that there is none left."""
    name, number, facts = which
    if not may_retry:
        leave(work, name, number, facts)
    error = facts["error"]
    entries = [write_json(each) for each in run_log.tail(work.log_path, 5).entries]
    after = lane_steps.after_failure(lane, error, entries, may_retry=may_retry)
    context: list[Value] = [*after.context]
    spec = work.spec
    counted: dict[str, Value] = {"max_retries": spec.retries, "failure_context": context}
    with recording(work) as tx:
        step(work, tx, name, number, lane_steps.FAILED, facts)
        if stage == cp.TESTED or after.retry is None:
            checkpoint(work, tx, stage, cp.FAILED, **said, failure_context=context)
        if after.retry is not None:
            checkpoint(work, tx, cp.RETRY, cp.RETRYING, retry_attempt=after.retry, notes=error,
                       **counted)  # fmt: skip
            following = told.last_number(work.journal, spec, redo.step) + 1
            carried = lane_steps.of_gate(facts)
            step(work, tx, redo.step, following, lane_steps.BEGUN, carried)
        elif 0 < spec.retries <= lane.retries:  # used up; not where somebody ended it
            checkpoint(work, tx, cp.RETRY, cp.FAILED, retry_attempt=spec.retries, notes=error,
                       **counted)  # fmt: skip
    if after.retry is not None:
        log(work, "task_retry_start", task=redo.name, notes=f"{after.retry} of {spec.retries}")

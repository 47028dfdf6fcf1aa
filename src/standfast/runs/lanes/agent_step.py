"""The work of a lane: a run of an agent, and what it left committed.

Each run is an effect under a number of its own, so that whoever comes after a death finds how it
ended instead of running it again. A run that failed is counted before the next one begins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.effects.rules import Probe
from standfast.plans.lane_spec import Task
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runners import registry
from standfast.runs.lanes import agent_calls, agent_commits, expected_outputs, pauses, torn_restore
from standfast.runs.lanes.failures import Failure, failed
from standfast.runs.lanes.lane_commands import begin, key, keys
from standfast.runs.lanes.lane_context import log, recording, step
from standfast.runs.lanes.lane_start import see_to_the_dead, see_to_worktree
from standfast.runs.rules import lane_steps, prompt, spending

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.effects.rules import Ended
    from standfast.formats.document_limits import Value
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.lanes.torn_restore import Told
    from standfast.runs.rules.lane_steps import Next, Standing


def work(work: Work, lane: Standing, following: Next) -> None:
    """One run of the agent: begin it or find out how it ended, then keep what it left."""
    task = following.task
    assert isinstance(task, Task)  # noqa: S101  # for the type: decide names one
    stood = agent_commits.put_away(work.spec.worktree)  # by one that nobody saw end
    was_there = os.path.lexists(os.path.join(work.spec.worktree, ".git"))
    if not see_to_worktree(work, lane):
        return
    is_lost = pauses.is_begun(work, lane, task) and not was_there
    pauses.refuse_more(work, lane, task)
    number = begin(work, lane, task.step, "task_start", task.name, pauses.waited(lane, task))
    see_to_the_dead(work, lane, task.step, number)
    ended = _agent(work, lane, task, number)
    stood = agent_commits.put_away(work.spec.worktree) or stood
    if pauses.is_put_off(work, lane, task, number, ended):
        return
    error = agent_calls.failure_of(work, task, ended) or (agent_commits.GONE if is_lost else stood)
    error = error or agent_commits.amiss(work) or expected_outputs.lacking(work, task, number)
    if error is not None:
        _failed(work, lane, task, number, error, ended)
        return
    head = agent_commits.commit(work, prompt.title(work.spec, task))
    with recording(work) as tx:
        step(work, tx, task.step, number, lane_steps.OK, {"head": head, **_spent(ended)})
    log(work, "task_done", task=task.name)


def _torn(work: Work, lane: Standing, task: Task, number: int) -> list[Told]:
    """What is known after power cuts: under runs of this task, or under commands of the lane."""
    commands = (lane_steps.SETUP, lane_steps.TESTS, lane_steps.RETEST)
    judged = [gate.step for gate in work.spec.gates]
    last = [(name, lane.steps[name].number) for name in (*commands, *judged) if name in lane.steps]
    every = [one for name, count in last for one in keys(work, name, count)]
    return [told for one in (*_runs(work, task, number), *every)
            for told in torn_restore.told(work, one)]  # fmt: skip


def _runs(work: Work, task: Task, number: int) -> list[str]:
    """This run and those before it: one that is begun anew finds what they left."""
    return [key(work, task.step, each) for each in range(1, number + 1)]


def _agent(work: Work, lane: Standing, task: Task, number: int) -> Ended | None:
    torn = _torn(work, lane, task, number)
    text = prompt.prompt(
        work.spec,
        task,
        lane.failures,
        expected_outputs.paths(work, task, number),
        lane.findings,
        torn,
    )
    runner = work.spec.runner_of(task)
    if runner is not None and registry.takes_script(runner):
        text = task.prompt
    said = agent_calls.surroundings(lane, task)
    if torn:
        said["STANDFAST_RESTORED"] = agent_calls.context(
            [name for told in torn for name in told.restored]
        )
        said["STANDFAST_MAYBE_TORN"] = agent_calls.context(
            [name for told in torn for name in (*told.blank, *told.unsure)]
        )
    if task.outputs:
        said["STANDFAST_OUTPUTS"] = expected_outputs.folder(work, task, number)
    session = pauses.waited(lane, task).get("session", "")
    is_cut_off = bool(session) or pauses.is_anew(lane, task)
    run = agent_calls.Run(work, task, number, text, said, session, is_cut_off)
    return agent_calls.perform(run, _probe(work, task, number))


def _probe(work: Work, task: Task, number: int) -> Callable[[], Probe]:
    """What it had to write being whole says nothing of what a power cut did to all the rest."""
    if torn_restore.told(work, key(work, task.step, number)):
        return lambda: Probe.UNKNOWN
    return expected_outputs.probe(work, task, number)


def _spent(ended: Ended | None) -> dict[str, str]:
    return {} if ended is None else spending.facts(ended._asdict())


def _failed(
    work: Work, lane: Standing, task: Task, number: int, error: str, ended: Ended | None
) -> None:
    name, status = agent_calls.name_of(work, task), ended.status if ended else None
    log(work, "task_failed", "error", task.name, cmd=name, exit_code=status, notes=error)
    said: dict[str, Value] = {"last_command": name, "exit_code": status, "notes": error}
    facts = {"error": error, **_spent(ended), **agent_calls.session_of(ended)}
    failed(work, lane, task, Failure(task.step, number, facts, cp.STARTED, said, ended))

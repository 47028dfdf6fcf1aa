"""Running an agent: by the lane's shell line, or by a runner that has a name.

An agent with sessions says which one it is in before it does anything. When nobody saw how it
ended, that session is gone on with, and whoever goes on is told to look first at what is done; one
that had said nothing yet is begun anew with the same words. Nobody is asked, and no retry is used
up. An agent without sessions cannot be told that it was cut off: there a person is asked.
"""

from __future__ import annotations

import json
import os
import uuid
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.effects.effect_folder import STARTED, Folder
from standfast.effects.settlement import Effect
from standfast.runners import registry
from standfast.runners.registry import Call
from standfast.runs.lanes.lane_commands import order
from standfast.runs.lanes.lane_context import log, see_to
from standfast.runs.rules import prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from standfast.effects.effect_folder import Order
    from standfast.effects.rules import Ended, Probe
    from standfast.plans.lane_spec import Gate, Task
    from standfast.runners.registry import Runner
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing


_LONGEST_CONTEXT = 100_000


class Run(NamedTuple):
    """One run of an agent."""

    work: Work
    who: Task | Gate
    number: int
    prompt: str
    said: Mapping[str, str]  # what it finds in its environment
    session: str = ""  # an earlier run was parked or ended in it
    is_cut_off: bool = False  # something of its work may be done


def name_of(work: Work, who: Task | Gate) -> str:
    """What runs it, in words."""
    return who.runner or work.spec.runner


def failure_of(work: Work, who: Task | Gate, ended: Ended | None) -> str | None:
    """How its run ended, in words, if not well."""
    if ended is None or ended.is_ok:
        return None
    return prompt.how_it_ended(name_of(work, who), ended)


def surroundings(lane: Standing, who: Task | Gate) -> dict[str, str]:
    """What every agent finds in its environment."""
    return {
        "STANDFAST_TASK": who.name,
        "STANDFAST_ROLE": who.role,
        "STANDFAST_ATTEMPT": str(lane.retries + 1),
        "STANDFAST_FAILURE_CONTEXT": context([*lane.failures, *lane.findings]),
    }


def context(said: Sequence[str]) -> str:
    """A system takes only so much in one variable: the oldest words go first."""
    told = json.dumps(said)
    return told if len(told) <= _LONGEST_CONTEXT else context(said[1:])


def session_of(ended: Ended | None) -> dict[str, str]:
    """The session that an agent was in, for whoever goes on with it."""
    said = "" if ended is None else str(ended.report.get("session") or "")
    return {"session": said} if said else {}


def perform(run: Run, probe: Callable[[], Probe]) -> Ended | None:
    """Let it run once, or find out how it ended."""
    runner = run.work.spec.runner_of(run.who)
    if runner is None:
        path, said = _write(run, run.prompt, "")
        line = ("sh", "-c", run.work.spec.runner)
        made = order(run.work, run.who.step, run.number, line, said, stdin=path)
        return see_to(run.work, Effect(made, "agent", probe))
    first = _order(run, runner, run.session, "")
    if not registry.can_resume(runner):
        return see_to(run.work, Effect(first, "agent", probe))

    def again(key: str, session: str) -> Order:
        if not os.path.lexists(Folder(run.work.journal.folder, key).at(STARTED)):
            goes_on = (
                "continues its session"
                if session or run.session
                else "begun anew: it had said nothing yet"
            )
            log(run.work, "task_start", task=run.who.name, notes=f"cut off; {goes_on}")
        return _order(
            run, runner, session or run.session, f"-{key.rpartition('#')[2]}", is_cut_off=True
        )

    return see_to(run.work, Effect(first, "agent", probe, again=again))


def _order(run: Run, runner: Runner, session: str, mark: str, *, is_cut_off: bool = False) -> Order:
    """The call of a client, in a new session or in one that it had."""
    text = run.prompt
    if (run.is_cut_off or is_cut_off) and not registry.takes_script(runner):
        text = prompt.cut_off(text)
    path, said = _write(run, text, mark)
    is_ours = runner.kind in (*registry.CHOOSES_SESSION, registry.SHELL)
    chosen = session or (str(uuid.uuid4()) if is_ours else "")
    call = Call(path, chosen, is_resumed=bool(session))
    given = "" if registry.has_script(runner) else path
    made = order(run.work, run.who.step, run.number, registry.argv(runner, call), said, stdin=given)
    return made._replace(
        env={**made.env, **runner.env, **_ours(made)},
        timeout_s=runner.time_s or run.work.spec.time_s,
        reader=runner.kind,
        session=chosen if runner.kind == registry.SHELL and runner.resume else "",
    )


def _ours(made: Order) -> dict[str, str]:
    return {name: value for name, value in made.env.items() if name.startswith("STANDFAST_")}


def _write(run: Run, text: str, mark: str) -> tuple[str, dict[str, str]]:
    """The prompt as a file, which is its input too."""
    path = os.path.join(run.work.own_folder(), f"{run.who.step}-{run.number}{mark}.md")
    disk.make_folder(os.path.dirname(path))
    disk.replace(path, text.encode("utf-8", "surrogatepass"))
    return path, {**run.said, "STANDFAST_PROMPT": path}

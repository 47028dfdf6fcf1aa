"""A plan of any kind in our own form: as a value, and as YAML that reads back the same. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.formats import durations, yaml_writer
from standfast.plans.lane_spec import ALWAYS
from standfast.plans.model import BUILDER, FIRST_PHASE, ONLY_TASK, Gate, Limits, Phase, Plan, Task

if TYPE_CHECKING:
    from decimal import Decimal

    from standfast.formats.document_limits import Value
    from standfast.plans.model import Lane

Mapping = dict[str, "Value"]


def write(plan: Plan) -> str:
    """The plan as YAML."""
    return yaml_writer.write(native(plan))


def native(plan: Plan) -> Mapping:
    """The plan as a value; what is as it would be anyway is left out."""
    said: Mapping = {"run": plan.run}
    said |= _texts(plan, ("base", "runner"))
    said |= {"merge": plan.merge, "on_failure": plan.on_failure}
    said |= {} if plan.retest == ALWAYS else {"retest": plan.retest}
    limits = _limits(plan.limits)
    said |= {"limits": limits} if limits else {}
    said |= _texts(plan, ("setup", "test", "pr", "pr_probe"))
    said |= {"copy": list(plan.copy)} if plan.copy else {}
    said |= {"retries": plan.retries} if plan.retries else {}
    said |= _time("time", plan.time_s)
    if len(plan.phases) == 1 and plan.phases[0] == Phase(
        FIRST_PHASE, plan.phases[0].lanes, line=plan.phases[0].line, done=plan.phases[0].done
    ):
        return {**said, "lanes": _lanes(plan.phases[0])}
    return {**said, "phases": {phase.name: _phase(phase) for phase in plan.phases}}


def _limits(limits: Limits) -> Mapping:
    said: Mapping = {} if limits.lanes == Limits().lanes else {"lanes": limits.lanes}
    said |= _time("time", limits.time_s)
    return said | ({} if limits.cost_usd is None else {"cost_usd": _number(limits.cost_usd)})


def _phase(phase: Phase) -> Mapping:
    said: Mapping = {"name": phase.title} if phase.title else {}
    if phase.gates:
        said["gates"] = {gate.name: _gate(gate) for gate in phase.gates}
    return {**said, "lanes": _lanes(phase)}


def _gate(gate: Gate) -> Mapping:
    said: Mapping = {"role": gate.role, "pass": _number(gate.least), "iterations": gate.iterations}
    return said | _texts(gate, ("runner", "prompt"))


def _lanes(phase: Phase) -> Mapping:
    return {lane.name: _lane(lane) for lane in phase.lanes}


def _lane(lane: Lane) -> Value:
    said: Mapping = {"after": list(lane.after)} if lane.after else {}
    said |= {"owns": list(lane.owns)} if lane.owns else {}
    said |= _texts(lane, ("runner", "merge"))
    for part in ("test", "setup", "retries"):
        value = getattr(lane, part)
        said |= {} if value is None else {part: value}
    said |= _time("time", lane.time_s)
    (first, *others) = lane.tasks
    if not others and first == Task(
        ONLY_TASK, first.prompt, line=first.line, said=first.said, done=first.done
    ):
        return {**said, "task": first.prompt} if said else first.prompt
    return {**said, "tasks": {task.name: _task(task) for task in lane.tasks}}


def _task(task: Task) -> Value:
    said = _texts(task, ("prompt", "prompt_file"))
    said |= {"after": list(task.after)} if task.after else {}
    said |= {} if task.role == BUILDER else {"role": task.role}
    said |= _texts(task, ("runner",))
    outputs: Mapping = dict(task.outputs)
    said |= {"outputs": outputs} if outputs else {}
    return task.prompt if list(said) == ["prompt"] else said


def _texts(thing: Plan | Gate | Lane | Task, parts: tuple[str, ...]) -> Mapping:
    return {part: text for part in parts if (text := getattr(thing, part))}


def _time(key: str, length_s: float | None) -> Mapping:
    return {} if length_s is None else {key: durations.shown(length_s)}


def _number(number: Decimal) -> int | float:
    return int(number) if number == int(number) else float(number)

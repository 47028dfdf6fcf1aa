"""From a plan to lanes: what each lane of a run is to do, and all that holds for it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from standfast.plans import lane_spec
from standfast.plans.lane_spec import Spec
from standfast.plans.model import KEEP_GOING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.plans.model import Gate, Lane, Phase, Plan, Task
    from standfast.runners.registry import Runner

_FIRST_PORT, _PORTS, _PLACES = 10_000, 10, 2_200  # below those that systems give out themselves
_TIME_S = 7200.0


class Ground(NamedTuple):
    """Where a run takes place, and what was looked up for it."""

    run_id: str
    root: str  # of the main checkout
    base: str
    runner: str  # of whoever names none
    runners: Mapping[str, Runner]
    prompts: Mapping[str, str] = {}  # by file


def specs(plan: Plan, ground: Ground) -> Iterator[Spec]:
    """Every lane of the plan, in its order."""
    for number, (phase, lane) in enumerate(plan.lanes()):
        yield lane_spec.check(_spec(plan, phase, lane, ground, number))


def _spec(plan: Plan, phase: Phase, lane: Lane, ground: Ground, number: int) -> Spec:
    default = lane.runner or plan.runner or ground.runner
    names = (ground.run_id, phase.name, lane.name)
    used = _used(phase, lane, default)
    return Spec(
        *names,
        base=ground.base,
        branch=branch(plan, *names),
        worktree=lane_spec.worktree(ground.root, *names),
        runner=default,
        tasks=tuple(_task(task, ground) for task in lane.tasks),
        test=plan.test if lane.test is None else lane.test,
        retries=plan.retries if lane.retries is None else lane.retries,
        merge=lane.merge or plan.merge,
        retest=plan.retest,
        pr=plan.pr,
        pr_probe=plan.pr_probe,
        time_s=lane.time_s or plan.time_s or _TIME_S,
        runners={name: ground.runners[name] for name in sorted(used)},
        setup=plan.setup if lane.setup is None else lane.setup,
        copy=plan.copy,
        port_base=port_base(ground.run_id, number),
        gates=tuple(_gate(gate) for gate in phase.gates),
        owns=tuple(filter(None, lane.owns)),
        test_is_new=plan.kind != "yaml" and bool(lane.test),
    )


def branch(plan: Plan, run_id: str, phase: str, lane: str) -> str:
    """The lane's branch: by its run too, because several may have the same phases at once.

    A phase plan says itself what its branches are called.
    """
    if plan.kind == "phase":
        return lane_spec.branch(phase, lane)
    return f"lane/{run_id}/{phase}/{lane}"


def port_base(run_id: str, number: int) -> int:
    """The first of ten ports that no other lane of the run has."""
    return _FIRST_PORT + _PORTS * ((crc32(run_id.encode()) + number) % _PLACES)


def _task(task: Task, ground: Ground) -> lane_spec.Task:
    prompt = task.prompt or ground.prompts[task.prompt_file]
    return lane_spec.Task(task.name, prompt, role=task.role, runner=task.runner,
                          outputs=dict(task.outputs))  # fmt: skip


def _gate(gate: Gate) -> lane_spec.Gate:
    return lane_spec.Gate(*(getattr(gate, name) for name in lane_spec.Gate._fields))


def stops_at_failure(plan: Plan) -> bool:
    """Whether one failure keeps everything from beginning that has not begun."""
    return plan.on_failure != KEEP_GOING


def runners_used(plan: Plan, otherwise: str) -> set[str]:
    """The runners that do something in a plan; *otherwise* is that of whoever names none.

    A plan whose every lane is done by a shell needs no agent.
    """
    given = ((phase, lane, lane.runner or plan.runner or otherwise) for phase, lane in plan.lanes())
    return {name for phase, lane, default in given for name in _used(phase, lane, default)}


def _used(phase: Phase, lane: Lane, default: str) -> set[str]:
    named = [*(task.runner for task in lane.tasks), *(gate.runner for gate in phase.gates)]
    return {name or default for name in named}

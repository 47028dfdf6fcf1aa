"""The commands that a plan would have run on this machine. Pure.

What an agent does when it is told something is another matter: its client asks, or the user's own
configuration has said what it may do. These are run as they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import line_of
from standfast.runners.registry import SHELL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from standfast.plans.model import Lane, Phase, Plan

_OF_A_PLAN = ("setup", "test", "pr", "pr_probe")
_OF_A_LANE = ("setup", "test")


class Command(NamedTuple):
    """One shell line, or the file that holds it."""

    what: str  # setup, test, pr, pr_probe, or shell: a task or gate that a shell does
    whose: str  # the lane or gate, or empty for the whole plan
    text: str
    line: int
    file: str = ""
    task: str = ""  # its name, if it is one


def commands(plan: Plan, shells: Collection[str] = (SHELL,)) -> list[Command]:
    """Every command, in the order of the plan; *shells* are runners whose prompts are commands."""
    found = [
        Command(part, "", text, line_of(plan, part))
        for part in _OF_A_PLAN
        if (text := getattr(plan, part))
    ]
    for phase in plan.phases:
        found += _of_gates(plan, phase, shells)
        for lane in phase.lanes:
            found += _of_lane(plan, phase, lane, shells)
    return found


def prompt_files(plan: Plan) -> list[str]:
    """Every file with a prompt that a plan names, once."""
    named = (task.prompt_file for _, lane in plan.lanes() for task in lane.tasks)
    return sorted({file for file in named if file})


def _of_gates(plan: Plan, phase: Phase, shells: Collection[str]) -> Iterator[Command]:
    """A gate that names no runner is judged by that of each lane."""
    lanes = {lane.runner or plan.runner for lane in phase.lanes}
    for gate in phase.gates:
        if not ({gate.runner} if gate.runner else lanes).isdisjoint(shells):
            whose = f"{phase.name}/{gate.name}"
            yield Command("shell", whose, gate.prompt, line_of(gate, "prompt"))


def _of_lane(plan: Plan, phase: Phase, lane: Lane, shells: Collection[str]) -> Iterator[Command]:
    whose = f"{phase.name}/{lane.name}"
    for part in _OF_A_LANE:
        text = getattr(lane, part)
        if text:
            yield Command(part, whose, text, line_of(lane, part))
    for task in lane.tasks:
        if (task.runner or lane.runner or plan.runner) in shells:
            line = line_of(task, "prompt_file" if task.prompt_file else "prompt")
            yield Command("shell", whose, task.prompt, line, task.prompt_file, task.name)

"""The files that the tasks of a lane must leave behind: told in its prompt, validated, received.

They lie beside the worktree, not in it: they are for whoever reads them next, not for the branch.
Each run has a folder of its own, so that what an earlier one wrote never passes for its work.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects.rules import Probe
from standfast.plans.lane_spec import TIERS
from standfast.protocols.outputs.files import stage_outputs as files
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import persistence_gate, whole_output
from standfast.protocols.outputs.rules.persistence_gate import Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.plans.lane_spec import Task
    from standfast.runs.lanes.lane_context import Work


def folder(work: Work, task: Task, number: int) -> str:
    """Where the outputs of one run are."""
    name = f"{task.step}-{number}" if task.outputs else f"run-{number}"
    return os.path.join(f"{work.spec.worktree}.outputs", name)


def _wanted(work: Work, task: Task) -> dict[str, str]:
    last = dict(work.spec.outputs) if task == work.spec.tasks[-1] else {}
    return {**last, **task.outputs}


def paths(work: Work, task: Task, number: int) -> list[str]:
    """The files that this run must leave behind."""
    wanted, home = _wanted(work, task), folder(work, task, number)
    if wanted:
        disk.make_folders_beneath(work.root, os.path.relpath(os.path.join(home, "x"), work.root))
    return [os.path.join(home, name) for name in wanted]


def _found(work: Work, task: Task, number: int) -> list[Output]:
    found, home = [], folder(work, task, number)
    for name, tier in _wanted(work, task).items():
        path = os.path.join(home, name)
        seen = files.look(home, name)
        known = recorded.known(work.journal, path)
        found.append(
            Output(role=task.name, name=name, path=path, tier=TIERS[tier], fault=seen.fault,
                   digest=seen.digest, size=seen.size, launches=known.launches,
                   accepted=str(known.accepted["by"]) if known.accepted else "")
        )  # fmt: skip
    return found


def lacking(work: Work, task: Task, number: int) -> str | None:
    """Receive what is valid; say what is not, if the lane cannot go on without it."""
    found = _found(work, task, number)
    for each in found:
        if each.is_valid:
            files.receive(work.journal, each, work.author)
    gate = persistence_gate.decide(found, is_final=True)  # the lane's own retries come next
    for each in gate.omitted:
        work.tell(f"left out: {each.name}, {each.fault}")
    if gate.is_open:
        return None
    return "; ".join(whole_output.wrong(each.path, str(each.fault)) for each in gate.failed)


def probe(work: Work, task: Task, number: int) -> Callable[[], Probe]:
    """An agent whose end nobody saw is known to be done if all that it had to write is whole."""

    def look() -> Probe:
        found = _found(work, task, number)
        return Probe.DONE if found and all(each.is_valid for each in found) else Probe.UNKNOWN

    return look

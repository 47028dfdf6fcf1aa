"""What an agent is told about its task in a lane, and what is said of how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.protocol import outputs
from standfast.protocol.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.protocol.effects import Ended
    from standfast.protocol.lane_spec import Spec, Task

_TITLE = 60
_WORDS = 1500


def prompt(spec: Spec, task: Task, failures: Sequence[str], paths: Iterable[str]) -> str:
    """The task, where it is to be done, what went wrong before, and what must be written."""
    parts = [task.prompt.strip(), _place(spec, task)]
    if failures:
        told = "\n".join(f"- {each}" for each in failures)
        parts.append(f"Earlier runs of this lane failed. What they said:\n{told}")
    parts += [outputs.paragraph(path) for path in paths]
    return "\n\n".join(part for part in parts if part) + "\n"


def _place(spec: Spec, task: Task) -> str:
    return (
        f"You work on task {task.name} of lane {spec.lane}, phase {spec.phase}, in the git"
        f" worktree\n{spec.worktree}\non its branch {spec.branch}. Stay in this folder and on this"
        " branch. What you leave there\nis committed for you when you end with status 0."
    )


def title(spec: Spec, task: Task) -> str:
    """The subject of the commit that holds what a task left."""
    first = next((line for line in task.prompt.splitlines() if line.strip()), task.name)
    plain = "".join(char if char.isprintable() else " " for char in first).strip().lstrip("#")
    return f"feat({spec.phase}-{spec.lane}): {one_line(plain.strip(), _TITLE)}"


def how_it_ended(what: str, ended: Ended) -> str:
    """One line for a log, and for whoever tries again: how it ended and its last words."""
    said = {
        "exited": f"exit status {ended.status}",
        "signal": f"ended by signal {-ended.status}",
        "timeout": "its time was up",
        "cancelled": "it was ended from outside",
        "not started": "it could not be started",
    }.get(ended.how, ended.how)
    words = (ended.err.strip() or ended.out.strip())[-_WORDS:]
    return f"{what}: {said}{': ' + words if words else ''}"

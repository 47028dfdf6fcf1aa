"""What a lane is to do: its tasks, its commands, its branches. Given once, and the same for ever.

A lane that is called again must be the lane that was begun: what differs is named, not mixed in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors import WrongUsage
from standfast.protocol import ids, stages
from standfast.protocol.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.protocol.documents import Value

FF, NO_FF, PR, NONE = "ff", "no-ff", "pr", "none"
MERGES = (FF, NO_FF, PR, NONE)
TIERS = {"critical": stages.CRITICAL, "optional": stages.SOFT}
MOST_RETRIES = 20
MOST_TASKS = 100
LONGEST_PROMPTS = 128 * 1024  # of all tasks together: they stand in one event


class Task(NamedTuple):
    """One agent run of a lane."""

    name: str
    prompt: str

    @property
    def step(self) -> str:
        """What it is called among the steps of the lane."""
        return f"task-{self.name}"


class Spec(NamedTuple):
    """One lane."""

    run_id: str
    phase: str
    lane: str
    base: str  # the branch it starts from and goes to
    branch: str
    worktree: str
    runner: str  # a shell line; the prompt is its input
    tasks: tuple[Task, ...]
    test: str = ""
    retries: int = 0
    merge: str = FF
    pr: str = ""  # a shell line; empty is `gh`
    pr_probe: str = ""
    time_s: float = 7200.0  # for each command
    outputs: Mapping[str, str] = {}  # file -> tier: what the last task must leave behind

    @property
    def names(self) -> tuple[str, str, str]:
        """Run, phase and lane."""
        return self.run_id, self.phase, self.lane

    def as_dict(self) -> dict[str, Value]:
        """How the journal holds it."""
        tasks: list[Value] = [{"name": each.name, "prompt": each.prompt} for each in self.tasks]
        return {**self._asdict(), "tasks": tasks, "outputs": dict(self.outputs)}


def branch(phase: str, lane: str) -> str:
    """The branch of a lane that names none."""
    return f"lane/{phase}/{lane}"


def worktree(root: str, run_id: str, phase: str, lane: str) -> str:
    """Where a lane works: beside the others of its run, below the main checkout."""
    return f"{root.rstrip('/')}/{FOLDER}/{run_id}/{phase}/{lane}"


FOLDER = ".worktrees"


def read(said: Mapping[str, object]) -> Spec:
    """A lane as the journal holds it; fields that are not known here are left out."""
    known = {name: said[name] for name in Spec._fields if name in said}
    tasks = said.get("tasks")
    made = [Task(str(each["name"]), str(each["prompt"])) for each in tasks] if tasks else []  # type: ignore[attr-defined]  # written by as_dict
    return Spec(**{**known, "tasks": tuple(made)})  # type: ignore[arg-type]  # the same


def check(spec: Spec) -> Spec:
    """Refuse what no lane can be."""
    if not spec.tasks or len(spec.tasks) > MOST_TASKS:
        raise WrongUsage(f"a lane has 1 to {MOST_TASKS} tasks, not {len(spec.tasks)}")
    taken = [ids.name(task.name, what="task") for task in spec.tasks]
    if len(set(taken)) < len(taken):
        raise WrongUsage("two tasks of the lane have one name")
    if sum(len(task.prompt) for task in spec.tasks) > LONGEST_PROMPTS:
        raise WrongUsage(f"the tasks of a lane are over {LONGEST_PROMPTS:,} characters together")
    if not 0 <= spec.retries <= MOST_RETRIES:
        raise WrongUsage(f"a lane has 0 to {MOST_RETRIES} retries, not {spec.retries}")
    if spec.branch == spec.base:
        raise WrongUsage("the lane's branch cannot be the base branch itself")
    _refuse_branch(spec.branch)
    if spec.lane == ids.NO_LANE:
        raise WrongUsage("`-` stands for a whole phase: a lane that is run has a name")
    return spec


def _refuse_branch(name: str) -> None:
    """What git takes for no branch is refused before anything is written down."""
    parts = name.split("/")
    bad = (
        name in ("HEAD", "@")
        or name.startswith("-")
        or any(mark in name for mark in ("..", "@{", "\\"))
        or set(name) & set(" ~^:?*[")
        or any(not char.isprintable() for char in name)
        or any(not part or part.startswith(".") or part.endswith((".lock", ".")) for part in parts)
    )
    if bad:
        raise WrongUsage(f"`{one_line(name, 60)}` can be no branch")


def differences(one: Spec, other: Spec) -> list[str]:
    """The names of what is not the same in both."""
    return [name for name in Spec._fields if getattr(one, name) != getattr(other, name)]

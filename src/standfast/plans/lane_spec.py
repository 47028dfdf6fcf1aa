"""What a lane is to do: its tasks, its commands, its branches. Given once, and the same for ever.

A lane that is called again must be the lane that was begun: what differs is named, not mixed in.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.errors.base import WrongUsage
from standfast.plans.model import BUILDER
from standfast.protocols.outputs.rules import stages
from standfast.runners.registry import Runner
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from standfast.formats.document_limits import Value

FF, NO_FF, PR, NONE = "ff", "no-ff", "pr", "none"
MERGES = (FF, NO_FF, PR, NONE)
ALWAYS, STRICT, NEVER = "always", "strict", "never"
RETESTS = (ALWAYS, STRICT, NEVER)  # whether a lane is tested again on a base that moved
TIERS = {"critical": stages.CRITICAL, "optional": stages.SOFT}
MOST_RETRIES = 20
MOST_TASKS = 100
LAST_PORT = 65535
LONGEST_LINE = 128 * 1024 - 1  # bytes that Linux takes as one argument
LONGEST_PROMPTS = 128 * 1024  # of all tasks together: they stand in one event


class Task(NamedTuple):
    """One agent run of a lane."""

    name: str
    prompt: str
    role: str = BUILDER
    runner: str = ""  # the name of one of the lane's runners; the lane's own, if it names none
    outputs: Mapping[str, str] = {}  # file -> tier: what it must leave behind

    @property
    def step(self) -> str:
        """What it is called among the steps of the lane."""
        return f"task-{self.name}"


class Gate(NamedTuple):
    """Scores that the lane's work must reach before it lands; the fields are those of a plan's."""

    name: str
    role: str
    least: Decimal = Decimal("0.92")
    iterations: int = 3
    runner: str = ""
    prompt: str = ""

    @property
    def step(self) -> str:
        """What it is called among the steps of the lane."""
        return f"gate-{self.name}"


class Spec(NamedTuple):
    """One lane."""

    run_id: str
    phase: str
    lane: str
    base: str  # the branch it starts from and goes to
    branch: str
    worktree: str
    runner: str  # a shell line whose input is the prompt; a name, where there are runners
    tasks: tuple[Task, ...]
    test: str = ""
    retries: int = 0
    merge: str = FF
    pr: str = ""  # a shell line; empty is `gh`
    pr_probe: str = ""
    time_s: float = 7200.0  # for each command
    outputs: Mapping[str, str] = {}  # the same for the last task, as lanes without a plan say it
    runners: Mapping[str, Runner] = {}  # by name, as each was when the run began
    setup: str = ""  # a shell line that prepares the worktree
    copy: tuple[str, ...] = ()  # ignored files of the main checkout that the worktree needs
    port_base: int = 0  # the first of the ports that are its own; 0 is none
    gates: tuple[Gate, ...] = ()
    owns: tuple[str, ...] = ()  # patterns of the files that are its own; none is all
    retest: str = ALWAYS  # of RETESTS
    test_is_new: bool = False  # it is of what this lane is to make: on the base it may fail

    @property
    def names(self) -> tuple[str, str, str]:
        """Run, phase and lane."""
        return self.run_id, self.phase, self.lane

    @property
    def agents(self) -> tuple[Task | Gate, ...]:
        """Everything that an agent is run for."""
        return (*self.tasks, *self.gates)

    @property
    def is_prepared(self) -> bool:
        """Whether its worktree needs something before an agent may work there."""
        return bool(self.setup or self.copy)

    def runner_of(self, who: Task | Gate) -> Runner | None:
        """What runs an agent; None where the lane has one shell line for all."""
        return self.runners[who.runner or self.runner] if self.runners else None

    def as_dict(self) -> dict[str, Value]:
        """How the journal holds it."""
        tasks: list[Value] = [
            {**each._asdict(), "outputs": dict(each.outputs)} for each in self.tasks
        ]
        gates: list[Value] = [{**each._asdict(), "least": str(each.least)} for each in self.gates]
        runners: dict[str, Value] = {name: _held(each) for name, each in self.runners.items()}
        lists: dict[str, Value] = {"copy": [*self.copy], "owns": [*self.owns]}
        return {**self._asdict(), "tasks": tasks, "outputs": dict(self.outputs), "gates": gates,
                "runners": runners, **lists}  # fmt: skip


def _held(runner: Runner) -> Value:
    """A runner as JSON has it."""
    command: list[Value] = [*runner.command]
    resume: list[Value] = [*runner.resume]
    return {**runner._asdict(), "command": command, "resume": resume, "env": dict(runner.env)}


def branch(phase: str, lane: str) -> str:
    """The branch of a lane that names none."""
    return f"lane/{phase}/{lane}"


def worktree(root: str, run_id: str, phase: str, lane: str) -> str:
    """Where a lane works: beside the others of its run, below the main checkout."""
    return f"{root.rstrip('/')}/{FOLDER}/{run_id}/{phase}/{lane}"


FOLDER = ".worktrees"


def read(said: Mapping[str, Any]) -> Spec:
    """A lane as the journal holds it; fields that are not known here are left out."""
    known = _known(Spec._fields, said)
    tasks = tuple(Task(**_known(Task._fields, each)) for each in said.get("tasks") or ())
    gates = tuple(_gate(each) for each in said.get("gates") or ())
    runners = {name: _runner(each) for name, each in (said.get("runners") or {}).items()}
    lists = {name: tuple(said.get(name) or ()) for name in ("copy", "owns")}
    return Spec(**{**known, "tasks": tasks, "gates": gates, "runners": runners, **lists})


def _known(fields: Iterable[str], said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: said[name] for name in fields if name in said}


def _gate(said: Mapping[str, Any]) -> Gate:
    return Gate(**{**_known(Gate._fields, said), "least": Decimal(str(said["least"]))})


def _runner(said: Mapping[str, Any]) -> Runner:
    lists = {name: tuple(said.get(name) or ()) for name in ("command", "resume")}
    return Runner(**{**_known(Runner._fields, said), **lists})


def check(spec: Spec) -> Spec:
    """Refuse what no lane can be."""
    if not spec.tasks or len(spec.tasks) > MOST_TASKS:
        raise WrongUsage(f"a lane has 1 to {MOST_TASKS} tasks, not {len(spec.tasks)}")
    _refuse_shared(ids.name(task.name, what="task") for task in spec.tasks)
    _refuse_shared(ids.name(gate.name, what="gate") for gate in spec.gates)
    said = [each.prompt for each in spec.agents]
    if sum(map(len, said)) > LONGEST_PROMPTS:
        raise WrongUsage(f"the tasks of a lane are over {LONGEST_PROMPTS:,} characters together")
    _refuse_runners(spec)
    _refuse_gates(spec)
    _refuse_needs(spec)
    if not 0 <= spec.retries <= MOST_RETRIES:
        raise WrongUsage(f"a lane has 0 to {MOST_RETRIES} retries, not {spec.retries}")
    if spec.branch == spec.base:
        raise WrongUsage("the lane's branch cannot be the base branch itself")
    refuse_branch(spec.branch)
    refuse_branch(spec.base)
    for line in (spec.setup, spec.test, spec.pr, spec.pr_probe):
        refuse_line(line)
    if spec.lane == ids.NO_LANE:
        raise WrongUsage("`-` stands for a whole phase: a lane that is run has a name")
    return spec


def _refuse_shared(names: Iterable[str]) -> None:
    taken = list(names)
    if len(set(taken)) < len(taken):
        raise WrongUsage("two tasks or gates of the lane have one name")


def _refuse_runners(spec: Spec) -> None:
    """Whoever is named must be there; a lane with one shell line knows no names."""
    for each in spec.agents:
        named = each.runner or (spec.runner if spec.runners else "")
        if named and named not in spec.runners:
            raise WrongUsage(f"{each.step} names the runner `{one_line(named, 60)}`: there is none")


def _refuse_gates(spec: Spec) -> None:
    for gate in spec.gates:
        if not 0 <= gate.least <= 1:
            raise WrongUsage(
                f"{gate.step} asks for a score of {gate.least}: scores are from 0 to 1"
            )
        if not 1 <= gate.iterations <= MOST_RETRIES:
            raise WrongUsage(f"{gate.step} has 1 to {MOST_RETRIES} iterations")


def _refuse_needs(spec: Spec) -> None:
    """What a worktree is prepared with stays inside it; what a task writes has a plain name."""
    for path in spec.copy:
        if not path or set(path.split("/")) & {"", ".", "..", ".git"} or "\0" in path:
            raise WrongUsage(f"`{one_line(path, 60)}` is no file below the main checkout")
    if not 0 <= spec.port_base <= LAST_PORT:
        raise WrongUsage(f"there is no port {spec.port_base}")
    for each in (spec.outputs, *(task.outputs for task in spec.tasks)):
        for name, tier in each.items():
            ids.name(name, what="output")
            if tier not in TIERS:
                raise WrongUsage(f"an output is critical or optional, not `{one_line(tier, 60)}`")


def refuse_branch(name: str) -> None:
    """What git takes for no branch is refused before anything is written down.

    `main~0` leads to a commit as well as `main` does, and nothing can ever land on it.
    """
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
        raise WrongUsage(f"`{one_line(name, 60)}` can be no branch",
                         remedy="Name one as `git branch` shows it.")  # fmt: skip


def refuse_line(line: str) -> None:
    """A shell line that no system could start would look like one that failed."""
    if "\0" in line:
        raise WrongUsage(f"`{one_line(line, 60)}` can never be started: it holds a NUL",
                         remedy="Take it out.")  # fmt: skip
    size = len(line.encode("utf-8", "surrogatepass"))
    if size > LONGEST_LINE:
        problem = f"`{one_line(line, 60)}` can never be started: {size:,} bytes"
        raise WrongUsage(f"{problem}, and a command has {LONGEST_LINE:,} at most",
                         remedy="Put it into a script, and call that.")  # fmt: skip


def differences(one: Spec, other: Spec) -> list[str]:
    """The names of what is not the same in both."""
    return [name for name in Spec._fields if getattr(one, name) != getattr(other, name)]

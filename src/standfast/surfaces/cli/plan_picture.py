"""A plan as people see it: a tree of phases, waves and lanes, or a drawing for Mermaid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.plans.checks import lane_waves
from standfast.plans.lane_spec import ALWAYS
from standfast.plans.model import BUILDER, ONLY_TASK
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.plans.model import Lane, Phase, Plan, Task
    from standfast.surfaces.cli.screen import Screen

_LONGEST = 100
Node = tuple[str, list["Node"]]  # a line, and what hangs below it


def counted(plan: Plan) -> str:
    """How much there is: `2 phases, 3 waves, 3 lanes`."""
    numbers = (len(plan.phases), len(lane_waves.waves(plan)), sum(1 for _ in plan.lanes()))
    words = zip(numbers, ("phase", "wave", "lane"), strict=True)
    return ", ".join(f"{number:,} {word}{'' if number == 1 else 's'}" for number, word in words)


def tree(plan: Plan, screen: Screen) -> str:
    """Phases, their waves, their lanes, and what each lane waits for, owns and does."""
    retest = "" if plan.retest == ALWAYS else f"; retest: {plan.retest}"
    tested = f"; test: {_commands(plan.test)}" if plan.test else ""
    lines = [f"{screen.paint(plan.run, 'strong')}: {counted(plan)}{tested}{retest}"]
    for phase in plan.phases:
        title = f" {printable(phase.title)}" if phase.title else ""
        lines.append(f"{screen.paint(phase.name, 'strong')}{title}")
        nodes = _phase(plan, phase, screen)
        lines += _drawn(nodes, screen, "") if screen.draws else _plain(nodes, 1)
    return "\n".join(lines)


def _phase(plan: Plan, phase: Phase, screen: Screen) -> list[Node]:
    lanes = {lane.name: lane for lane in phase.lanes}
    layers = lane_waves.layers(lane_waves.lane_graph(phase))
    made: list[Node] = [
        (f"wave {number}", [_lane(plan, lanes[name], screen) for name in names])
        for number, names in enumerate(layers, 1)
    ]
    gates = [f"gate {gate.name}: {gate.role}, {gate.least}" for gate in phase.gates]
    made += [(each, []) for each in gates]
    done: list[Node] = [
        (one_line(line.strip(), _LONGEST), []) for line in phase.done.split("\n") if line.strip()
    ]
    return [*made, ("done when", done)] if done else made


def _lane(plan: Plan, lane: Lane, screen: Screen) -> Node:
    after = screen.paint(f"  after {', '.join(lane.after)}", "dim") if lane.after else ""
    below: list[Node] = []
    if lane.owns:
        below.append((f"owns {printable(', '.join(lane.owns))}", []))
    if lane.test is not None or not plan.test:
        below.append((f"test: {_commands(lane.test or '') or 'none'}", []))
    (first, *others) = lane.tasks
    if not others and first.name == ONLY_TASK:
        below += _done(first)
        return f"{screen.paint(lane.name, 'good')}{after}  {_told(first)}", below
    below += [(_task(task), _done(task)) for task in lane.tasks]
    return f"{screen.paint(lane.name, 'good')}{after}", below


def _commands(script: str) -> str:
    """The commands of a test in one line, without what only a shell needs to know."""
    lines = [line.strip().removesuffix(" || exit") for line in script.split("\n")]
    said = [line for line in lines if line and line != "set -e" and not line.startswith("#")]
    return one_line("; ".join(said), _LONGEST)


def _done(task: Task) -> list[Node]:
    return [(f"done when: {one_line(task.done, _LONGEST)}", [])] if task.done else []


def _task(task: Task) -> str:
    facts = [f"after {', '.join(task.after)}"] if task.after else []
    facts += [task.role] if task.role != BUILDER else []
    facts += [f"by {task.runner}"] if task.runner else []
    said = f" ({'; '.join(facts)})" if facts else ""
    return f"{task.name}{printable(said)}  {_told(task)}"


def _told(task: Task) -> str:
    """The first line of what it is told, or where that stands."""
    return one_line(task.prompt.strip().partition("\n")[0] or task.prompt_file, _LONGEST)


def _drawn(nodes: list[Node], screen: Screen, before: str) -> Iterator[str]:
    for number, (line, below) in enumerate(nodes, 1):
        is_last = number == len(nodes)
        yield f"{screen.paint(before + ('└─ ' if is_last else '├─ '), 'dim')}{line}"
        yield from _drawn(below, screen, before + ("   " if is_last else "│  "))


def _plain(nodes: list[Node], depth: int) -> Iterator[str]:
    for line, below in nodes:
        yield f"{'  ' * depth}{line}"
        yield from _plain(below, depth + 1)


def mermaid(plan: Plan) -> str:
    """A flowchart: lanes in the boxes of their phases, an arrow from whom one waits for."""
    lines = ["flowchart LR"]
    number = {(phase.name, lane.name): f"L{at}" for at, (phase, lane) in enumerate(plan.lanes(), 1)}
    for at, phase in enumerate(plan.phases, 1):
        lines.append(f'  subgraph F{at}["{_label(f"{phase.name} {phase.title}".strip())}"]')
        lines += [f'    {number[phase.name, lane.name]}["{lane.name}"]' for lane in phase.lanes]
        lines.append("  end")
    for phase, lane in plan.lanes():
        for said in lane.after:
            where, slash, name = said.rpartition("/")
            before = number[where if slash else phase.name, name]
            lines.append(f"  {before} --> {number[phase.name, lane.name]}")
    lines += [f"  F{at} --> F{at + 1}" for at in range(1, len(plan.phases))]
    return "\n".join(lines)


def _label(text: str) -> str:
    """Words in which Mermaid finds no marks of its own."""
    plain = one_line(text, _LONGEST).replace("#", "#35;")
    return plain.replace('"', "#quot;").replace("<", "#lt;").replace("`", "'")

"""What is wrong with a plan beyond its form: names that lead nowhere, rings, doubles. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import WrongUsage
from standfast.plans import lane_spec
from standfast.plans.checks import lane_waves, overlaps
from standfast.plans.findings import Finding, line_of, nearest, quoted, warning
from standfast.plans.plan_commands import commands

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from standfast.plans.model import Gate, Lane, Phase, Plan, Task

MOST_LANES = 2_000
_MOST_GUESSES = 100  # at what was meant by a name that leads nowhere: each looks at all names


def check(plan: Plan, runners: Collection[str] | None = None) -> list[Finding]:
    """Everything; *runners* are the names that are known here, None if nobody can say."""
    lanes = sum(len(phase.lanes) for phase in plan.phases)
    if lanes > MOST_LANES:
        return [Finding(1, f"{lanes:,} lanes; a plan has {MOST_LANES:,} at most")]
    guesses = iter(range(_MOST_GUESSES))
    found = [*_doubles(plan), *_after_phases(plan, guesses)]
    for _, lane in plan.lanes():
        found += _lane(lane, guesses)
    found += [*_requests(plan), *_unstartable(plan)]
    found += [] if runners is None else _unknown_runners(plan, runners)
    return [*found, *overlaps.overlaps(plan)]


def _doubles(plan: Plan) -> Iterator[Finding]:
    """Names become branches and folders, and some disks take `a` and `A` for one."""
    yield from _twice("phase", plan.phases)
    for phase in plan.phases:
        yield from _twice("lane", phase.lanes)
        yield from _twice("gate", phase.gates)
    for _, lane in plan.lanes():
        yield from _twice("task", lane.tasks)


def _twice(what: str, things: Iterable[Phase | Lane | Task | Gate]) -> Iterator[Finding]:
    seen: dict[str, Phase | Lane | Task | Gate] = {}
    for each in things:
        first = seen.setdefault(each.name.casefold(), each)
        if first is not each and each.name:
            alike = "" if first.name == each.name else f", as {quoted(first.name)} but for its case"
            problem = f"the {what} {quoted(each.name)} is there twice{alike}; first in line"
            yield Finding(each.line, f"{problem} {first.line}", "Give it another name.")


def _after_phases(plan: Plan, guesses: Iterator[int]) -> Iterator[Finding]:
    place = {phase.name: number for number, phase in enumerate(plan.phases)}
    known = {phase.name: dict.fromkeys(sorted(lane.name for lane in phase.lanes))
             for phase in plan.phases}  # fmt: skip
    for phase, lane in plan.lanes():
        for said in lane.after:
            yield from _after(phase, lane, said, place, known, guesses)
    for phase in plan.phases:
        yield from _rings("lane", lane_waves.lane_graph(phase), phase.lanes)


def _after(
    phase: Phase,
    lane: Lane,
    said: str,
    place: Mapping[str, int],
    known: Mapping[str, Collection[str]],
    guesses: Iterator[int],
) -> Iterator[Finding]:
    """What is wrong with one name that a lane waits for."""
    line = line_of(lane, f"after {said}")
    where, slash, name = said.rpartition("/")
    where = where if slash else phase.name
    if where not in known:
        yield Finding(line, f"there is no phase {quoted(where)}", _guess(where, known, guesses))
    elif name not in known[where]:
        problem = f"{quoted(lane.name)} waits for {quoted(said)}, and there is no such lane"
        yield Finding(line, problem, _elsewhere(name, where, known, guesses))
    elif place[where] > place[phase.name]:
        problem = f"{quoted(lane.name)} waits for {quoted(said)}, which is in a later phase"
        yield Finding(line, problem, "Move one of them.")


def _elsewhere(
    name: str, where: str, known: Mapping[str, Collection[str]], guesses: Iterator[int]
) -> str:
    there = next((phase for phase, lanes in known.items() if name in lanes), None)
    if there is not None:
        return f"Another phase has it: write `{there}/{name}`."
    return _guess(name, known[where], guesses)


def _guess(word: str, known: Iterable[str], guesses: Iterator[int]) -> str:
    return "" if next(guesses, None) is None else nearest(word, known)


def _rings(
    what: str, graph: Mapping[str, list[str]], things: Iterable[Lane | Task]
) -> Iterator[Finding]:
    by_name = {each.name: each for each in things}
    for ring in lane_waves.rings(graph):
        who = by_name[ring[0]]
        words = ", which waits for ".join(quoted(each) for each in ring[1:])
        problem = f"the {what} {quoted(ring[0])} waits for {words}"
        line = line_of(who, f"after {ring[1]}")
        yield Finding(line, problem, "Take one of these dependencies out.")


def _lane(lane: Lane, guesses: Iterator[int]) -> Iterator[Finding]:
    """What is wrong inside one lane."""
    names = dict.fromkeys(task.name for task in lane.tasks)
    for task in lane.tasks:
        for said in task.after:
            if said not in names:
                problem = f"{quoted(task.name)} waits for {quoted(said)}: the lane has no such task"
                remedy = _guess(said, names, guesses)
                yield Finding(line_of(task, f"after {said}"), problem, remedy)
    yield from _rings("task", lane_waves.task_graph(lane), lane.tasks)
    if len(lane.tasks) > lane_spec.MOST_TASKS:
        yield Finding(lane.line, f"a lane has {lane_spec.MOST_TASKS} tasks at most")


def too_long(plan: Plan, prompts: Mapping[str, str]) -> Iterator[Finding]:
    """Lanes whose agents are told more than one event holds; *prompts* are those in files."""
    most = f"{lane_spec.LONGEST_PROMPTS:,} characters at most, together"
    for phase, lane in plan.lanes():
        said = [task.prompt or prompts.get(task.prompt_file, "") for task in lane.tasks]
        said += [gate.prompt for gate in phase.gates]
        if sum(map(len, said)) > lane_spec.LONGEST_PROMPTS:
            yield Finding(lane.line, f"the tasks of a lane and its gates are {most}")


def _unstartable(plan: Plan) -> Iterator[Finding]:
    """Shell lines that no system could start."""
    for each in commands(plan, shells=()):
        try:
            lane_spec.refuse_line(each.text)
        except WrongUsage as error:
            yield Finding(each.line, error.problem, error.remedy)


def _requests(plan: Plan) -> Iterator[Finding]:
    """Commands for pull requests where nothing ends in one."""
    asks = any((lane.merge or plan.merge) == lane_spec.PR for _, lane in plan.lanes())
    if (plan.pr or plan.pr_probe) and not asks:
        line = line_of(plan, "pr" if plan.pr else "pr_probe")
        yield warning(line, "`pr` and `pr_probe` are for `merge: pr`, which no lane has")


def _unknown_runners(plan: Plan, runners: Collection[str]) -> Iterator[Finding]:
    gates = [gate for phase in plan.phases for gate in phase.gates]
    lanes = [lane for _, lane in plan.lanes()]
    tasks = [task for lane in lanes for task in lane.tasks]
    named: list[Plan | Gate | Lane | Task] = [plan, *gates, *lanes, *tasks]
    for each in named:
        if each.runner and each.runner not in runners:
            problem = f"there is no runner {quoted(each.runner)}"
            yield Finding(line_of(each, "runner"), problem, nearest(each.runner, sorted(runners)))

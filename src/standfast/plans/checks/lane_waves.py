"""In which order the lanes of a plan may run: phases one after the other, waves inside them. Pure.

Names in `after` that lead nowhere are left out here: plan_checks.py tells of them.
"""

from __future__ import annotations

import heapq
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from standfast.plans.model import Lane, Phase, Plan, Task

Graph = dict[str, list[str]]  # who -> whom they wait for, in the order of the plan


class Wave(NamedTuple):
    """Lanes of one phase that nothing keeps from running at the same time."""

    phase: str
    lanes: tuple[str, ...]


def waves(plan: Plan) -> list[Wave]:
    """Every lane in its wave; each wave has a lane in the one before that it waits for."""
    return [
        Wave(phase.name, tuple(wave)) for phase in plan.phases for wave in layers(lane_graph(phase))
    ]


def lane_graph(phase: Phase) -> Graph:
    """Who waits for whom among the lanes of one phase."""
    found: Graph = {lane.name: [] for lane in phase.lanes}
    for lane in phase.lanes:
        found[lane.name] += [each for said in lane.after if (each := within(phase, said)) in found]
    return found


def within(phase: Phase, said: str) -> str:
    """A name in `after` without the phase, if it is this one; a lane of another stays as said."""
    return said.removeprefix(f"{phase.name}/")


def task_graph(lane: Lane) -> Graph:
    """Who waits for whom among the tasks of a lane."""
    names = {task.name for task in lane.tasks}
    return {task.name: [each for each in task.after if each in names] for task in lane.tasks}


def layers(graph: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Who can go first, who after them, and so on, in the order of the plan; CycleError."""
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    place = {name: number for number, name in enumerate(graph)}
    found = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=place.__getitem__)
        found.append(ready)
        sorter.done(*ready)
    return found


def rings(graph: Mapping[str, Iterable[str]], most: int = 100) -> list[list[str]]:
    """Circles of names that each wait for the next, the first one again at the end."""
    left = {name: list(after) for name, after in graph.items()}
    found: list[list[str]] = []
    while len(found) < most:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            ring = list(reversed(error.args[1]))
            found.append(_from_first(ring, list(left)))
            for who, whom in pairwise(ring):
                left[who] = [each for each in left[who] if each != whom]
        else:
            break
    return found


def _from_first(ring: list[str], order: list[str]) -> list[str]:
    """The same circle, begun with whoever stands first in the plan."""
    turn = ring[:-1]
    start = turn.index(min(turn, key=order.index))
    return [*turn[start:], *turn[:start], turn[start]]


def in_turn(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """The tasks of a lane, each after those that it waits for; as they stand, if that is a ring."""
    given = {task.name: task for task in tasks}
    graph = {name: [each for each in task.after if each in given] for name, task in given.items()}
    if rings(graph, most=1):
        return tuple(given.values())
    return tuple(given[name] for name in one_by_one(graph))


def one_by_one(graph: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Always the first that can go, so that names stay as they stand wherever they may."""
    place = {name: number for number, name in enumerate(graph)}
    names = list(graph)
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    ready: list[int] = []
    while sorter.is_active():
        for name in sorter.get_ready():
            heapq.heappush(ready, place[name])
        first = names[heapq.heappop(ready)]
        yield first
        sorter.done(first)


def ancestors(graph: Mapping[str, Collection[str]]) -> dict[str, int]:
    """All that each name waits for, at however many removes: bit n is the nth name."""
    bit = {name: 1 << number for number, name in enumerate(graph)}
    found: dict[str, int] = {}
    for layer in layers(graph):
        for name in layer:
            found[name] = 0
            for before in graph[name]:
                found[name] |= found[before] | bit[before]
    return found

"""Lanes that may not run beside others: whom they wait for, and who waits for them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.protocol import plan_waves

if TYPE_CHECKING:
    from collections.abc import Collection

    from standfast.protocol.plan import Lane, Phase


def set_apart(phase: Phase, alone: Collection[str]) -> Phase:
    """The phase, with the lanes of *alone* in waves of their own; a phase with a ring as it is.

    They come where they stand, top to bottom, after whom they wait for: a check of the third task
    comes right after it. Only what is not ordered already is said.
    """
    graph = plan_waves.lane_graph(phase)
    if not alone or len(graph) < len(phase.lanes) or plan_waves.rings(graph, most=1):
        return phase
    order = list(plan_waves.one_by_one(graph))
    bit = {name: 1 << number for number, name in enumerate(order)}
    before: dict[str, int] = {}
    for at, name in enumerate(order):
        known = 0
        for other in (*graph[name], *reversed(order[:at])):
            is_said = other in graph[name]
            if is_said or ((name in alone or other in alone) and not known & bit[other]):
                graph[name] += [] if is_said else [other]
                known |= before[other] | bit[other]
        before[name] = known
    return phase._replace(lanes=tuple(_waiting(phase, lane, graph) for lane in phase.lanes))


def _waiting(phase: Phase, lane: Lane, graph: plan_waves.Graph) -> Lane:
    said = [plan_waves.within(phase, each) for each in lane.after]
    added = tuple(each for each in graph[lane.name] if each not in said)
    return lane._replace(after=(*lane.after, *added))

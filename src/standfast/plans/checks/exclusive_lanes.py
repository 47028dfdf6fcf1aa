"""Lanes that may not run beside others: whom they wait for, and who waits for them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.plans.checks import lane_waves
from standfast.plans.findings import quoted, warning

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from standfast.plans.findings import Finding
    from standfast.plans.model import Lane, Phase


def set_apart(phase: Phase, alone: Collection[str]) -> Phase:
    """The phase, with the lanes of *alone* in waves of their own; a phase with a ring as it is.

    They come where they stand, top to bottom, after whom they wait for: a check of the third task
    comes right after it. Only what is not ordered already is said.
    """
    graph = lane_waves.lane_graph(phase)
    if not alone or len(graph) < len(phase.lanes) or lane_waves.rings(graph, most=1):
        return phase
    order = list(lane_waves.one_by_one(graph))
    bit = {name: 1 << number for number, name in enumerate(order)}
    before: dict[str, int] = {}
    for at, name in enumerate(order):
        known = 0
        said = set(graph[name])
        for other in (*graph[name], *reversed(order[:at])):
            is_said = other in said
            if is_said or ((name in alone or other in alone) and not known & bit[other]):
                graph[name] += [] if is_said else [other]
                known |= before[other] | bit[other]
        before[name] = known
    return phase._replace(lanes=tuple(_waiting(phase, lane, graph) for lane in phase.lanes))


def told(before: Phase, after: Phase, alone: Mapping[str, int]) -> Iterator[Finding]:
    """Who waits for whom only because a lane is not safe beside others, with the line of that."""
    said = {lane.name: set(lane.after) for lane in before.lanes}
    added = [(lane.name, [each for each in lane.after if each not in said[lane.name]])
             for lane in after.lanes]  # fmt: skip
    for name, line in alone.items():
        own = next((others for lane, others in added if lane == name), [])
        behind = [lane for lane, others in added if name in others]
        words = [f"it waits for {', '.join(own)}"] if own else []
        words += [f"{', '.join(behind)} wait{'s' * (len(behind) == 1)} for it"] if behind else []
        if words:
            yield warning(line, f"{quoted(name)} runs beside no other: {', and '.join(words)}")


def _waiting(phase: Phase, lane: Lane, graph: lane_waves.Graph) -> Lane:
    said = {lane_waves.within(phase, each) for each in lane.after}
    added = tuple(each for each in graph[lane.name] if each not in said)
    return lane._replace(after=(*lane.after, *added))

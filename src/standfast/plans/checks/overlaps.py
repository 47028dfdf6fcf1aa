"""Files that two lanes own which can run at the same time. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import TooLarge
from standfast.plans.checks import lane_waves, owned_patterns
from standfast.plans.findings import Finding, line_of, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.plans.checks.owned_patterns import Shape, Work
    from standfast.plans.model import Lane, Phase, Plan

_REMEDY = "Let one lane come `after` the other, or give the files to one of them."

_ONE_SHAPE = 100  # what taking one apart costs, in steps of comparing


class _Owner(NamedTuple):
    """One meaning of a pattern, and the lane that it belongs to."""

    lane: Lane
    number: int
    text: str
    shape: Shape

    @property
    def line(self) -> int:
        return line_of(self.lane, f"owns {self.text}")


def overlaps(plan: Plan) -> list[Finding]:
    """Every pair of patterns that can mean one file, told at the later of its two lines."""
    work = owned_patterns.Work()
    found: list[Finding] = []
    try:
        for phase in plan.phases:
            found += _in_phase(phase, work)
    except TooLarge as error:
        found.append(Finding(1, error.problem, "Write fewer, or order the lanes by `after`."))
    return found


def _in_phase(phase: Phase, work: Work) -> Iterator[Finding]:
    """Lanes of different phases never run together; a phase with a ring has no order to look at."""
    graph = lane_waves.lane_graph(phase)
    if lane_waves.rings(graph, most=1):
        return
    before = lane_waves.ancestors(graph)
    told: set[Finding] = set()
    for one, other in _near(sorted(_owners(phase, work), key=lambda each: each.shape.start), work):
        if not _ordered(one, other, before) and owned_patterns.overlap(
            one.shape, other.shape, work
        ):
            found = _told(*sorted((one, other), key=lambda each: each.line))
            if found not in told:  # braces mean several shapes
                told.add(found)
                yield found


def _owners(phase: Phase, work: Work) -> Iterator[_Owner]:
    names = dict.fromkeys(lane.name for lane in phase.lanes)
    places = {name: number for number, name in enumerate(names)}  # as ancestors() counts them
    for lane in phase.lanes:
        for text in filter(None, lane.owns):
            for shape in owned_patterns.shapes(text):
                work.use(_ONE_SHAPE)
                yield _Owner(lane, places[lane.name], text, shape)


def _near(owners: list[_Owner], work: Work) -> Iterator[tuple[_Owner, _Owner]]:
    """Pairs that could meet, of owners in the order of their starts.

    Two patterns can fit one path only if the plain names that one starts with begin the other, and
    in that order whatever begins alike stands together: most pairs need not be looked at.
    """
    for at, one in enumerate(owners):
        start = one.shape.start
        for after in range(at + 1, len(owners)):
            work.use(1)
            if owners[after].shape.start[: len(start)] != start:
                break
            yield one, owners[after]


def _ordered(one: _Owner, other: _Owner, before: dict[str, int]) -> bool:
    """Whether they are one lane, or one waits for the other."""
    return (
        one.number == other.number
        or bool(before[one.lane.name] >> other.number & 1)
        or bool(before[other.lane.name] >> one.number & 1)
    )


def _told(first: _Owner, second: _Owner) -> Finding:
    return Finding(
        second.line,
        f"{quoted(second.lane.name)} owns {quoted(second.text)}, and {quoted(first.lane.name)},"
        f" which can run at the same time, owns {quoted(first.text)} (line {first.line})",
        _REMEDY,
    )

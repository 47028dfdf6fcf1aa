"""Which lanes of a run begin next, and when the run is over. Pure: no clock, no threads.

A lane begins when every lane that it waits for is done. One that failed, or that needs a person,
holds back those that wait for it and, where the plan says `stop`, all that have not begun.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from standfast.runs.rules import parking
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Name = tuple[str, str]  # phase and lane


class State(StrEnum):
    """How a lane of a run stands."""

    WAITING = "waiting"  # not begun, or to be taken on again
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    NEEDS = "needs you"
    PARKED = "parked"
    ENDED = "ended"  # stopped in the middle: whoever resumes goes on


class Lane(NamedTuple):
    """One lane, as the schedule sees it."""

    state: State
    until_us: int = 0  # parked: not before; 0 is until somebody says so
    why: str = ""
    remedy: str = ""  # what a person can do about it
    since_us: int = 0  # parked: when that was said


class Rules(NamedTuple):
    """What holds for the whole run."""

    at_once: int
    stops_at_failure: bool = False
    is_stopping: bool = False  # nothing is begun any more: it was stopped, or its limit is reached


class Next(NamedTuple):
    """What follows now."""

    begin: tuple[Name, ...] = ()
    is_over: bool = False


_BAD = (State.FAILED, State.NEEDS, State.ENDED)
_LONGEST_WHY, _ROOM = 400, 50_000  # characters, some of which are two in JSON


class Graph:
    """The lanes of a run, phase by phase, and what each waits for; made once, asked often."""

    def __init__(
        self, phases: Iterable[Iterable[Name]], after: Mapping[Name, Iterable[Name]]
    ) -> None:
        self.phases = tuple(tuple(phase) for phase in phases if phase)
        self.after = {name: tuple(after[name]) for phase in self.phases for name in phase}

    def only(self, phase: str) -> Graph:
        """One phase of it, which waits for no other."""
        after = {name: [each for each in names if each[0] == phase]
                 for name, names in self.after.items()}  # fmt: skip
        return Graph([[name for name in each if name[0] == phase] for each in self.phases], after)

    def ready(self, lanes: Mapping[Name, Lane], now_us: int) -> list[Name]:
        """Those that could begin, in the plan's order; a parked one whose time has come is one."""
        return [
            name
            for name in self._current(lanes)
            if _is_due(lanes[name], now_us)
            and all(lanes[each].state is State.DONE for each in self.after[name])
        ]

    def _current(self, lanes: Mapping[Name, Lane]) -> Sequence[Name]:
        """The phase that is not done yet: only its lanes can begin."""
        for phase in self.phases:
            if any(lanes[name].state is not State.DONE for name in phase):
                return phase
        return ()

    def waves(self) -> dict[Name, int]:
        """The wave of each lane, from 1 on: how many must end one after the other before it."""
        found: dict[Name, int] = {}
        first = 1
        for phase in self.phases:
            for name in self._in_order(phase):
                own = [found[each] + 1 for each in self.after[name] if each in found]
                found[name] = max([first, *own])
            first = max(found[name] for name in phase) + 1
        return found

    def held(self, lanes: Mapping[Name, Lane]) -> dict[Name, Name]:
        """Lanes that cannot begin, each with the lane that is in the way."""
        found: dict[Name, Name] = {}
        gate: Name | None = None  # what keeps the phases after this one from beginning
        for phase in self.phases:
            bad = {name: name for name in phase if lanes[name].state in _BAD}
            for name in self._in_order(phase):
                if lanes[name].state is not State.WAITING:
                    continue
                blocking = (bad.get(each) or found.get(each) for each in self.after[name])
                at_fault = gate or next((each for each in blocking if each), None)
                if at_fault is not None:
                    found[name] = at_fault
            gate = gate or next(iter(bad), None)
        return found

    def _in_order(self, phase: Sequence[Name]) -> Iterable[Name]:
        """Who is waited for comes first."""
        from graphlib import TopologicalSorter

        inside = set(phase)
        before = {name: inside.intersection(self.after[name]) for name in phase}
        return TopologicalSorter(before).static_order()


def _is_due(lane: Lane, now_us: int) -> bool:
    if lane.state is State.PARKED:
        return lane.until_us > 0 and parking.has_come(lane.since_us, lane.until_us, now_us)
    return lane.state is State.WAITING


def decide(graph: Graph, lanes: Mapping[Name, Lane], rules: Rules, now_us: int) -> Next:
    """Begin what may begin; over is a run in which nothing runs and nothing will."""
    mine = [lanes[name] for name in graph.after]
    running = sum(lane.state is State.RUNNING for lane in mine)
    closed = rules.is_stopping or (
        rules.stops_at_failure and any(lane.state in _BAD for lane in mine)
    )
    if closed:
        return Next(is_over=not running)
    ready = graph.ready(lanes, now_us)
    begin = tuple(ready[: max(0, rules.at_once - running)])
    waits = any(lane.state is State.PARKED and lane.until_us > now_us for lane in mine)
    return Next(begin, is_over=not (ready or running or waits))


def named(phase: str, said: str) -> Name:
    """A lane as `after` says it: one of the same phase, or PHASE/LANE."""
    other, slash, lane = said.rpartition("/")
    return (other, lane) if slash else (phase, said)


def in_short(whys: Mapping[str, str]) -> dict[str, str]:
    """Why lanes stand as they do, in a line each: all of them have room in one event."""
    most = min(_LONGEST_WHY, _ROOM // max(1, len(whys)))
    return {name: one_line(why, most) for name, why in whys.items()}


class Outcome(StrEnum):
    """How a run ended, the worst first."""

    NEEDS = "needs you"
    FAILED = "failed"
    STOPPED = "stopped"
    PARKED = "parked"
    DONE = "done"


def outcome(lanes: Mapping[Name, Lane]) -> Outcome:
    """What is said of a run that is over."""
    states = {lane.state for lane in lanes.values()}
    for state, found in (
        (State.NEEDS, Outcome.NEEDS),
        (State.FAILED, Outcome.FAILED),
        (State.PARKED, Outcome.PARKED),
    ):
        if state in states:
            return found
    return Outcome.DONE if states <= {State.DONE} else Outcome.STOPPED

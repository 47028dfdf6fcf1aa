"""Many lanes of one arm, killed at random moments and in every interval of its journal.

A calm lane tells the course: which places there are, and how long each lasts. Then every other
lane is killed at moments drawn at random, and the others where fewest kills have struck so far.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from harness.matrix import striking, work
from harness.matrix.places import EFFECT, LedgerPlaces
from harness.matrix.trial import Plan, Told, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.matrix.arms import Arm
    from harness.matrix.places import Places

MOST_KILLS = 3  # of one lane
_LAST_S = 0.02  # how long the last place lasts: until the orchestrator has gone
_MORE = 2  # so many times the kills asked for, at most, until every interval was struck


class Course(NamedTuple):
    """The places of a calm lane in their order, and how many seconds each lasted."""

    labels: tuple[str, ...]
    widths: tuple[float, ...]

    @property
    def order(self) -> dict[str, int]:
        """Each place with its number."""
        return {label: number for number, label in enumerate(self.labels)}


_NOWHERE = Course((), ())


def course(passed: Sequence[tuple[str, int]]) -> Course:
    """What a calm lane shows; a place that comes twice is one place."""
    since = [at for _, at in passed]
    until = [*since[1:], since[-1] + int(_LAST_S * 1e6)]
    widths: dict[str, float] = {}
    for (label, at), end in zip(passed, until, strict=True):
        widths[label] = max(widths.get(label, 0.0), (end - at) / 1e6)
    return Course(tuple(widths), tuple(widths.values()))


@dataclass(slots=True)
class Campaign:
    """One arm, and what is known of it so far."""

    arm: Arm
    folder: str
    kills: int
    seed: int
    watch: Callable[[Campaign], None] = lambda _: None
    everywhere: bool = True  # go on until every interval was struck
    told: list[Told] = field(default_factory=list)
    intervals: Course = _NOWHERE
    moments: Course = _NOWHERE
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(f"{self.arm.name} {self.seed}")

    def run(self) -> Campaign:
        """Until there were so many kills, and one in every interval."""
        self._calm()
        number = 0
        while not self._is_over():
            number += 1
            self.told.append(self._try(number, adaptive=number % 2 == 1))
            self.watch(self)
        return self

    @property
    def struck(self) -> int:
        """The kills so far."""
        return sum(len(each.strikes) for each in self.told)

    def places(self) -> Counter[str]:
        """How often each place was struck."""
        return Counter(strike.place for each in self.told for strike in each.strikes)

    def missed(self) -> list[str]:
        """The intervals that no kill has struck."""
        hits = self.places()
        return [label for label in self.intervals.labels if not hits[label]]

    def _is_over(self) -> bool:
        if any(each.problems for each in self.told):
            return True
        enough = self.struck >= self.kills
        return (
            enough and not (self.everywhere and self.missed())
        ) or self.struck >= self.kills * _MORE

    def _calm(self) -> None:
        """One lane that nobody kills: it must be right, and it shows the way."""
        room = work.furnish(os.path.join(self.folder, f"{self.arm.name}-calm"))
        trial = Trial(self.arm, room)
        moments = LedgerPlaces(room.ledger)
        told = trial.run((), moments, {})
        trial.where.now()
        if told.lost or told.repeated:
            told.problems.append(f"a calm lane did not do its work once: {told.counted}")
        self.moments, self.intervals = course(moments.passed), course(trial.where.passed)
        self.told.append(told)
        work.clear(room)

    def _try(self, number: int, *, adaptive: bool) -> Told:
        room = work.furnish(os.path.join(self.folder, f"{self.arm.name}-{number}"))
        trial = Trial(self.arm, room)
        way = self.intervals if adaptive else self.moments
        planned: Places = trial.where if adaptive else LedgerPlaces(room.ledger)
        told = trial.run(self._plans(way, adaptive=adaptive), planned, way.order)
        if not told.problems:
            work.clear(room)
        return told

    def _plans(self, way: Course, *, adaptive: bool) -> list[Plan]:
        """Up to three kills, in the order in which a lane comes to their places."""
        count = self._chance.randint(1, MOST_KILLS)
        numbers = list(range(len(way.labels)))
        self._chance.shuffle(numbers)
        if adaptive:
            hits = self.places()
            numbers.sort(key=lambda number: hits[way.labels[number]])
        return [self._plan(way.labels[number], number, way.widths[number], adaptive=adaptive)
                for number in sorted(numbers[:count])]  # fmt: skip

    def _plan(self, label: str, number: int, width: float, *, adaptive: bool) -> Plan:
        """A moment in a place, and a victim that may be there then."""
        may_run = not adaptive or label.startswith(EFFECT)
        victims = [each for each in self.arm.victims if may_run or each not in striking.SOUGHT]
        return Plan(number, self._moment(width, adaptive=adaptive), self._chance.choice(victims))

    def _moment(self, width: float, *, adaptive: bool) -> float:
        """So long after a place is reached; rather early where the place itself must be struck.

        How long a place lasts differs from lane to lane.
        """
        return self._chance.uniform(0, width) * (self._chance.random() if adaptive else 1)

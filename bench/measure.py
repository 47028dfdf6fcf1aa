"""Interleaved measurement: everybody takes small turns, and a round is judged as a whole.

A round is eight turns of 32 appends for every cell, so that each arm's periodic work (the
journal's mirror every 256 events, a WAL checkpoint now and then) falls into its own round.
"""

from __future__ import annotations

import gc
import statistics
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bench.arms import Arm

TURN = 32
TURNS = 8
_READ_NS = 100_000_000  # a question is repeated for about this long in all
_READS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One arm, filled to one size."""

    name: str
    size: int
    arm: Arm
    turn: int = TURN
    rounds: list[list[int]] = field(default_factory=list)
    reads: dict[str, list[int]] = field(default_factory=dict)

    @property
    def appends(self) -> list[int]:
        """Every append in nanoseconds."""
        return [ns for appends in self.rounds for ns in appends]

    @property
    def cost_us(self) -> float:
        """What one append costs, everything spread over the round: the median round's mean."""
        return statistics.median(statistics.fmean(appends) for appends in self.rounds) / 1_000

    def percentile_us(self, percent: int) -> float:
        """The latency that *percent* of the appends stay below."""
        return statistics.quantiles(self.appends, n=100)[percent - 1] / 1_000

    def read_us(self, question: str) -> float | None:
        """The median time to answer, or None where nothing was measured."""
        taken = self.reads.get(question)
        return statistics.median(taken) / 1_000 if taken else None


def measure_appends(cells: Sequence[Cell], rounds: int, say: Callable[[str], None]) -> None:
    """Let every cell append in turns; the order turns round so that nobody is always after one."""
    gc.collect()
    gc.freeze()  # what filling left behind is not to be walked during anybody's turn
    for number in range(rounds):
        say(f"appending, round {number + 1} of {rounds}")
        for cell in cells:
            cell.rounds.append([])
        for turn in range(TURNS):
            for cell in cells if turn % 2 else reversed(cells):
                cell.rounds[-1].extend(_timed(cell.arm.append) for _ in range(cell.turn))


def measure_reads(cells: Iterable[Cell], say: Callable[[str], None]) -> None:
    """Ask every cell every question, cells in turn, slow ones less often."""
    asked = [(cell, name, ask) for cell in cells for name, ask in cell.arm.reads().items()]
    for number in range(_READS):
        if number % 50 == 0:
            say(f"reading, {number} of {_READS}")
        for cell, name, ask in asked:
            taken = cell.reads.setdefault(name, [])
            if number < 2 or sum(taken) < _READ_NS:
                taken.append(_timed(ask))


def _timed(act: Callable[[], object]) -> int:
    started = perf_counter_ns()
    act()
    return perf_counter_ns() - started


def ratio(cell: Cell, other: Cell) -> float:
    """How many times *other*'s cost *cell*'s is: the median over the rounds they shared."""
    pairs = zip(cell.rounds, other.rounds, strict=True)
    return statistics.median(statistics.fmean(a) / statistics.fmean(b) for a, b in pairs)

"""Ratios of cost, both sides in turns so that a slow second hits both.

Computing is told by CPU time, which a busy machine hardly changes: of this process (`computed`),
or of everything that an act starts (`of_the_tree`). CPU sees neither a sync nor a wait: where
these are the point the clock on the wall counts (`waited`), and the lower decile of all turns,
because what a neighbour adds to a turn is no cost of ours.
"""

import ctypes
import gc
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

TURNS = 25
ROUNDS = 8  # as many as it takes a machine to come to rest
_SUBREAPER = 36  # prctl's: whoever outlives an act's process comes to us, and is counted

Act = Callable[[], object]
Clock = Callable[[Act], float]


def computed(act: Act) -> float:
    """CPU seconds that *act* takes in this process."""
    began = time.process_time()
    act()
    return time.process_time() - began


def waited(act: Act) -> float:
    """Seconds on the wall until *act* is over."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def of_the_tree(act: Act) -> float:
    """CPU seconds of all that *act* starts, those who outlive their parents included."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _measure_and_exit(act, writer)
    os.close(writer)
    with open(reader, encoding="ascii") as told:
        seconds = told.read()
    os.waitpid(child, 0)
    assert seconds, "what was measured failed"
    return float(seconds)


def _measure_and_exit(act: Act, writer: int) -> None:
    try:
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        act()
        _reap_all()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(writer, repr(used.ru_utime + used.ru_stime).encode("ascii"))
    finally:
        os._exit(0)


def _reap_all() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def summed(clock: Clock, one: Act, other: Act, turns: int = TURNS) -> float:
    """How many times *other*'s cost *one*'s is, all turns added up."""
    with _calm():
        pairs = [_turn(clock, one, other, number) for number in range(turns)]
    return sum(a for a, _ in pairs) / sum(b for _, b in pairs)


def decile(one: Act, other: Act, *, bound: float, turns: int = TURNS) -> float:
    """The ratio of the lower deciles on the wall, over as many rounds as it takes to be calm."""
    pairs: list[tuple[float, float]] = []
    ratio = 0.0
    with _calm():
        for _ in range(ROUNDS):
            pairs += [_turn(waited, one, other, number) for number in range(turns)]
            ratio = _lowest_tenth(one for one, _ in pairs) / _lowest_tenth(two for _, two in pairs)
            if ratio <= bound:
                break
    return ratio


def _lowest_tenth(times: Iterable[float]) -> float:
    return statistics.quantiles(times, n=10)[0]


def _turn(clock: Clock, one: Act, other: Act, number: int) -> tuple[float, float]:
    if number % 2:
        late = clock(other)
        return clock(one), late
    return clock(one), clock(other)


@contextmanager
def _calm() -> Iterator[None]:
    """What thousands of tests left behind is not walked by the collector in anybody's turn."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()

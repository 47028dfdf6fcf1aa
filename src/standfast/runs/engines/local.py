"""The local engine: lanes in threads of this process, begun as the schedule says.

It keeps nothing of its own: which lanes there are and how they stand is the journal's, so that
whoever comes after its death begins where it was. Threads are enough: a lane waits for processes.
"""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from standfast import clock
from standfast.errors.base import Terminated
from standfast.runs.rules.schedule import Lane, State, decide

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from standfast.runs.active_run import Going
    from standfast.runs.rules.schedule import Name

_LOOK_AGAIN_S = 0.5
_LEAVE_S = 2.5  # after that, whoever was asked to end leaves what has not ended


class Engine:
    """Some runs, taken on together until each is over."""

    def __init__(
        self, runs: Sequence[Going], by_the_way: Callable[[], None], first: Callable[[], None]
    ) -> None:
        self.runs = runs
        self._first = first  # what comes before any lane: an interrupt ends that too
        self._by_the_way = by_the_way  # called between two looks: to draw, to render
        self.was_interrupted = False
        self._threads: dict[tuple[Going, Name], threading.Thread] = {}
        self._ended: SimpleQueue[tuple[Going, Name, Lane]] = SimpleQueue()

    def run(self) -> None:
        """Until nothing runs and nothing will; an interrupt ends what runs, a second one leaves.

        One that is to end within seconds comes alone.
        """
        try:
            for run in self.runs:
                run.look()
            self._first()
            self._go()
        except KeyboardInterrupt as interrupt:
            self.was_interrupted = True
            is_hasty = isinstance(interrupt, Terminated)
            until_ns = clock.monotonic_ns() + int(_LEAVE_S * 1e9) if is_hasty else None
            for run in self.runs:
                run.stop(is_hasty=is_hasty)
            self._find_lost()
            self._go(until_ns)

    def _go(self, until_ns: int | None = None) -> None:
        while self._begin():
            self._by_the_way()
            self._wait()
            if until_ns is not None and clock.monotonic_ns() > until_ns:
                raise Terminated
        self._by_the_way()

    def _begin(self) -> bool:
        """Begin what is due; whether any run is not over."""
        goes_on = False
        for run in self.runs:
            following = decide(run.graph, run.lanes, run.rules(), clock.now_us())
            for name in following.begin:
                words = f"standfast-{'-'.join(name)}"
                thread = threading.Thread(
                    target=self._take_on, args=(run, name), name=words, daemon=True
                )
                self._threads[run, name] = thread
                run.lanes[name] = Lane(State.RUNNING)
                thread.start()
            if following.begin:
                run.begun()
            goes_on = goes_on or not following.is_over
        return goes_on

    def _take_on(self, run: Going, name: Name) -> None:
        lane = Lane(State.NEEDS, why="a bug in Standfast: its thread ended")
        try:
            lane = run.take_on(name)
        finally:
            self._ended.put((run, name, lane))  # else the run would wait for it for ever

    def _wait(self) -> None:
        """For the next lane that ends, or a moment: stops, limits and timers are looked at then."""
        try:
            run, name, lane = self._ended.get(timeout=_LOOK_AGAIN_S)
        except Empty:
            return
        run.ended(name, lane)
        del self._threads[run, name]

    def _find_lost(self) -> None:
        """An interrupt comes between a lane and its thread too, or the word of its end."""
        while not self._ended.empty():
            self._wait()
        for run in self.runs:
            for name, lane in run.lanes.items():
                if lane.state is State.RUNNING and not self._threads[run, name].is_alive():
                    run.look_at(name)

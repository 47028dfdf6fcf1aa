"""Runs while they run: a table that lives in a terminal, plain lines in a pipe, or JSON events.

Lanes speak from their threads: what they say waits in a queue, and the one who watches prints it.
"""

from __future__ import annotations

import sys
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from standfast import clock, wait_notice
from standfast.runs.rules.schedule import State
from standfast.surfaces.cli.entry import silence
from standfast.surfaces.cli.run_faces import Faces
from standfast.surfaces.cli.screen import json_line, speak
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from standfast.plans.lane_spec import Spec
    from standfast.runs.active_run import Going, Told
    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.schedule import Name
    from standfast.surfaces.cli.command_context import Context

_WORDS = 200


class Said(NamedTuple):
    """What a lane said, and when."""

    at: int
    run_id: str
    name: Name
    words: str


class Watch:
    """Whoever looks at runs."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._said: SimpleQueue[Said] = SimpleQueue()
        self.faces = Faces(context)
        self._live: Any = None
        self._told_before: Callable[[str], None] | None = None
        can_redraw = context.environ.get("TERM") not in ("dumb", "unknown")  # else it shows the end
        self._is_live = sys.stderr.isatty() and can_redraw and not context.json

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._print()
        if self._told_before is not None:
            wait_notice.told_to(self._told_before)
        if self._live is not None:
            self._to_terminal(self._live.stop)

    def teller(self, run: Run) -> Callable[[Spec, str], None]:
        """What the lanes of a run speak into."""
        return lambda spec, words: self._said.put(
            Said(clock.now_us(), run.run_id, (spec.phase, spec.lane), words)
        )

    def teller_at_once(self, run: Run) -> Callable[[Spec, str], None]:
        """The same for what comes before any lane: nobody looks at the queue then."""
        tell = self.teller(run)

        def told(spec: Spec, words: str) -> None:
            tell(spec, words)
            self._print()

        return told

    def say(self, run: Run) -> Callable[[str], None]:
        """What is said of a whole run."""
        return lambda words: self._said.put(Said(clock.now_us(), run.run_id, ("-", "-"), words))

    def begin(self, goings: Sequence[Going]) -> None:
        """These are watched from now on."""
        self.faces.begin(sum(len(each.lanes) for each in goings))
        for each in goings:
            each.heard = self._heard
        if self._is_live:
            from standfast.surfaces.cli.run_table import live

            self._live = live(goings)
            self._live.start()
            self._told_before = wait_notice.told_to(self._above)

    def _above(self, words: str) -> None:
        """What is waited for stands above the table."""
        if self._live is not None:
            self._to_terminal(lambda: self._live.console.print(printable(words), markup=False))

    def look(self) -> None:
        """Print what was said, draw, and keep the faces up to date as far as that is cheap."""
        self._print()
        self._draw()
        self.faces.keep()

    def _draw(self) -> None:
        if self._live is not None:
            self._to_terminal(self._live.refresh)

    def _to_terminal(self, act: Callable[[], None]) -> None:
        try:
            act()
        except OSError:
            self._live = None  # the terminal is gone, the run is not
            silence(sys.stderr.fileno())  # nor is what waits to be written the status of it

    def _heard(self, told: Told) -> None:
        self._print()
        words = f"{told.lane.state}{': ' + told.lane.why if told.lane.why else ''}"
        said = Said(clock.now_us(), told.run_id, told.name, words)
        self._show(said, state=told.lane.state)

    def _print(self) -> None:
        while True:
            try:
                said = self._said.get_nowait()
            except Empty:
                return
            self._show(said)

    def _show(self, said: Said, state: str = "") -> None:
        if self.context.json:
            phase, lane = said.name
            told = {"at": clock.rfc3339(said.at), "run_id": said.run_id, "phase": phase,
                    "lane": lane, "state": state or State.RUNNING, "words": said.words}  # fmt: skip
            speak(json_line(told), sys.stdout)
        elif self._live is None:
            stamp = clock.local_second(said.at)
            words = one_line(printable(said.words), _WORDS)
            speak(f"{stamp} {'/'.join(said.name)}  {words}", sys.stderr)

"""How the demo of runs is shown: a table that lives in a terminal, plain lines in a pipe."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from standfast.errors.base import StandfastError
from standfast.journal.store import Journal
from standfast.runs.lanes import lane_progress
from standfast.runs.lanes.lane_context import is_taken
from standfast.runs.records import run_records
from standfast.runs.rules.schedule import Lane, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from standfast.testing.run_demo import Demo

_COLOURS = {State.RUNNING: "cyan", State.DONE: "green", State.WAITING: "dim"}
_SHOWN = 8


class DemoDisplay:
    """What whoever watches sees."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo
        self.console = Console()
        self._live: Any = None
        self._began = time.monotonic()
        self._events: list[Text] = []

    def open(self) -> None:
        """Begin."""
        self.console.print("A plan of six lanes, run by agents, killed with -9 at random.\n"
                           "Every task pays a bill: a line in a ledger. Is each paid once?\n",
                           style="bold", highlight=False)  # fmt: skip
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False,
                              get_renderable=self._drawn)  # fmt: skip
            self._live.start()

    def close(self) -> None:
        """The last picture stays."""
        if self._live is not None:
            self._live.refresh()
            self._live.stop()

    def draw(self) -> None:
        """Show how things are now."""
        if self._live is not None:
            self._live.refresh()

    def life(self, words: Sequence[str]) -> None:
        """The orchestrator is begun."""
        self._tell(f"$ standfast {' '.join(words)}", "bold")

    def killed(self, victim: str) -> None:
        """Somebody was killed."""
        self._tell(f"kill -9  {victim}", "bold red")

    def broken(self, words: str) -> None:
        """The run itself went wrong: that is told, not hidden."""
        self._tell(f"the run ended by itself:\n{words}", "red")

    def _tell(self, words: str, style: str) -> None:
        line = Text(f"{time.monotonic() - self._began:5.1f} s  {words}", style=style)
        self._events.append(line)
        if self._live is None:
            self.console.print(line, highlight=False)

    def count(self, expected: int, seen: int, lost: int, repeated: int, merged: int) -> None:
        """The end of it, in figures."""
        rows = [
            (len(self._demo.kills), "kills with -9"),
            (expected, "effects expected"),
            (seen, "effects seen"),
            (lost, "lost"),
            (repeated, "repeated"),
            (merged, f"lanes merged of {len(self._demo.lanes)}"),
        ]
        self.console.print()
        for number, words in rows:
            bad = (words in {"lost", "repeated"} and number) or (
                words.startswith("lanes") and number < len(self._demo.lanes)
            )
            self.console.print(Text(f"{number:6}  {words}", style="bold red" if bad else "bold"))

    def _drawn(self) -> RenderableType:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for name in ("LANE", "STATE", "EFFECTS IN THE LEDGER"):
            table.add_column(name)
        counted, states = self._demo.counted(), self._states()
        from standfast.testing.run_demo import TASKS

        for lane in self._demo.lanes:
            state = states.get(lane, Lane(State.WAITING)).state
            paid = Text()
            for task in TASKS:
                times = counted[f"{lane}/{task}"]
                paid.append(f"{'●' * times or '○'} {task}  ", "green" if times == 1 else "dim")
            table.add_row(lane, Text(state, style=_COLOURS.get(state, "yellow")), paid)
        return Group(table, Text(), *self._events[-_SHOWN:])

    def _states(self) -> dict[str, Lane]:
        """How the lanes stand, as the journal has it; one that is being made has none."""
        journal = Journal(os.path.join(self._demo.repo, ".git", "standfast"), checkpoint=False)
        try:
            run = run_records.find(journal, "night") if journal.exists else None
            if run is None:
                return {}
            found = lane_progress.look(journal, run)
            for name, lane in found.items():
                if lane.state is not State.DONE and is_taken(journal, (run.run_id, *name)):
                    found[name] = Lane(State.RUNNING)
            return {name[1]: lane for name, lane in found.items()}
        except StandfastError:
            return {}
        finally:
            journal.let_go()

"""How the demo is shown: colour and a live line in a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
import time
from threading import Condition, Thread
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.panel import Panel
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from standfast.errors.base import StandfastError
from standfast.journal import questions
from standfast.journal.store import Journal
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.status import Status

    from standfast.journal.questions import Event

PIPE_WIDTH, NARROWEST = 100, 60
_READ_S = 0.25  # how long an eye needs for a heading
_LOOK_EVERY_S = 0.03
_STYLES = {
    "prompt": "bold cyan",
    "decision.noted": "bold yellow",
    "commit.seen": "bold green",
    "tool.failed": "bold red",
    "agent.ended": "magenta",
    "compaction.begun": "bold red",
    "brief.given": "bold green",
}
_WORDS = ("out", "text", "error", "words", "source", "trigger", "reason")


class Stage:
    """Where the demo is shown."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, soft_wrap=False)
        self.is_live = self.console.file.isatty() and not self.console.is_dumb_terminal
        if not self.is_live:
            self.console.width = PIPE_WIDTH
        self._now: Status | None = None
        self._steps = 0

    def say(self, words: str, style: str = "") -> None:
        """One line, or as many as it takes."""
        self.console.print(Text(words, style), soft_wrap=not self.is_live)

    def step(self, title: str) -> None:
        """Begin the next part."""
        self._steps += 1
        self.console.print()
        self.say(f"{self._steps}  {title}", "bold")
        self.pause()

    def pause(self) -> None:
        """Give a person time to read; a pipe needs none."""
        if self.is_live:
            time.sleep(_READ_S)

    def quote(self, text: str, style: str = "dim") -> None:
        """What another program printed."""
        for line in printable(text, keep_newlines=True).rstrip().splitlines():
            self.say(f"   {line}", style)

    def panel(self, title: str, text: str) -> None:
        """Words that matter, framed; in a pipe, marked at their left."""
        if self.is_live:
            self.console.print(
                Panel(Text(text), title=Text(title), title_align="left", border_style="green")
            )
            return
        self.say(f"   {title}:")
        for line in text.splitlines():
            self.say(f"   | {line}")

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Columns, the second cut to what room there is; a row with a NO is bad news."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
        table.add_column(width=1)
        for place, title in enumerate(titles):
            ratio = 1 if place == 1 else None
            table.add_column(title, overflow="ellipsis", no_wrap=True, ratio=ratio)
        for row in rows:
            table.add_row("", *map(Text, row), style="bold red" if "NO" in row else "")
        self.console.print(table)

    def counted(self, rows: Sequence[tuple[str, str]], style: str) -> None:
        """Numbers, and what they count."""
        for number, words in rows:
            line = Text.assemble((f"{number:>8}", style), f"  {words}")
            self.console.print(line, soft_wrap=not self.is_live)

    def waiting(self, words: str) -> Progress:
        """A clock that runs while something takes its time."""
        self.say(words)
        columns = (SpinnerColumn(), TextColumn("npm"), TimeElapsedColumn())
        progress = Progress(
            *columns, console=self.console, transient=True, disable=not self.is_live
        )
        progress.add_task("")
        return progress

    def show(self, event: Event) -> None:
        """One line for one event of the journal, and what goes on now in the live line."""
        payload = event.as_dict()["payload"]
        words = _said(event.kind, payload if isinstance(payload, dict) else {})
        actor = event.actor if event.actor in {"user", "claude", "standfast"} else "subagent"
        line = Text.assemble(
            (f"{event.seq:>5}  ", "dim"),
            (f"{event.kind:<17}", _STYLES.get(event.kind, "")),
            (f"{actor:<9}", "dim"),
        )
        line.append(one_line(words, max(NARROWEST, self.console.width) - len(line) - 1))
        self.console.print(line)
        self.now(f"claude runs: {words}" if event.kind == "tool.started" else "claude thinks")

    def now(self, words: str) -> None:
        """What goes on now, in the live line."""
        if self._now is not None:
            self._now.update(Text(one_line(words, NARROWEST), "dim"))

    def following(self, folder: str) -> Follower:
        """Show what the journal in *folder* gets from now on."""
        return Follower(folder, self)

    def begin_live(self) -> None:
        """Keep one line at the bottom for what goes on now."""
        if self.is_live:
            self._now = self.console.status(Text("claude starts", "dim"))
            self._now.start()

    def end_live(self) -> None:
        """Take that line away."""
        if self._now is not None:
            self._now.stop()
            self._now = None


def _said(kind: str, payload: Mapping[str, object]) -> str:
    if kind == "decision.noted":
        return f"{payload.get('id')}  {payload.get('text')}"
    if kind == "tool.failed":
        return ": ".join(str(payload.get("error")).split("\n", 1))
    if kind == "commit.seen":
        return f"{str(payload.get('commit'))[:7]}  {payload.get('words')}"
    if kind == "brief.given":
        return f"{payload.get('characters')} characters for the model"
    return next((str(payload[name]) for name in _WORDS if payload.get(name)), "")


class Follower:
    """Reads the journal beside its writers, in a thread of its own; each event is shown once."""

    def __init__(self, folder: str, stage: Stage) -> None:
        self._journal = Journal(folder)
        self._stage = stage
        self._seen = 0
        self._looks = 0
        self._ends = False
        self._looked = Condition()
        self._thread = Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        self._stage.begin_live()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._looked:
            self._ends = True
            self._looked.notify_all()
        self._thread.join()
        self._stage.end_live()

    def catch_up(self) -> None:
        """Wait until everything that is recorded now was shown."""
        with self._looked:
            enough = min(
                self._looks + 2, sys.maxsize
            )  # the look that goes on now may have begun too early
            self._looked.wait_for(lambda: self._looks >= enough)

    def _follow(self) -> None:
        try:
            self._look_again_and_again()
        finally:
            with self._looked:  # also where nobody reads our lines any more: none may wait then
                self._looks = sys.maxsize
                self._looked.notify_all()

    def _look_again_and_again(self) -> None:
        ends = False
        while not ends:
            self._look()
            with self._looked:
                self._looks += 1
                self._looked.notify_all()
                ends = self._looked.wait_for(lambda: self._ends, _LOOK_EVERY_S)
        self._journal.close()

    def _look(self) -> None:
        if not self._journal.exists:
            return
        try:
            for event in list(questions.events(self._journal, questions.Filter(after=self._seen))):
                self._seen = event.seq
                self._stage.show(event)
        except StandfastError:
            return  # it is being made, or somebody has it: the next look sees the same

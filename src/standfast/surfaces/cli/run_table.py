"""The live table of a run: redrawn in place, at most a screen of lanes, a line for all of them."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from standfast.runs.rules.schedule import State
from standfast.surfaces.cli.run_rows import HEAD, rows
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from standfast.runs.active_run import Going

_NARROW = 70  # columns
_COLOURS = {
    State.RUNNING: "cyan",
    State.DONE: "green",
    State.FAILED: "bold red",
    State.NEEDS: "bold red",
    State.PARKED: "yellow",
    State.WAITING: "dim",
    State.ENDED: "yellow",
}


def live(goings: Sequence[Going]) -> Live:
    """A display that the engine refreshes; nothing draws by itself from another thread."""
    console = Console(stderr=True)
    return Live(
        console=console,
        auto_refresh=False,
        get_renderable=lambda: draw(goings, console.height, console.width),
        vertical_overflow="crop",
    )


def draw(goings: Sequence[Going], height: int, width: int) -> RenderableType:
    """Each run: how many lanes stand how, and those that are not simply done or waiting."""
    parts: list[RenderableType] = []
    room = max(3, (height - 2) // max(1, len(goings)) - 3)
    for going in goings:
        parts.append(_title(going))
        few = len(going.lanes) <= room
        every = rows(going.journal, going.run, going.lanes, all_lanes=few)
        shown = list(islice(every, room))
        states = [row.state for row in shown]
        parts.append(_table([row.cells() for row in shown], states, width))
    return Group(*parts)


def _title(going: Going) -> Text:
    counted = Counter(lane.state for lane in going.lanes.values())
    title = Text(f"{going.run.run_id}  ", style="bold")
    for state in State:
        if counted[state]:
            title.append(f"{counted[state]} {state}  ", style=_COLOURS[state])
    return title


def _table(cells: Iterable[Sequence[str]], states: Sequence[State], width: int) -> Table:
    """Which lane, how it stands and what it says; the rest only where there is room for it."""
    kept = [HEAD.index(name) for name in (HEAD if width >= _NARROW else ("LANE", "STATE", "LAST"))]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    for name in (HEAD[at] for at in kept):
        table.add_column(
            name, no_wrap=True, overflow="ellipsis", ratio=1 if name == "LAST" else None
        )
    for row, state in zip(cells, states, strict=False):
        texts = [Text(printable(cell)) for cell in row]
        texts[2].stylize(_COLOURS[state])
        table.add_row(*(texts[at] for at in kept))
    return table

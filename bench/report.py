"""What was measured, as a table for people and as build/bench.json for everything else."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from typing import TYPE_CHECKING

import apsw
from rich.console import Console
from rich.table import Table

from bench.arms import QUESTIONS
from bench.measure import ratio

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.measure import Cell

JOURNAL = "Standfast journal"
RAW = "raw SQLite, WAL FULL"
LINES = "JSONL + fsync"
LANGGRAPH = "LangGraph SqliteSaver"
LANGGRAPH_FULL = "LangGraph, WAL FULL"
ARRAY = "JSON array, rewritten"

_MILLISECOND_US = 1_000
_PIPE_WIDTH = 110


def show(cells: Sequence[Cell]) -> None:
    """Print both tables; colours only in a terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PIPE_WIDTH)
    console.print(_append_table(cells))
    console.print(
        f"{ARRAY}: not measured beyond 10,000 records, where one append already costs "
        f"{_time(find(cells, ARRAY, 10_000).cost_us)} and grows with every record.",
        style="dim",
    )
    console.print(_read_table(cells))
    for line in headlines(cells):
        console.print(line, style="bold")


def _append_table(cells: Sequence[Cell]) -> Table:
    table = Table(title="One durable append", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "records", "p50", "p99", "mean", "appends/s", "cost / raw"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=not heading)
    for cell in cells:
        table.add_row(
            cell.name,
            f"{cell.size:,}",
            _time(cell.percentile_us(50)),
            _time(cell.percentile_us(99)),
            _time(cell.cost_us),
            f"{1e6 / cell.cost_us:,.0f}",
            _times(cost_ratio(cells, cell)),
            style="bold" if cell.name == JOURNAL else None,
        )
    return table


def _read_table(cells: Sequence[Cell]) -> Table:
    table = Table(title="\nOne read, p50", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "records", *QUESTIONS):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=not heading)
    for cell in cells:
        answers = [cell.read_us(question) for question in QUESTIONS]
        table.add_row(
            cell.name,
            f"{cell.size:,}",
            *("-" if answer is None else _time(answer) for answer in answers),
            style="bold" if cell.name == JOURNAL else None,
        )
    return table


def _time(us: float) -> str:
    return f"{us:.0f} µs" if us < _MILLISECOND_US else f"{us / _MILLISECOND_US:,.1f} ms"


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def find(cells: Sequence[Cell], name: str, size: int) -> Cell:
    """The cell of one arm at one size."""
    return next(cell for cell in cells if (cell.name, cell.size) == (name, size))


def sizes(cells: Sequence[Cell]) -> list[int]:
    """The journal's sizes, smallest first."""
    return sorted(cell.size for cell in cells if cell.name == JOURNAL)


def cost_ratio(cells: Sequence[Cell], cell: Cell) -> float | None:
    """A cell's cost by raw SQLite's at the same size, None where that was not measured."""
    if cell.size not in sizes(cells):
        return None
    return ratio(cell, find(cells, RAW, cell.size))


def headlines(cells: Sequence[Cell]) -> list[str]:
    """The three ratios that people ask for."""
    figures = ratios(cells)
    growth = figures[_growth_name(cells)]
    smallest, *_, largest = sizes(cells)
    return [
        f"\nAn append has {figures['append_vs_raw']:.2f} of raw SQLite's speed.",
        f"At {largest:,} events it costs {growth:.2f} times one at {smallest:,}.",
        f"It is {figures['vs_json_array_10k']:,.0f} times as fast as rewriting an array of 10,000.",
    ]


def _growth_name(cells: Sequence[Cell]) -> str:
    return "growth_1k_to_1m" if sizes(cells)[-1] == 1_000_000 else "growth_1k_to_20k"


def ratios(cells: Sequence[Cell]) -> dict[str, float]:
    """Speed against raw SQLite (the middle of the sizes) and the array, and growth."""
    smallest, *_, largest = sizes(cells)
    small, large = find(cells, JOURNAL, smallest), find(cells, JOURNAL, largest)
    to_raw = [ratio(find(cells, RAW, size), find(cells, JOURNAL, size)) for size in sizes(cells)]
    return {
        "append_vs_raw": round(statistics.median(to_raw), 3),
        "append_vs_raw_worst": round(min(to_raw), 3),
        _growth_name(cells): round(ratio(large, small), 3),
        "vs_json_array_10k": round(ratio(find(cells, ARRAY, 10_000), small), 1),
    }


def keep(cells: Sequence[Cell], path: Path, *, part: str) -> None:
    """Put the journal's part into the file."""
    figures: dict[str, object] = {
        "ratios": ratios(cells),
        "appends": [_append_figures(cell) for cell in cells],
        "reads": [_read_figures(cell) for cell in cells],
    }
    keep_part(part, figures, path, headline=ratios(cells) if part == "journal" else {})


def keep_part(
    part: str, figures: dict[str, object], path: Path, *, headline: dict[str, float]
) -> None:
    """Put one part into the file: beside other figures of this commit, instead of older ones."""
    found = _load(path)
    about = _about()
    kept = found if found.get("commit", "") == about["commit"] else {}
    whole = {**about, **headline, **kept, **about, **headline, part: figures}
    text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    draft = path.with_suffix(".json.new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _load(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _about() -> dict[str, object]:
    asked = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", "HEAD"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return {
        "commit": asked.stdout.strip() or None,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "machine": {"cores": os.cpu_count()},
    }


def _append_figures(cell: Cell) -> dict[str, object]:
    return {
        "arm": cell.name,
        "records": cell.size,
        "measured": len(cell.appends),
        "p50_us": round(cell.percentile_us(50), 1),
        "p99_us": round(cell.percentile_us(99), 1),
        "mean_us": round(cell.cost_us, 1),
        "per_second": round(1e6 / cell.cost_us),
    }


def _read_figures(cell: Cell) -> dict[str, object]:
    answers = {question: cell.read_us(question) for question in QUESTIONS}
    return {"arm": cell.name, "records": cell.size, "p50_us": answers}

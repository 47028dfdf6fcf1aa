"""`make storm`: many processes write one journal, kill -9 strikes among them, nothing is lost."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table

from harness.storm import Storm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.storm_count import Counted


def main(argv: Sequence[str] | None = None) -> int:
    """Run the storm, show it, and count."""
    parser = argparse.ArgumentParser(prog="standfast-storm", description=__doc__)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--each", type=int, default=400)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2), "big"))
    options = parser.parse_args(argv)
    console = Console()
    folder = tempfile.mkdtemp(prefix="standfast-storm-")
    try:
        console.print(
            f"[bold]{options.writers} processes write one journal[/], {options.each} facts each. "
            f"Every so often one is killed with -9, {options.kills} times. Seed {options.seed}."
        )
        storm = Storm(
            folder=os.path.join(folder, "standfast"),
            writers=options.writers,
            each=options.each,
            kills=options.kills,
            seed=options.seed,
        )
        counted = _watched(storm, console)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    console.print(_summary(counted))
    return 1 if counted.lost or counted.repeated or counted.id_gaps or counted.problems else 0


def _watched(storm: Storm, console: Console) -> Counted:
    if not console.is_terminal:
        storm.watch = _plain(storm, console)
        return storm.run()
    with Live(console=console, refresh_per_second=12, transient=True) as live:
        storm.watch = lambda now: live.update(_table(now))
        return storm.run()


def _plain(storm: Storm, console: Console) -> Callable[[Storm], None]:
    quarter = storm.writers * storm.each // 4
    told = 0

    def tell(now: Storm) -> None:
        nonlocal told
        done = sum(writer.acknowledged for writer in now.crew)
        if done // quarter > told:
            told = done // quarter
            console.print(f"{done:8,} facts acknowledged, {now.killed} kills")

    return tell


def _table(storm: Storm) -> Table:
    table = Table(box=None, padding=(0, 1))
    for title in ("writer", "recorded", "", "kills"):
        table.add_column(title, justify="right" if title == "recorded" else "left")
    for writer in storm.crew:
        bar = "█" * (40 * writer.acknowledged // writer.target)
        kills = "✗" * (writer.lives - 1)
        style = "yellow" if writer.mortal else "green"
        table.add_row(
            writer.name, str(writer.acknowledged), f"[{style}]{bar}[/]", f"[red]{kills}[/]"
        )
    return table


def _summary(counted: Counted) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_column()
    for number, words in (
        (f"{counted.kills}", "kills with -9"),
        (f"{counted.acknowledged:,}", "facts acknowledged"),
        (f"{counted.lost}", "lost"),
        (f"{counted.repeated}", "recorded twice by the journal"),
        (f"{counted.id_gaps}", "gaps in the ids"),
        (f"{counted.fairness:.2f}", "facts of the busiest survivor for one of the idlest"),
        (f"{len(counted.problems)}", "problems found by verify (pages, hashes, state, mirror)"),
    ):
        table.add_row(number, words)
    return table


if __name__ == "__main__":
    sys.exit(main())

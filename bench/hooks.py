"""What a hook costs: the launcher as a client calls it, beside a bare interpreter, in turns."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from standfast.clients.hooks import launcher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TURNS, QUICK_TURNS = 200, 20
AT_ONCE = 32
BARE = "bare interpreter"
RECORDS = "hook that records"
SECRET = "hook that redacts"
BRIEFS = "hook that briefs"


class Hooks:
    """A session in a repository of its own."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "repository"
        subprocess.run(["git", "init", "-q", self.repository], check=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        launcher.put(self.env)
        self.env["CLAUDE_PROJECT_DIR"] = str(self.repository)
        self.count = 0
        self.ended, self.alive = os.pipe()  # inherited by all that a call begins
        self.call("SessionStart", source="startup")

    def rest(self) -> None:
        """Wait for the last process: a hook goes on after its answer."""
        os.close(self.alive)
        os.read(self.ended, 1)
        os.close(self.ended)

    def call(self, event: str, **fields: object) -> None:
        """As the client does."""
        self.count += 1
        told = {"session_id": "bench", "cwd": str(self.repository), "hook_event_name": event}
        payload = json.dumps({**told, **fields}).encode()
        argv = [launcher.path(self.env), "claude"]
        subprocess.run(
            argv,
            input=payload,
            env=self.env,
            capture_output=True,
            pass_fds=(self.alive,),
            check=True,
        )

    def record(self, command: str = "npm test") -> None:
        """A call of a tool begins."""
        given = {"tool_name": "Bash", "tool_input": {"command": command}}
        self.call("PreToolUse", tool_use_id=f"toolu_{self.count}", **given)

    def bare(self) -> None:
        """What everything is measured by."""
        argv = [sys.executable, "-I", "-c", "pass"]
        subprocess.run(argv, input=b"{}", env=self.env, capture_output=True, check=True)


def measure(folder: Path, *, quick: bool, say: Callable[[str], None]) -> dict[str, object]:
    """One call at a time in turns, then thirty-two at once."""
    hooks = Hooks(folder)
    arms: dict[str, Callable[[], None]] = {
        BARE: hooks.bare,
        RECORDS: hooks.record,
        SECRET: lambda: hooks.record("export TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345"),
        BRIEFS: lambda: hooks.call("SessionStart", source="compact"),
    }
    taken: dict[str, list[float]] = {name: [] for name in arms}
    for turn in range(QUICK_TURNS if quick else TURNS):
        say(f"hooks, turn {turn + 1}")
        for name, act in arms.items():
            taken[name].append(_took(act))
    say(f"hooks, {AT_ONCE} at once")
    many = {name: _many(arms[name]) for name in (BARE, RECORDS)}
    hooks.rest()
    return {
        "one": {name: _figures(times) for name, times in taken.items()},
        "at_once": {name: _figures(times) for name, times in many.items()},
    }


def _took(act: Callable[[], None]) -> float:
    began = perf_counter()
    act()
    return (perf_counter() - began) * 1000


def _many(act: Callable[[], None]) -> list[float]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda _: _took(act), range(4 * AT_ONCE)))


def _figures(times: list[float]) -> dict[str, float]:
    centiles = statistics.quantiles(times, n=100)
    return {"p50_ms": round(centiles[49], 2), "p99_ms": round(centiles[98], 2)}


def show(figures: dict[str, object]) -> None:
    """A table: milliseconds, and how many bare interpreters that is."""
    table = Table(title="\nOne hook call", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "p50", "p99", "p50 / bare", "p99 / bare"):
        table.add_column(heading, justify="right" if heading else "left")
    for title, part in (("", "one"), (f", {AT_ONCE} at once", "at_once")):
        arms = figures[part]
        assert isinstance(arms, dict)
        for name, found in arms.items():
            ratios = [found[key] / arms[BARE][key] for key in ("p50_ms", "p99_ms")]
            spent = [f"{found[key]:.1f} ms" for key in ("p50_ms", "p99_ms")]
            table.add_row(name + title, *spent, *(f"{ratio:.2f}" for ratio in ratios))
    Console().print(table)

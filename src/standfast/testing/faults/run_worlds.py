"""The world of runs: one that was taken to its end, as a *base* of trials."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.testing.faults import perform
from standfast.testing.faults.lane_worlds import commit
from standfast.testing.faults.world import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.testing.faults.world import World

RUN = "night"
_SETTINGS = "runner: nobody\nrunners:\n  nobody:\n    command: ['true']\n"
_PLAN = f"run: {RUN}\nlanes:\n  one: Do nothing.\n"


def _planned(world: World, more: str = "") -> str:
    """A runner that does nothing, and a plan for it, which its user trusts."""
    folder = os.path.join(world.home, ".config", "standfast")
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "config.yaml"), _SETTINGS)
    plan = os.path.join(world.home, "plan.yaml")
    write(plan, _PLAN + more)
    commit(world, "first.txt")
    perform.command(world, "plan", "trust", plan, "--yes")
    return plan


def _done(world: World) -> None:
    """A run that has come to its end: nothing is left to be done."""
    perform.command(world, "run", _planned(world), "--base", "main")


def _waiting(world: World) -> None:
    """A run none of whose agents was begun: the tests fail where nobody changed anything."""
    perform.command(world, "run", _planned(world, "test: 'false'\n"), "--base", "main")


RUN_WORLDS: dict[str, Callable[[World], None]] = {
    "a run that is done": _done,
    "a run that waits": _waiting,
}

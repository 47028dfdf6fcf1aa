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


def _done(world: World) -> None:
    """A run by a runner that does nothing, come to its end: nothing is left to be done."""
    folder = os.path.join(world.home, ".config", "standfast")
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "config.yaml"), _SETTINGS)
    write(os.path.join(world.home, "plan.yaml"), _PLAN)
    commit(world, "first.txt")
    perform.command(world, "run", os.path.join(world.home, "plan.yaml"), "--base", "main")


RUN_WORLDS: dict[str, Callable[[World], None]] = {"a run that is done": _done}

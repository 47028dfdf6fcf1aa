"""The world of runs: one that was taken to its end, as a *base* of trials."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.lane_worlds import commit
from harness.faults.world import write
from standfast.plans import trust

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.world import World

RUN, MARK = "night", "mark"  # the run, and the file with its fingerprint
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


def _delivered(world: World) -> None:
    """The same for somebody who began nothing of it: nobody vouches for its lanes."""
    _done(world)
    folder = os.path.join(world.home, ".local", "state", trust.RUNS)
    (known,) = (name for name in os.listdir(folder) if name.endswith(".json"))
    with open(os.path.join(folder, known), encoding="utf-8") as file:
        (mark,) = json.load(file)["fingerprints"]
    write(os.path.join(world.home, MARK), mark)
    shutil.rmtree(folder)


def _waiting(world: World) -> None:
    """A run none of whose agents was begun: the tests fail where nobody changed anything."""
    perform.command(world, "run", _planned(world, "test: 'false'\n"), "--base", "main")


RUN_WORLDS: dict[str, Callable[[World], None]] = {
    "a run that is done": _done,
    "a run that waits": _waiting,
    "a run of somebody else": _delivered,
}

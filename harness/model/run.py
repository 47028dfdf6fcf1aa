"""The steps that a model can take, and taking many of them from a seed."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from typing import TYPE_CHECKING

from harness.model.person import Person
from harness.model.truth import Broken
from harness.model.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.model.ground import Choose

LIFE = 120  # steps; then another world, because everything is looked at again and again
_MEMORY = "/dev/shm"

# How often each happens beside the others.
OPERATIONS: Mapping[str, int] = {
    "world.append": 6,
    "world.transaction": 12,
    "world.refused_commit": 2,
    "world.killed_writer": 1,
    "world.spool": 4,
    "world.flood": 1,
    "world.post": 3,
    "world.merge": 5,
    "world.reopen": 4,
    "world.tear_mirror": 1,
    "person.add": 4,
    "person.add_unfinished": 2,
    "person.amend": 4,
    "person.remove": 2,
    "person.retype": 1,
    "person.spoil": 2,
    "person.mend": 3,
    "person.rewind": 2,
    "person.delete": 1,
    "person.rest": 3,
    "person.open": 2,
    "person.type": 3,
    "person.keep": 10,
    "person.keep_and_die": 5,
    "person.keep_and_race": 5,
}


class Model:
    """A world with a person in it, in a folder that is gone afterwards."""

    def __init__(self, choose: Choose) -> None:
        memory = (
            _MEMORY if os.access(_MEMORY, os.W_OK) else None
        )  # no disk is asked a million times
        self.folder = tempfile.mkdtemp(prefix="standfast-model-", dir=memory)
        self.world = World(self.folder, choose)
        self.person = Person(self.world)
        self.trace: list[str] = []

    def step(self, name: str) -> None:
        """Do one thing, then look whether every promise is kept."""
        self.trace.append(name)
        who, _, what = name.partition(".")
        getattr(getattr(self, who), what)()
        self.world.check()
        self.person.check()

    def close(self) -> None:
        """Look at everything for the last time."""
        self.person.close()
        self.world.close()

    def forget(self) -> None:
        """Remove the folder, whatever happened."""
        for handle in self.world.handles:
            handle.let_go()
        shutil.rmtree(self.folder, ignore_errors=True)


def run_model(seed: int, steps: int) -> int:
    """Take that many steps through as many worlds as they need; returns how many were taken."""
    dice = random.Random(seed)
    taken = 0
    while taken < steps:
        life = random.Random(dice.getrandbits(64))
        taken += _live(life, min(LIFE, steps - taken), f"seed {seed}, steps from {taken}")
    return taken


def _live(life: random.Random, steps: int, where: str) -> int:
    model = Model(life.randrange)
    try:
        for name in life.choices(list(OPERATIONS), list(OPERATIONS.values()), k=steps):
            model.step(name)
        model.close()
    except Exception as error:
        raise Broken(f"{where}: {error!r} after {' '.join(model.trace[-30:])}") from error
    finally:
        model.forget()
    return steps

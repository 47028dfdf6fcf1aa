"""The parts of the harness, in the order in which they run: what each needs, does and counts."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from standfast.testing.faults import acts, canaries, crew, flips, planted, shim, writers
from standfast.testing.faults.power import replay
from standfast.testing.faults.power.canaries import CANARIES
from standfast.testing.model import run_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.testing.faults.tally import Tally

    Figures = dict[str, object]

WRITERS = 32


class Run(NamedTuple):
    """One run of the harness: where, with which seed, counted how, told to whom."""

    folder: str
    seed: int
    tally: Tally
    tell: Callable[[str], None]
    slice: bool

    def place(self, name: str) -> str:
        """A folder for one part."""
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        return path


class Part(NamedTuple):
    """One way to break it."""

    says: str
    run: Callable[[Run], Figures]
    cannot: Callable[[], str | None] = lambda: None  # why this machine cannot do it


def no_compiler() -> str | None:
    """The shim is C."""
    return None if shim.compiler() else "there is no C compiler here: install gcc or clang"


def sweep(run: Run) -> Figures:
    """Every act must be in it: what is missing counts as wrong."""
    run.tally.find(f"wrong no act tries `{name}`" for name in acts.missing())
    thin, twice = (11, 6) if run.slice else (1, 500)
    swept = crew.sweep(run.place("sweep"), run.seed, thin=thin, twice=twice, tell=run.tell)
    run.tally.injected += swept.injected
    run.tally.find(swept.findings)
    return {"injected": swept.injected, "findings": len(swept.findings)}


def sweep_canaries(run: Run) -> Figures:
    """Bugs that the sweep must catch."""
    for number, canary in enumerate(canaries.SWEPT):
        caught = crew.catch(run.place(f"canary-{number}"), canary.name)
        run.tally.canary(canary.name, caught=caught is not None)
        run.tell(f"  {canary.name}: {caught or 'NOT CAUGHT'}")
    return {"planted": len(canaries.SWEPT)}


def power(run: Run) -> Figures:
    """What a power cut could leave, after every call of every act."""
    budget = replay.SLICE if run.slice else replay.FULL
    counted = replay.run(run.place("power"), run.seed, budget, run.tell)
    run.tally.replayed += counted.replayed
    run.tally.find(counted.findings)
    return {"replayed": counted.replayed, "findings": len(counted.findings)}


def power_canaries(run: Run) -> Figures:
    """Bugs that only a power cut shows."""
    for number, name in enumerate(CANARIES):
        caught = replay.caught(run.place(f"power-canary-{number}"), run.seed, name)
        run.tally.canary(name, caught=caught is not None)
        run.tell(f"  {name}: {caught or 'NOT CAUGHT'}")
    return {"planted": len(CANARIES)}


def model(run: Run) -> Figures:
    """Any sequence of steps against a plain model of what must be there."""
    steps = 2_000 if run.slice else 60_000
    try:
        done = run_model(run.seed, steps)
    except Exception as error:  # noqa: BLE001  # hypothesis tells a broken promise by raising
        run.tally.find([f"wrong the model disagrees [model, seed {run.seed}]: {error}"])
        return {"steps": 0}
    return {"steps": done}


def storm(run: Run) -> Figures:
    """Many writers on a disk: a minute of them, and a minute with a kill -9 every two seconds."""
    seconds, every = (5.0, 1.0) if run.slice else (60.0, 2.0)
    run.tally.writers = WRITERS
    figures: Figures = {"writers": WRITERS}
    for name, kills_every_s in (("calm", None), ("with kills", every)):
        with tempfile.TemporaryDirectory(prefix="standfast-storm-") as folder:
            counted = writers.run(folder, run.seed, WRITERS, seconds, kills_every_s, run.tell)
        run.tally.find(f"{words} [storm, seed {run.seed}]" for words in counted.findings)
        facts = f"{counted.facts:,} facts, {counted.kills} kills, {counted.busy} busy"
        times = f"fairness {counted.fairness:.2f}, p99 {counted.p99_ms:.0f} ms"
        figures[name] = f"{facts}, {times}"
    return figures


def storm_canaries(run: Run) -> Figures:
    """Bugs that only many at once show."""
    for name, plant in planted.FOR_WRITERS.items():
        with tempfile.TemporaryDirectory(prefix="standfast-storm-") as folder:
            counted = writers.run(folder, run.seed, 24, 1.5, None, lambda _: None, plant=plant)
        run.tally.canary(name, caught=bool(counted.findings))
        run.tell(f"  {name}: {next(iter(counted.findings), 'NOT CAUGHT')}")
    return {"planted": len(planted.FOR_WRITERS)}


def byte_flips(run: Run) -> Figures:
    """One byte is another: the right answer, or named and repaired damage."""
    number = 2_000 if run.slice else 65_536
    counted = flips.run(run.place("flips"), run.seed, number, run.tell)
    run.tally.flips += counted.flips
    run.tally.find(counted.findings)
    return counted._asdict() | {"findings": len(counted.findings)}


def flip_canaries(run: Run) -> Figures:
    """Bugs that only a changed byte shows."""
    for name, plant in planted.FOR_FLIPS.items():
        place = run.place("flip-canary")
        counted = flips.run(place, run.seed, 600, lambda _: None, plant=plant)
        run.tally.canary(name, caught=bool(counted.findings))
        run.tell(f"  {name}: {next(iter(counted.findings), 'NOT CAUGHT')}")
    return {"planted": len(planted.FOR_FLIPS)}


PARTS: dict[str, Part] = {
    "sweep": Part("every call of every act, every kind of fault", sweep, no_compiler),
    "canaries": Part("bugs planted for the sweep", sweep_canaries, no_compiler),
    "power": Part("every state that a power cut could leave", power, no_compiler),
    "power-canaries": Part("bugs planted for the replay", power_canaries, no_compiler),
    "storm": Part(f"{WRITERS} processes writing one journal", storm),
    "storm-canaries": Part("bugs planted for the storm", storm_canaries),
    "flips": Part("one byte is another", byte_flips),
    "flip-canaries": Part("bugs planted for the flips", flip_canaries),
    "model": Part("any sequence of steps, against a plain model", model),
}

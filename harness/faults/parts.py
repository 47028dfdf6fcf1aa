"""The parts of the harness, in the order in which they run: what each needs, does and counts.

Each part tries the product as it is, which must find nothing, and then with every bug that is
planted for it, which must find something.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import acts, attacks, crew, loops, planted, saving, shim
from harness.faults.around import canaries as around_canaries
from harness.faults.around import surroundings
from harness.faults.canaries import SWEPT
from harness.faults.cuts import canaries as cut_canaries
from harness.faults.cuts import cuts, lane_canaries, lane_cuts, run_scenes
from harness.faults.flips import canaries as flip_canaries
from harness.faults.flips import flips
from harness.faults.power import canaries as power_canaries
from harness.faults.power import replay
from harness.faults.storm import canaries as storm_canaries
from harness.faults.storm import writers
from harness.model.run import run_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from harness.faults.tally import Tally

    Figures = dict[str, object]

WRITERS = 32
_CUTS_OF_RUNS, _OF_ONE = 320, 160  # at least so many in all, and on one filesystem


class Run(NamedTuple):
    """One run of the harness: where, with which seed, counted how, told to whom."""

    folder: str
    seed: int
    tally: Tally
    tell: Callable[[str], None]
    slice: bool

    def place(self, name: str) -> str:
        """A folder for one part."""
        return tempfile.mkdtemp(prefix=f"{name.replace(' ', '-')}-", dir=self.folder)

    def canary(self, name: str, findings: Iterable[str]) -> None:
        """Count a planted bug, and tell how it showed."""
        found = next(iter(findings), None)
        self.tally.canary(name, caught=found is not None)
        self.tell(f"  {name}: {found[:200] if found else 'NOT CAUGHT'}")


class Part(NamedTuple):
    """One way to break it."""

    says: str
    run: Callable[[Run], Figures]
    canaries: Callable[[Run], None] = lambda _: None
    cannot: Callable[[], str | None] = lambda: None  # why this machine cannot do it


def no_compiler() -> str | None:
    """The shim is C."""
    return None if shim.compiler() else "there is no C compiler here: install gcc or clang"


def sweep(run: Run) -> Figures:
    """Every act must be in it: what is missing counts as wrong."""
    run.tally.find(f"wrong no act tries `{name}`" for name in acts.missing())
    thin, twice = crew.SLICE if run.slice else (1, 300)
    swept = crew.sweep(run.place("sweep"), run.seed, thin=thin, twice=twice, tell=run.tell)
    run.tally.injected += swept.injected
    run.tally.find(swept.findings)
    return {"injected": swept.injected}


def sweep_canaries(run: Run) -> None:
    """Caught by the first trial that finds them."""
    for canary in SWEPT:
        caught = crew.catch(run.place(canary.name), canary.name)
        run.canary(canary.name, [] if caught is None else [caught])


def power(run: Run) -> Figures:
    """What a power cut could leave, after every call of every act."""
    budget = replay.SLICE if run.slice else replay.FULL
    counted = replay.run(run.place("power"), run.seed, budget, run.tell)
    run.tally.replayed += counted.replayed
    run.tally.find(counted.findings)
    return {"replayed": counted.replayed}


def replay_canaries(run: Run) -> None:
    """Each shows in one script."""
    for name in power_canaries.CANARIES:
        caught = replay.caught(run.place(name), run.seed, name)
        run.canary(name, [] if caught is None else [caught])


def real_cuts(run: Run) -> Figures:
    """On every filesystem that this machine can make."""
    figures: Figures = {}
    for filesystem in cuts.FILESYSTEMS:
        number = 20 if run.slice else 800
        counted = cuts.run(run.place(filesystem), run.seed, number, filesystem, run.tell)
        if counted.skipped is not None:
            run.tally.skipped[filesystem] = counted.skipped
            continue
        run.tally.cuts += counted.cuts
        run.tally.find(f"{words} [{filesystem}]" for words in counted.findings)
        figures[filesystem] = f"{counted.cuts} cuts, {counted.acknowledged:,} acknowledged"
    return figures


def real_canaries(run: Run) -> None:
    """A dozen cuts are enough."""
    for filesystem in cuts.FILESYSTEMS:
        for name, plant in cut_canaries.CANARIES.items():
            counted = cuts.run(
                run.place(name), run.seed, cut_canaries.ENOUGH_CUTS, filesystem, lambda _: None,
                plant=plant, until_found=True,
            )  # fmt: skip
            if counted.skipped is None:
                run.canary(f"{name} on {filesystem}", counted.findings)


def lane_power(run: Run) -> Figures:
    """Under a lane that starts, works, merges or is rolled back."""
    figures: Figures = {}
    for filesystem in cuts.FILESYSTEMS:
        number = 8 if run.slice else 80
        counted = lane_cuts.run(run.place(filesystem), run.seed, number, filesystem, run.tell)
        if counted.skipped is not None:
            run.tally.skipped[f"lanes on {filesystem}"] = counted.skipped
            continue
        run.tally.cuts += counted.cuts
        run.tally.find(counted.findings)
        figures[filesystem] = f"{counted.cuts} cuts, {counted.acknowledged:,} facts seen before"
    return figures


def run_power(run: Run) -> Figures:
    """Under a run: in its setup, agents, tests and gates, and between any two steps."""
    figures: Figures = {}
    place = run.place("runs")
    able = sum(loops.lacking(place, filesystem) is None for filesystem in cuts.FILESYSTEMS)
    number = 8 if run.slice else max(_OF_ONE, _CUTS_OF_RUNS // max(able, 1))
    for filesystem in cuts.FILESYSTEMS:
        counted = lane_cuts.run(
            run.place(filesystem), run.seed, number, filesystem, run.tell,
            scenes=run_scenes.RUN_SCENES,
        )  # fmt: skip
        if counted.skipped is not None:
            run.tally.skipped[f"runs on {filesystem}"] = counted.skipped
            continue
        run.tally.cuts += counted.cuts
        run.tally.find(counted.findings)
        figures[filesystem] = f"{counted.cuts} cuts, {counted.acknowledged:,} facts seen before"
    return figures


def lane_bugs(run: Run) -> None:
    """Under the scenes that show them."""
    for name, bug in lane_canaries.CANARIES.items():
        counted = lane_cuts.run(
            run.place("lane-canary"), run.seed, lane_canaries.ENOUGH_CUTS, "ext4", lambda _: None,
            plant=bug.plant, scenes=bug.scenes, until_found=True,
        )  # fmt: skip
        if counted.skipped is None:
            run.canary(name, counted.findings)


def storm(run: Run) -> Figures:
    """Many writers on a disk: a minute of them, and a minute with a kill -9 every two seconds."""
    seconds, every = (5.0, 1.0) if run.slice else (60.0, 2.0)
    run.tally.writers = WRITERS
    figures: Figures = {}
    for name, kills_every_s in (("calm", None), ("with kills", every)):
        with tempfile.TemporaryDirectory(prefix="standfast-storm-") as folder:
            counted = writers.run(folder, run.seed, WRITERS, seconds, kills_every_s, run.tell)
        run.tally.find(f"{words} [storm, seed {run.seed}]" for words in counted.findings)
        facts = f"{counted.facts:,} facts, {counted.kills} kills, {counted.busy} busy"
        times = f"fairness {counted.fairness:.2f}, p99 {counted.p99_ms:.0f} ms"
        figures[name] = f"{facts}, {times}"
    return figures


def calm_canaries(run: Run) -> None:
    """Bugs that only many at once show."""
    for name, plant in storm_canaries.CANARIES.items():
        with tempfile.TemporaryDirectory(prefix="standfast-storm-") as folder:
            counted = writers.run(folder, run.seed, 24, 1.5, None, lambda _: None, plant=plant)
        run.canary(name, counted.findings)


def saves(run: Run) -> Figures:
    """Somebody saves files of the checkout in which merges land."""
    counted = saving.run(run.place("saves"), run.seed, 8 if run.slice else 100)
    run.tally.find(f"{words} [saves, seed {run.seed}]" for words in counted.findings)
    return {"saves": counted.saves, "merges refused": counted.refused}


def hasty_merge(run: Run) -> None:
    """A merge that looks first and then writes, as git does it."""
    counted = saving.plain_git(run.place("hasty-merge"), run.seed, saving.ENOUGH)
    run.canary("a merge writes over a save", counted.findings)


def byte_flips(run: Run) -> Figures:
    """One byte is another: the right answer, or named and repaired damage."""
    counted = flips.run(run.place("flips"), run.seed, 2_000 if run.slice else 65_536, run.tell)
    run.tally.flips += counted.flips
    run.tally.find(counted.findings)
    figures: Figures = counted._asdict()
    del figures["findings"]
    return figures


def byte_canaries(run: Run) -> None:
    """Bugs that only a changed byte shows."""
    for name, plant in flip_canaries.CANARIES.items():
        place, shape = run.place("flip-canary"), "emptied"
        counted = flips.run(place, run.seed, 400, lambda _: None, plant=plant, shapes=(shape,))
        run.canary(name, counted.findings)


def around(run: Run) -> Figures:
    """Every act in everything that can be wrong around it."""
    budget = 8 if run.slice else None
    counted = surroundings.run(run.place("around"), run.seed, run.tell, budget=budget)
    run.tally.find(counted.findings)
    run.tally.skipped |= dict(each.split(": ", 1) for each in counted.skipped)
    return dict(counted.trials)


def odd_canaries(run: Run) -> None:
    """Each shows in the condition that it is planted for, if this machine can make that."""
    for name, (condition, plant) in around_canaries.CANARIES.items():
        if condition not in run.tally.skipped:
            found = surroundings.run(
                run.place(name),
                run.seed,
                lambda _: None,
                budget=60,
                plant=plant,
                only=condition,
                until_found=True,
            )
            run.canary(name, found.findings)


def model(run: Run) -> Figures:
    """Any sequence of steps against a plain model of what must be there."""
    steps = 2_000 if run.slice else 30_000
    try:
        return {"steps": run_model(run.seed, steps)}
    except Exception as error:  # noqa: BLE001  # a broken promise is told by raising
        run.tally.find([f"wrong the model disagrees [model, seed {run.seed}]: {error}"])
        return {"steps": 0}


def environment(run: Run) -> Figures:
    """What a command finds in its environment is on no disk, whoever was killed."""
    counted = planted.run(run.place("planted"), run.seed, 8 if run.slice else 100)
    run.tally.find(counted.findings)
    return {"kills": counted.kills}


def environment_canaries(run: Run) -> None:
    """A dozen kills are enough."""
    for name, plant in planted.CANARIES.items():
        found = planted.run(run.place("planted"), run.seed, 12, plant=plant, until_found=True)
        run.canary(name, found.findings)


def from_outside(run: Run) -> Figures:
    """What attackers did, each through the command line."""
    run.tally.find(attacks.run(run.place("attacks")))
    return {"attacks": len(attacks.ATTACKS)}


def outside_canaries(run: Run) -> None:
    """Each attack does its harm where the one thing that holds it is taken away."""
    for name, attack in attacks.ATTACKS.items():
        run.canary(name, attacks.run(run.place("attack"), names=(name,), plant=attack.bug))


PARTS: dict[str, Part] = {
    "sweep": Part(
        "every call of every act, every kind of fault", sweep, sweep_canaries, no_compiler
    ),
    "power": Part("every state that a power cut could leave", power, replay_canaries, no_compiler),
    "cuts": Part("power cut for real, on loop devices", real_cuts, real_canaries),
    "lanes": Part("power cut for real under a lane at work", lane_power, lane_bugs),
    "runs": Part("power cut for real under a run, contents compared", run_power),
    "storm": Part(f"{WRITERS} processes writing one journal", storm, calm_canaries),
    "saves": Part("a person saves files while merges land there", saves, hasty_merge),
    "flips": Part("one byte is another", byte_flips, byte_canaries),
    "around": Part("full, read-only, frozen disks; clocks; stopped holders", around, odd_canaries),
    "planted": Part(
        "a value of the environment, looked for on the disk", environment, environment_canaries
    ),
    "attacks": Part(
        "delivered journals, moved bases, copies, words of others", from_outside, outside_canaries
    ),
    "model": Part("any sequence of steps, against a plain model", model),
}

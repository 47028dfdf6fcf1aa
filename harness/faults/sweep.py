"""The sweep: every act, every call that changes a file, every kind of fault.

Runs in a process that has the shim loaded. An act is done once without faults to count its calls;
then once for each call and kind, in a fresh copy of its world. Trials with two or three faults hit
the recovery, and the recovery from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from harness.faults import judge, perform, worlds
from harness.faults.acts import ACTS
from harness.faults.judge import Before
from harness.faults.look import look, whole_files
from harness.faults.shim import Fault, Kind, Op
from harness.faults.shim import parse as parse_fault
from harness.faults.worlds import Shelf

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from harness.faults.act import Act
    from harness.faults.judge import Finding
    from harness.faults.look import Seen
    from harness.faults.shim import Shim
    from harness.faults.world import World


class Trial(NamedTuple):
    """One act and what goes wrong: in it, in the command after it, in the one after that."""

    act: str
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        return f"{self.act}:{'+'.join(map(str, self.faults))}"


def parse(text: str) -> Trial:
    """The trial that `str` gives back: `note:torn@12+kill_before@3`."""
    act, _, faults = text.rpartition(":")
    return Trial(act, tuple(map(parse_fault, faults.split("+"))))


class Sweep:
    """The trials of one process, each in its own copy of a prepared world."""

    def __init__(self, shim: Shim, folder: str) -> None:
        self.shim = shim
        self._shelf = Shelf(folder)
        self._before: dict[str, Before] = {}
        self._calls: dict[str, list[Op]] = {}

    def trials(self, act: Act) -> list[Trial]:
        """Every call of an act with every kind that applies to it."""
        return [
            Trial(act.name, (Fault(kind, nth),))
            for nth, op in enumerate(self.calls(act), 1)
            for kind in Kind
            if op is Op.WRITE or not kind.needs_write
        ]

    def repeated(self, act: Act, dice: random.Random, number: int) -> Iterator[Trial]:
        """Trials that hit the recovery too, and half of them the one after that."""
        calls = len(self.calls(act))
        for _ in range(number if calls else 0):
            faults = [Fault(dice.choice(list(Kind)), dice.randint(1, calls))]
            faults += [
                Fault(dice.choice(list(Kind)), dice.randint(1, 30))
                for _ in range(dice.randint(1, 2))
            ]
            yield Trial(act.name, tuple(faults))

    def calls(self, act: Act) -> list[Op]:
        """What an act does when nothing goes wrong; remembered with what it leaves."""
        if act.name not in self._calls:
            self._try_out(act)
        return self._calls[act.name]

    def _try_out(self, act: Act) -> None:
        world = self.fresh(act)
        seen, files = _look(world), whole_files(world)
        self.shim.arm(world.root)
        answer = act.perform(world)
        self.shim.disarm()
        self._calls[act.name] = self.shim.ops()
        self._before[act.name] = Before(seen, files, whole_files(world))
        new = act.new(_look(world)) - act.new(seen) if act.new else 1
        assert (answer.status, new) == (0, 1), f"{act.name} does not work at all: {answer}"

    def before(self, act: Act) -> Before:
        """What trials of an act are measured against."""
        self.calls(act)
        return self._before[act.name]

    def fresh(self, act: Act) -> World:
        """A copy of the act's world."""
        return self._shelf.fresh(act.world)

    def run(self, trial: Trial) -> list[Finding]:
        """Do it, and say what was lost."""
        act = ACTS[trial.act]
        before = self.before(act)
        world = self.fresh(act)
        first, *more = trial.faults
        self.shim.arm(world.root, first)
        answer = act.perform(world)
        found = [*judge.spoken(act, answer), *judge.half_files(world, before)]
        for fault in more:
            self.shim.arm(world.root, fault)
            perform.command(world, *act.recovery)
        self.shim.disarm()
        acknowledged = answer.status == 0
        return found + judge.recovered(world, act, before, acknowledged=acknowledged)


def _look(world: World) -> Seen:
    journal = worlds.journal(world)
    try:
        return look(journal)
    finally:
        journal.let_go()

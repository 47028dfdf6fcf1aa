"""Recovering from the states of one recording, and counting what went wrong."""

from __future__ import annotations

import gc
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import look, perform
from harness.faults.judge import Finding
from harness.faults.power import recovery
from harness.faults.power.rebuild import Ground
from harness.faults.power.states import states
from standfast.surfaces.cli import frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.faults.power.disk_model import Tree
    from harness.faults.power.recording import Recording

_BY_COMMAND_EVERY = 25
_SHOWN = 3  # states with findings of one kind: a bug shows in hundreds
_DEADLINE_S = 1800.0


class Counted(NamedTuple):
    """What was tried, and in how many states something was wrong."""

    replayed: int = 0
    lost: int = 0
    half: int = 0
    wedged: int = 0
    wrong: int = 0
    findings: Sequence[str] = ()

    def plus(self, other: Counted) -> Counted:
        """Both together."""
        return Counted(
            self.replayed + other.replayed,
            self.lost + other.lost,
            self.half + other.half,
            self.wedged + other.wedged,
            self.wrong + other.wrong,
            [*self.findings, *other.findings],
        )

    @property
    def bad(self) -> int:
        """How often a promise was broken."""
        return self.lost + self.half + self.wedged + self.wrong


def replay(recording: Recording, seed: int, budget: int) -> Counted:
    """Recover from up to *budget* different states of a script, in a process of its own."""
    answer = perform.apart(
        recording.world,
        lambda: _tell(_replayed(recording, seed, budget)),
        deadline_s=_DEADLINE_S,
    )
    if answer.status != 0:
        words = f"recovery ended with {answer.status} {answer.err[-300:]}"
        return Counted(wedged=1, findings=(f"wedged {words} [{recording.script.name}]",))
    return Counted(**json.loads(answer.out))


def _tell(counted: Counted) -> int:
    print(json.dumps(counted._asdict()))
    return 0


def _replayed(recording: Recording, seed: int, budget: int) -> Counted:
    frame.load("status")  # once here, not in each process that calls it
    gc.freeze()
    ground = Ground(os.path.dirname(recording.world.root), recording.modes)
    count = Counted()
    for number, state in enumerate(states(recording, seed, budget)):
        ground.lay(state.tree)
        found = _half(recording, state.tree)
        if number % _BY_COMMAND_EVERY == 0:
            found += recovery.by_command(recording.world, recording.script)
        found += recovery.recover(recording.world, recording.script, state.point.expected)
        kinds = {finding.what for finding in found}
        name = f"{recording.script.name}@{state.point.nth}#{state.number}/{seed}"
        shown = tuple(
            f"{what} {words} [{name}]" for what, words in found if getattr(count, what) < _SHOWN
        )
        count = count.plus(Counted(1, **dict.fromkeys(kinds, 1), findings=shown))
    return count


def _half(recording: Recording, tree: Tree) -> list[Finding]:
    """Right after the crash, before anything heals it."""
    return [
        Finding("half", f"{name} is none of the files that it was")
        for name, allowed in recording.whole.items()
        if _timeless(tree.get(f"world/{name}")) not in allowed
    ]


def _timeless(data: bytes | None) -> bytes | None:
    return None if data is None else look.timeless(data)

"""A full disk, a read-only or frozen one, no descriptors left, stopped holders, jumping clocks.

Every act under every condition, made by the system itself and taken away again; then the same
judge as everywhere: what was acknowledged is there, nothing is half, the next command works.
Where this machine cannot make a condition, that is said, with the reason.
"""

from __future__ import annotations

import json
import os
import random
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import loops, perform
from harness.faults.around import conditions, frozen, hanging, jumps, reuse
from harness.faults.around.bench import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.around.conditions import Trial


class Condition(NamedTuple):
    """One thing that can be wrong, and why it may not be possible here."""

    trials: Callable[[Setting], Iterator[Trial]]
    lacking: Callable[[str], str | None] = lambda _: None


CONDITIONS: dict[str, Condition] = {
    "full disk": Condition(conditions.full_disk, loops.cannot_mount),
    "read-only": Condition(conditions.read_only, loops.cannot_mount),
    "few descriptors": Condition(conditions.few_descriptors),
    "small files": Condition(conditions.small_files),
    "stopped holder": Condition(conditions.stopped_holder),
    "hanging things": Condition(hanging.trials),
    "frozen disk": Condition(frozen.trials, frozen.lacking),
    "jumping clock": Condition(jumps.trials, jumps.lacking),
    "reused pid": Condition(reuse.trials, reuse.lacking),
}


class Counted(NamedTuple):
    """What one run did and found."""

    trials: dict[str, int]  # by condition
    findings: list[str]
    skipped: list[str]


def run(
    folder: str,
    seed: int,
    tell: Callable[[str], None],
    *,
    budget: int | None = None,
    plant: Callable[[], None] = lambda: None,
    only: str | None = None,
    until_found: bool = False,
) -> Counted:
    """Try everything, or of each condition no more than *budget* trials that *seed* draws.

    *only* is one condition; *until_found*: a bug is planted, and one finding is enough.
    """
    counted = Counted({}, [], [])
    perform.load_everything()
    chosen = CONDITIONS if only is None else {only: CONDITIONS[only]}
    for name, condition in chosen.items():
        place = os.path.join(folder, name.replace(" ", "-"))
        os.makedirs(place)
        if (why := condition.lacking(place)) is not None:
            counted.skipped.append(f"{name}: {why}")
            continue
        setting = Setting(place, random.Random(f"{seed}/{name}"), plant, budget is not None)
        for findings in _apart(condition, setting, budget):
            counted.trials[name] = counted.trials.get(name, 0) + 1
            counted.findings.extend(f"{one} [{name}, seed {seed}]" for one in findings)
            if counted.trials[name] % 100 == 1:
                tell(f"{name}: {counted.trials[name]} trials, {len(counted.findings)} findings")
            if findings and until_found:
                break
    return counted


def _apart(condition: Condition, setting: Setting, budget: int | None) -> Iterator[list[str]]:
    """The findings of each trial, from a process whose mounts and locks end with it."""
    heard, telling = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(heard)
            loops.die_with(parent)
            if condition.lacking in {loops.cannot_mount, frozen.lacking}:
                loops.private_mounts()
            for act, how, findings in islice(condition.trials(setting), budget):
                said = [f"{one} [{act}, {how}]" for one in findings]
                os.write(telling, json.dumps(said).encode() + b"\n")
            status = 0
        except Exception as error:  # noqa: BLE001  # told as what it is: a bug of ours
            os.write(telling, json.dumps([f"wedged the harness: {error!r}"]).encode() + b"\n")
        finally:
            os._exit(status)
    os.close(telling)
    try:
        with open(heard, encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    finally:  # also when no more is wanted: it ends as soon as nobody listens
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != 0:
        yield ["wedged the harness itself"]

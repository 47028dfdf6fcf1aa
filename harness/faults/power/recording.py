"""Doing a script once, and keeping all that is needed to let the power go after any of its calls.

What was told to the outside is in the log too: from there on the fact must survive.
"""

from __future__ import annotations

import fcntl
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from harness.doubt import Doubt
from harness.faults import perform, worlds
from harness.faults.look import look, whole_files
from harness.faults.power import disk_log, disk_model, rebuild
from harness.faults.power.recovery import Expected
from harness.faults.shim import Op
from standfast.clients.hooks import deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.act import Act
    from harness.faults.look import Seen
    from harness.faults.power.disk_log import Record
    from harness.faults.power.disk_model import Moment
    from harness.faults.power.scripts import Script
    from harness.faults.shim import Shim
    from harness.faults.world import World
    from harness.faults.worlds import Shelf


_PATIENT_S = 20.0  # a hook's answer is waited for, however busy this machine is


class Point(NamedTuple):
    """After one call: what is on the disk or in the air, and what was promised by then."""

    nth: int
    moment: Moment
    expected: Expected


class Recording(NamedTuple):
    """A script that was done once."""

    script: Script
    world: World
    points: list[Point]
    whole: dict[str, set[bytes | None]]  # what the files that are replaced as a whole may hold
    modes: dict[str, int]


def record(
    shim: Shim, shelf: Shelf, script: Script, plant: Callable[[], None] = lambda: None
) -> Recording:
    """Do a script in a fresh world, and keep what is needed to let the power go at any time."""
    world = shelf.fresh(script.world)
    root = os.path.dirname(world.root)
    seen, whole = _look(world), {name: {data} for name, data in whole_files(world).items()}
    disk = disk_log.Disk(root)
    log = os.memfd_create("log", 0)
    fcntl.fcntl(log, fcntl.F_SETFL, os.O_APPEND)  # a hook's child writes beside its parent
    shim.arm(root, log=log)
    ends = []
    for act in script.steps:
        _perform(world, act, plant)
        ends.append(os.lseek(log, 0, os.SEEK_END))
        for name, data in whole_files(world).items():
            whole[name].add(data)
    shim.disarm()
    steps = _steps(os.pread(log, ends[-1], 0), ends)
    os.close(log)
    points = list(_points(disk, script, seen, steps))
    _check_log(points[-1].moment, root)
    return Recording(script, world, points, whole, rebuild.modes(root))


def _look(world: World) -> Seen:
    journal = worlds.journal(world)
    try:
        return look(journal)
    finally:
        journal.let_go()


def _perform(world: World, act: Act, plant: Callable[[], None]) -> None:
    def work() -> int:
        sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]  # told when said
        deadline.TOOL_S = deadline.WAKE_S = _PATIENT_S
        plant()
        return act.do(world)

    answer = perform.apart(world, work, given=act.given(world))
    if answer.status != 0:
        raise Doubt(f"{act.name} does not work at all: {answer}")


def _steps(log: bytes, ends: list[int]) -> list[list[Record]]:
    return [
        list(disk_log.read(log[start:end])) for start, end in zip([0, *ends], ends, strict=False)
    ]


def _points(
    disk: disk_log.Disk, script: Script, seen: Seen, steps: list[list[Record]]
) -> Iterator[Point]:
    told = [False] * len(steps)
    yield Point(0, disk.now(), Expected(seen, 0, tuple(told)))
    nth = 0
    for number, records in enumerate(steps):
        says = _acknowledgement(script.steps[number], records)
        for at, entry in enumerate(records):
            told[number] = told[number] or at == says
            if disk.follow(entry) or at == says:
                nth += 1
                yield Point(nth, disk.now(), Expected(seen, number + 1, tuple(told)))


def _acknowledgement(act: Act, records: list[Record]) -> int:
    """Which record tells of success: a hook's answer to who waits, a command's last words."""
    said = [
        at
        for at, entry in enumerate(records)
        if entry.op is Op.MARK
        and (
            entry.first.startswith("pipe:") and entry.data.startswith(b"=")
            if act.is_hook
            else entry.first.startswith("/memfd:") and entry.data.strip()
        )
    ]
    if not said:
        raise Doubt(f"{act.name} says nothing")
    return said[0] if act.is_hook else said[-1]


def _check_log(moment: Moment, root: str) -> None:
    """A call that the shim did not see would make all of this worthless."""
    model = disk_model.crash(moment, disk_model.prefixes(moment)[-1])
    real = disk_model.crash(disk_log.Disk(root).now(), disk_model.Cut(0))
    odd = {path for path in model.keys() | real.keys() if model.get(path, "") != real.get(path, "")}
    if odd:
        raise Doubt(f"the log does not tell how these came about: {sorted(odd)}")

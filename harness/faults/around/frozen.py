"""A frozen filesystem: whoever writes waits, and cannot even be killed.

A process apart thaws it, as soon as a hook has left or a command has waited a while: it does so
too when the harness itself is gone.
"""

from __future__ import annotations

import os
import select
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.faults import loops
from harness.faults.around.bench import Bench
from harness.faults.around.conditions import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.act import Act
    from harness.faults.around.bench import Setting
    from harness.faults.world import World

_HOOK_S = 10.0  # far over what a hook may take, far under what a frozen disk takes
_COMMAND_S = 0.3


def lacking(folder: str) -> str | None:
    """Why nothing can be frozen here."""
    return loops.lacking(folder, "ext4")


def trials(setting: Setting) -> Iterator[Trial]:
    """Every act: a hook leaves while the disk is frozen, a command is done after it."""
    disk = loops.Disk(setting.folder, "ext4")
    bench = Bench(os.path.join(disk.root, "shelf"), setting.plant)
    for act in setting.acts():
        bench.before(act)
        world = bench.fresh(act)
        disk.sync()
        left, tell = os.pipe()
        found: list[str] = []
        with _frozen(disk, left, act, found):
            answer = bench.perform(_telling(act, tell), world)
        for fd in (left, tell):
            os.close(fd)
        yield Trial(act.name, "frozen", found + bench.judged(act, world, answer))


def _telling(act: Act, tell: int) -> Act:
    """The same act; its process says when it is done, whatever its children still do."""

    def do(world: World) -> int:
        status = act.do(world)
        os.write(tell, b"x")
        return status

    return act._replace(do=do)


@contextmanager
def _frozen(disk: loops.Disk, left: int, act: Act, found: list[str]) -> Iterator[None]:
    patience_s = _HOOK_S if act.is_hook else _COMMAND_S
    ready, go = os.pipe()
    thawer = os.fork()
    if thawer == 0:
        os.close(go)
        os.read(ready, 1)
        said = select.select([left], [], [], patience_s)[0]
        disk.thaw()
        os._exit(0 if said else 1)
    disk.freeze()
    os.close(go)
    os.close(ready)
    yield
    status = os.waitstatus_to_exitcode(os.waitpid(thawer, 0)[1])
    if act.is_hook and status != 0:
        found.append("wedged a hook waited for a frozen disk")

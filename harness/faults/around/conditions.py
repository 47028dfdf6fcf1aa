"""What can be wrong around a program, made by the system itself: no call is intercepted.

Each condition yields trials. One with levels (how many blocks or descriptors are left) climbs
from nothing until the act does all that it should.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import loops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.faults.act import Act
    from harness.faults.around.bench import Bench, Setting
    from harness.faults.perform import Answer
    from harness.faults.world import World

_SURE = 3  # levels in a row that pass: those above them do too
_DISK_BYTES = 96 * 1024 * 1024
_BLOCKS = range(1000)
_DESCRIPTORS = range(3, 80)
_SIZES = (0, 1, 100, *(1 << power for power in range(9, 25)))
_LOCKS = ("writer.lock", "turnstile.lock", "faces.lock", "spool", "mirror")
_PATIENCE_S = "0.6"  # enough that a command says whom it waited for


class Trial(NamedTuple):
    """One act under one condition."""

    act: str
    how: str
    findings: list[str]


def full_disk(setting: Setting) -> Iterator[Trial]:
    """So many free blocks are left, on a filesystem in memory."""
    loops.mount_memory(setting.folder, size=_DISK_BYTES)
    bench = setting.bench()
    for act in setting.acts():

        def under(world: World, level: int, act: Act = act) -> Answer:
            with _filled(setting.folder, level):
                return bench.perform(act, world)

        yield from _climb(bench, act, setting.levels(act, _BLOCKS, 60), under)


@contextmanager
def _filled(disk: str, blocks: int) -> Iterator[None]:
    """Take all but so many blocks of the filesystem."""
    path = os.path.join(disk, "filler")
    with open(path, "wb") as filler:
        size = 0
        while (left := os.statvfs(disk).f_bavail - blocks) != 0:  # the last act's files may go yet
            size += left * os.statvfs(disk).f_frsize
            if left > 0:
                os.posix_fallocate(filler.fileno(), 0, size)
            else:
                os.ftruncate(filler.fileno(), size)
    try:
        yield
    finally:
        os.unlink(path)


def few_descriptors(setting: Setting) -> Iterator[Trial]:
    """No file descriptor above so many."""
    return _limited(setting, resource.RLIMIT_NOFILE, _DESCRIPTORS, 20)


def small_files(setting: Setting) -> Iterator[Trial]:
    """No file may grow past so many bytes."""
    return _limited(setting, resource.RLIMIT_FSIZE, _SIZES, len(_SIZES))


def _limited(setting: Setting, what: int, levels: Sequence[int], low: int) -> Iterator[Trial]:
    bench = setting.bench()
    hard = resource.getrlimit(what)[1]
    for act in setting.acts():

        def under(world: World, level: int, act: Act = act) -> Answer:
            return bench.perform(act, world, partial(resource.setrlimit, what, (level, hard)))

        yield from _climb(bench, act, setting.levels(act, levels, low), under)


def _climb(
    bench: Bench, act: Act, levels: Sequence[int], under: Callable[[World, int], Answer]
) -> Iterator[Trial]:
    bench.before(act)
    passed = 0
    for level in levels:
        world = bench.fresh(act)
        answer = under(world, level)
        passed = passed + 1 if bench.passed(act, world, answer) else 0
        yield Trial(act.name, str(level), bench.judged(act, world, answer))
        if passed == _SURE:
            return


_NOT_READ_ONLY = {
    "repair": "the act writes damage into the journal first, and may not",
    "check": "what is on disk is told all the same, and no receipt is promised",
    "gate": "what is on disk is told all the same, and no receipt is promised",
}


def read_only(setting: Setting) -> Iterator[Trial]:
    """The repository alone, or everything but the temporary folder."""
    bench = setting.bench()
    for act in setting.acts():
        if act.name in _NOT_READ_ONLY:
            continue
        bench.before(act)
        for where in ("repo", "all"):
            world = bench.fresh(act)
            folder = world.repo if where == "repo" else world.root
            loops.mount_read_only(folder)
            try:
                answer = bench.perform(act, world)
            finally:
                loops.unmount(folder)
            yield Trial(act.name, where, bench.judged(act, world, answer))


def stopped_holder(setting: Setting) -> Iterator[Trial]:
    """A stopped process holds one of the locks: others wait, or say who it is."""
    bench = setting.bench()
    for act in setting.acts():
        bench.before(act)
        for lock in _LOCKS:
            world = bench.fresh(act)
            path = os.path.join(world.folder, lock)
            if not os.path.exists(path):
                continue  # nobody can hold what is not there yet
            with _holder(path) as pid:
                answer = bench.perform(act, world, _impatient)
            found = bench.judged(act, world, answer)
            yield Trial(act.name, lock, found + _told_who(act, answer, pid))


def _told_who(act: Act, answer: Answer, pid: int) -> list[str]:
    if answer.status == 0 or f"process {pid} holds it" in answer.err:
        return []
    if act.is_hook:
        return [f"wrong a hook left with {answer.status}"]
    return [f"wrong it does not say who holds the lock: {answer.err[-300:]}"]


def _impatient() -> None:
    os.environ["STANDFAST_LOCK_TIMEOUT_S"] = _PATIENCE_S


@contextmanager
def _holder(path: str) -> Iterator[int]:
    """A process that has taken the lock and was stopped."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        loops.die_with(parent)
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(pid, os.WUNTRACED)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGCONT)
        os.waitpid(pid, 0)

"""Doing one act in a process of its own, to its very end, and hearing what it said.

The process is forked from one that has loaded everything, so a trial costs a few milliseconds.
A hook leaves a child behind that works on: the end of a pipe that all inherit is the end of the
last of them.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
from typing import TYPE_CHECKING, NamedTuple

import standfast

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.world import World

DEADLINE_S = 30.0
WEDGED = -1000


PLANTED: list[Callable[[], None]] = []  # bugs that every process begins with, to be caught


class Answer(NamedTuple):
    """How a process ended, and what it said; a negative status is a signal."""

    status: int
    out: str = ""
    err: str = ""


def apart(
    world: World, work: Callable[[], int], *, given: bytes = b"", deadline_s: float = DEADLINE_S
) -> Answer:
    """Do *work* in a forked process that lives in *world*; its status is what *work* gives back."""
    streams = [_scratch(given), _scratch(), _scratch()]
    alive, held = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(alive)
        _exit_with(world, work, streams)
    os.close(held)
    status = _wait(pid, alive, deadline_s)
    out, err = (_said(fd) for fd in streams[1:])
    for fd in streams:
        os.close(fd)
    return Answer(status, out, err)


def _scratch(data: bytes = b"") -> int:
    fd = os.memfd_create("standfast", 0)
    if data:
        os.write(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _exit_with(world: World, work: Callable[[], int], streams: list[int]) -> None:
    status = 99
    try:
        os.setsid()
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        own_streams()
        world.enter()
        for plant in PLANTED:
            plant()
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:  # noqa: BLE001  # told as what it is: a bug
        os.write(2, f"Traceback: {type(error).__name__}: {error}".encode())
    finally:
        os._exit(status)


def own_streams() -> None:
    """What is printed goes where the descriptors go, whoever had put something between."""
    sys.stdout, sys.stderr = (
        open(fd, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # they stay open
        for fd in (1, 2)
    )


def _wait(pid: int, alive: int, deadline_s: float) -> int:
    """Wait for the process and for everything it began; past the time all of it is killed."""
    watch = select.poll()
    watch.register(alive, select.POLLIN)
    ended = watch.poll(deadline_s * 1000)
    if not ended:
        os.killpg(pid, signal.SIGKILL)
    os.close(alive)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) if ended else WEDGED


def _said(fd: int) -> str:
    os.lseek(fd, 0, os.SEEK_SET)
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


def command(world: World, *arguments: str) -> Answer:
    """One command of the command line, to its end."""
    return apart(world, lambda: call(*arguments))


def call(*arguments: str) -> int:
    """One command, in this process."""
    from standfast.surfaces.cli.entry import main

    return main(list(arguments))


def hook(world: World, payload: bytes) -> Answer:
    """One call of a hook, to its end."""
    return apart(world, serve, given=payload)


def serve() -> int:
    """One hook, in this process, as the launcher calls it."""
    from standfast.clients.hooks.deadline import main

    return main(str(os.getppid()))


def facts(answer: Answer) -> dict[str, object]:
    """What a command said with --json."""
    found = json.loads(answer.out)
    assert isinstance(found, dict)
    return found


def needs(answer: Answer) -> list[str]:
    """What `status --json` says that only a person can see to."""
    found = facts(answer)["needs_you"]
    assert isinstance(found, list)
    return [str(each["problem"]) for each in found]


def load_everything() -> None:
    """Whoever is forked from here finds it all loaded: that is most of what a command costs."""
    for module in pkgutil.walk_packages(standfast.__path__, "standfast."):
        if not module.name.startswith(("standfast.testing.", "standfast.__main__")):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()

"""Several things done at the same moment, each in a process of its own."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Work = Callable[[], str]  # what it says in the end

DEADLINE_S = 60
FAILED = "failed"


def at_once(works: Sequence[Work], plant: Callable[[], None]) -> list[str]:
    """Begin them all together and hear what each says; one that hangs or fails says so."""
    start, gate = os.pipe()
    heard = [_forked(work, plant, start, gate) for work in works]
    os.close(gate)
    os.close(start)
    return [_said(pid, fd) for pid, fd in heard]


def _forked(work: Work, plant: Callable[[], None], start: int, gate: int) -> tuple[int, int]:
    heard, said = os.pipe()
    pid = os.fork()
    if pid:
        os.close(said)
        return pid, heard
    try:
        signal.alarm(DEADLINE_S)
        os.close(gate)
        plant()
        os.read(start, 1)  # nobody writes: it ends when the gate is closed
        words = work()
    except BaseException as error:  # noqa: BLE001  # told to whoever counts
        words = f"{FAILED} {type(error).__name__}: {error}"
    os.write(said, words.encode("utf-8", "replace"))
    os._exit(0)


def _said(pid: int, fd: int) -> str:
    parts = []
    while part := os.read(fd, 1 << 16):
        parts.append(part)
    os.close(fd)
    _, status = os.waitpid(pid, 0)
    if status:
        return f"{FAILED} it hung or died: {os.waitstatus_to_exitcode(status)}"
    return b"".join(parts).decode("utf-8", "replace")

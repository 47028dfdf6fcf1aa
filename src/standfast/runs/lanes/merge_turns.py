"""Landing in turn: one lane at a time, in the order in which they came, and each knows its place.

A lane that waits has a file of its own, locked for as long as it waits: the kernel gives the lock
back however it dies, and whoever looks next takes such a file away. Files are made, looked at and
taken away under one lock, so that none is taken for a dead one's between its making and its lock.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from standfast import clock, disk
from standfast.errors.lanes import LaneEnded
from standfast.journal import locks
from standfast.wait_notice import HELP, Wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.runs.lanes.lane_context import Work

LOCK, FOLDER, _LOOK = "merge.lock", "landing", "look.lock"
_AGAIN_S = 0.05


@contextmanager
def turn(work: Work) -> Iterator[None]:
    """The right to move a base branch of this repository."""
    fd = _taken(work)
    try:
        yield
    finally:
        os.close(fd)


def _taken(work: Work) -> int:
    """The lock; whoever comes while others wait waits behind them."""
    path = os.path.join(work.journal.folder, LOCK)
    folder = os.path.join(work.journal.folder, FOLDER)
    disk.make_folder(folder)
    fd = locks.open_lock(path)
    try:
        with _looking(folder):
            if not _waiting(folder) and locks.try_lock(fd):
                return fd
            ticket, name = _queue(folder)
        try:
            _wait(work, folder, name, fd)
        finally:
            disk.forget(os.path.join(folder, name))
            os.close(ticket)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _wait(work: Work, folder: str, name: str, fd: int) -> None:
    said = 0
    path = os.path.join(work.journal.folder, LOCK)
    told = Wait(lambda: f"the lane that is landing: {locks.held_by(path)}; {HELP}")
    while True:
        with _looking(folder):
            ahead = _waiting(folder).index(name)
        if ahead == 0 and locks.try_lock(fd):
            return
        if work.is_stopped():
            raise LaneEnded(f"{'/'.join(work.spec.names)} was stopped before its turn to land")
        place = ahead + 2  # one is landing
        if place != said:
            work.tell(f"waits for its turn to land: {ordinal(place)}")
            said = place
        told.look()
        clock.pause(_AGAIN_S)


def ordinal(number: int) -> str:
    """A place in words: 1st, 2nd, 3rd, 4th, 11th."""
    teens = range(11, 14)
    ending = "th" if number % 100 in teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


@contextmanager
def _looking(folder: str) -> Iterator[None]:
    fd = locks.take_in_turn(os.path.join(folder, _LOOK), "a look at who is to land next")
    try:
        yield
    finally:
        os.close(fd)


def _waiting(folder: str) -> list[str]:
    """Who waits, the first first; what the dead left is taken away."""
    found = []
    for name in sorted(name for name in os.listdir(folder) if name.isdigit()):
        path = os.path.join(folder, name)
        if locks.is_held(path):
            found.append(name)
        else:
            with suppress(OSError):
                disk.forget(path)
    return found


def _queue(folder: str) -> tuple[int, str]:
    """A file behind all others."""
    last = max((int(name) for name in os.listdir(folder) if name.isdigit()), default=0)
    name = f"{last + 1:08d}"
    fd = locks.open_lock(os.path.join(folder, name))
    locks.try_lock(fd)
    return fd, name

"""A folder for a while: it goes with the command that made it, also where that was killed.

Its maker has it locked. What nobody holds any more was left by one that died, and the next command
of the same user takes it away.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from standfast import disk

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "standfast-scratch-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder(top: str | None = None) -> Iterator[str]:
    """A private folder that is gone afterwards; in *top*, or where such folders are made."""
    if top is not None:
        sweep(top)
    path, lock = _made(top)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _made(top: str | None) -> tuple[str, int]:
    """Between its making and its lock somebody may have taken it for a dead one's."""
    import tempfile  # only here: it loads what a command that sweeps has no need of

    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=top)
        with suppress(FileNotFoundError):
            lock = os.open(path, _FOLDER)
            found = os.fstat(lock)
            if disk.is_free(lock) and disk.identity(path) == (found.st_dev, found.st_ino):
                return path, lock
            os.close(lock)


def sweep(top: str) -> None:
    """Take away what commands that died have left in *top*."""
    with suppress(OSError):
        for name in os.listdir(top):
            if name.startswith(PREFIX):
                _sweep(os.path.join(top, name))


def _sweep(path: str) -> None:
    try:
        lock = os.open(path, _FOLDER)
    except OSError:
        return  # gone, or nothing of ours
    try:
        if os.fstat(lock).st_uid == os.geteuid() and disk.is_free(lock):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)

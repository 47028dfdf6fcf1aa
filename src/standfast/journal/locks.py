"""File locks with a bounded wait. The kernel gives a lock back however its holder dies."""

from __future__ import annotations

import errno
import fcntl
import os

from standfast import disk
from standfast.errors import JournalBusy, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NO_LOCKS_HERE = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}


def open_lock(path: str) -> int:
    """Open a lock file, making it if need be."""
    return disk.open_regular(path, os.O_RDWR | os.O_CREAT)


def try_lock(fd: int) -> bool:
    """Take the lock if it is free."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        refuse_lockless(error)
        return False
    return True


def refuse_lockless(error: OSError) -> None:
    """A lock that is taken is waited for; a filesystem that has none is refused."""
    if error.errno in _NO_LOCKS_HERE:
        raise Unsupported("this filesystem has no working file locks") from error
    if not isinstance(error, BlockingIOError):
        raise error


def lock(fd: int) -> None:
    """Take the lock, however long it takes."""
    fcntl.flock(fd, fcntl.LOCK_EX)


def unlock(fd: int) -> None:
    """Let the next one have it."""
    fcntl.flock(fd, fcntl.LOCK_UN)


def wait_for(
    path: str, timeout_s: float | None, *, wait: Callable[[], None], undo: Callable[[], None]
) -> None:
    """Do a wait that cannot be interrupted; past the time, say who holds *path*."""
    if timeout_s is None:
        wait()
    elif not _within(timeout_s, wait, undo):
        raise JournalBusy(f"not free within {timeout_s:g} s{_holders(path)}", file=path)


def _within(timeout_s: float, wait: Callable[[], None], undo: Callable[[], None]) -> bool:
    """Wait in a thread, because flock has no deadline; one that comes too late is undone."""
    import threading  # only when somebody else holds the lock

    decided = threading.Lock()
    arrived = threading.Event()
    given_up = False

    def queue() -> None:
        wait()
        with decided:
            if given_up:
                undo()
            else:
                arrived.set()

    threading.Thread(target=queue, daemon=True, name="standfast-lock").start()
    if arrived.wait(timeout_s):
        return True
    with decided:
        given_up = not arrived.is_set()
    return not given_up


def _holders(path: str) -> str:
    from standfast.process import lock_holders  # only to say who

    pids = lock_holders(path)
    return f": process {', '.join(map(str, pids))} holds it" if pids else ""

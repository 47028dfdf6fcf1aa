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

_WORTH_TELLING_S = 0.5  # who waits less is a hook: nobody reads it, and asking is dear
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


def is_held(path: str) -> bool:
    """Whether somebody has this lock. Whoever asks shares a free one for a moment."""
    try:
        fd = disk.open_regular(path)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        refuse_lockless(error)
        return True
    finally:
        os.close(fd)
    return False


def refuse_lockless(error: OSError) -> None:
    """A lock that is taken is waited for; a filesystem that has none is refused."""
    if error.errno in _NO_LOCKS_HERE:
        raise Unsupported("this filesystem has no working file locks") from error
    if not isinstance(error, BlockingIOError):
        raise error


def take(path: str) -> int:
    """Open a lock file and wait for the lock, however long it takes."""
    fd = open_lock(path)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def take_within(
    path: str,
    timeout_s: float | None,
    how: Callable[[], int] | None = None,
    *,
    queue: str | None = None,
) -> int:
    """Wait for a lock and return its open file; past the time, say who holds it, or its *queue*."""
    how = how or (lambda: take(path))
    if timeout_s is None:
        return how()
    fd = _within(timeout_s, how)
    if fd is None:
        holders = ""
        if timeout_s >= _WORTH_TELLING_S:
            holders = _holders(path) or (_holders(queue) if queue is not None else "")
        raise JournalBusy(f"not free within {timeout_s:g} s{holders}", file=path)
    return fd


def _within(timeout_s: float, how: Callable[[], int]) -> int | None:
    """Wait in a thread, because flock has no deadline.

    The thread has an open file of its own: if it comes too late it closes that, and no lock
    that was taken meanwhile by another way is touched.
    """
    import threading  # only when somebody else holds the lock

    decided = threading.Lock()
    arrived = threading.Event()
    found: list[int | OSError] = []
    given_up = False

    def wait() -> None:
        try:
            result: int | OSError = how()
        except OSError as error:
            result = error
        with decided:
            if given_up and isinstance(result, int):
                os.close(result)
            found.append(result)
            arrived.set()

    threading.Thread(target=wait, daemon=True, name="standfast-lock").start()
    try:
        arrived.wait(timeout_s)
    finally:  # also when interrupted: a lock that comes later must not stay
        with decided:
            given_up = not found
    if not found:
        return None
    if isinstance(found[0], OSError):
        raise found[0]
    return found[0]


def _holders(path: str) -> str:
    from standfast.process import lock_holders  # only to say who

    pids = lock_holders(path)
    return f": process {', '.join(map(str, pids))} holds it" if pids else ""

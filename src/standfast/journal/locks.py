"""File locks with a bounded wait. The kernel gives a lock back however its holder dies."""

from __future__ import annotations

import errno
import fcntl
import os

from standfast import clock, disk
from standfast.errors.base import JournalBusy, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from standfast.wait_notice import Wait

TURNSTILE = "turnstile.lock"  # who has it is the next to write

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
    fd = _within(timeout_s, how, lambda: _waited_for(path, queue))
    if fd is None:
        holders = ""
        if timeout_s is not None and timeout_s >= _WORTH_TELLING_S:
            holders = _holders(path) or (_holders(queue) if queue is not None else "")
        raise JournalBusy(f"not free within {timeout_s:g} s{holders}", file=path)
    return fd


def take_in_turn(path: str, what: str) -> int:
    """Wait for a lock, however long it takes; whoever waits long is told for *what*, and whom."""
    fd = open_lock(path)
    if try_lock(fd):
        return fd
    os.close(fd)
    found = _within(None, lambda: take(path), lambda: f"{what}: {held_by(path)}")
    assert found is not None  # noqa: S101  # it was waited for without end
    return found


def _waited_for(path: str, queue: str | None) -> str:
    who = held_by(path, queue)
    return f"a lock, {path}: {who}; it goes when that ends"


def held_by(*paths: str | None) -> str:
    """Who holds the first of these locks that somebody holds."""
    from standfast.wait_notice import named  # only to say who

    found = (_who(path) for path in paths if path is not None)
    return named(next(filter(None, found), []))


def _who(path: str) -> list[int]:
    """Whoever took it may be gone, and those who have it from there hold it on."""
    from standfast.processes.programs import having_open, identify, lock_holders

    alive = [pid for pid in lock_holders(path) if identify(pid) is not None]
    return alive or [pid for pid in having_open(path) if pid != os.getpid()]


def _within(
    timeout_s: float | None, how: Callable[[], int], words: Callable[[], str]
) -> int | None:
    """Wait in a thread, because flock has no deadline, and tell *words* when it takes long.

    The thread has an open file of its own: if it comes too late it closes that, and no lock
    that was taken meanwhile by another way is touched.
    """
    import threading  # only when somebody else holds the lock

    from standfast.wait_notice import Wait

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
        _wait(arrived, timeout_s, Wait(words))
    finally:  # also when interrupted: a lock that comes later must not stay
        with decided:
            given_up = not found
    if not found:
        return None
    if isinstance(found[0], OSError):
        raise found[0]
    return found[0]


def _wait(arrived: threading.Event, timeout_s: float | None, told: Wait) -> None:
    """Until it is there, or the time is up."""
    until = float("inf") if timeout_s is None else _now_s() + timeout_s
    while not arrived.wait(max(0.0, min(told.left_s(), until - _now_s()))):
        if _now_s() >= until:
            return
        told.look()


def _now_s() -> float:
    return clock.monotonic_ns() / 1e9


def _holders(path: str) -> str:
    from standfast.processes.programs import lock_holders  # only to say who

    pids = lock_holders(path)
    return f": process {', '.join(map(str, pids))} holds it" if pids else ""

"""Dying, and being disturbed, in the middle of something.

In this process death is an exception that nothing of ours catches, raised right after a real
system call was made. In a process of its own it is the real one.
"""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from standfast import disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_CALLS = (
    *((os, name) for name in ("fsync", "rename", "link", "unlink", "pwrite")),
    (disk, "swap"),
)


class Death(BaseException):
    """The process ends here."""


def die() -> NoReturn:
    """End this process, as far as our code can tell."""
    raise Death


@contextmanager
def after_calls(plan: Mapping[int, Callable[[], None]]) -> Iterator[None]:
    """Do what is planned right after the nth call that changes a file or makes one durable."""
    made = 0
    counting = True
    real = [getattr(module, name) for module, name in _CALLS]

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        def and_then(*arguments: object, **named: object) -> object:
            nonlocal made, counting
            done = call(*arguments, **named)
            made += counting
            if counting and made in plan:
                counting = False  # what others do meanwhile is not ours
                plan[made]()
                counting = True
            return done

        return and_then

    try:
        for (module, name), call in zip(_CALLS, real, strict=True):
            setattr(module, name, counted(call))
        yield
    finally:
        for (module, name), call in zip(_CALLS, real, strict=True):
            setattr(module, name, call)


def kill_oneself() -> NoReturn:
    """Nothing runs after this: no handler, no `finally`."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed, and still here")


def in_a_process_that_dies(work: Callable[[], None]) -> None:
    """Do *work*, which must end with `kill_oneself`, in a child of this process."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # threads of a test runner: it only dies
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(3)
    status = os.waitpid(child, 0)[1]
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        raise AssertionError("the writer was to be killed, and ended by itself")

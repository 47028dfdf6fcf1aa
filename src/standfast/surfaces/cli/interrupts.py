"""What asks a command to end: whatever it waits for, it has ended a few seconds later.

SIGTERM and SIGHUP interrupt as Ctrl-C does, so that it is said how to go on. Whoever sends them
does not press a key twice, and may send SIGKILL next: so a thread apart ends the process where the
interrupt did not get through. What ends its own tree, a supervisor, goes on with that.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from standfast.errors.base import Terminated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

LEAVE_S = 4.0
STATUS = 130
_LEFT = (
    b"left at once: something did not end in time; what runs is being ended,"
    b" `standfast ps` shows what is left\n"
)
_is_ending = False


def heed() -> None:
    """Whatever asks us to end interrupts us; `nohup` means it."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(_number: int, _frame: FrameType | None) -> None:
    global _is_ending  # noqa: PLW0603  # for the whole process
    if _is_ending:
        return  # it was heard: what is being put in order must not be broken off
    _is_ending = True
    import threading

    threading.Thread(target=_leave_in_time, daemon=True, name="standfast-leaving").start()
    raise Terminated


def _leave_in_time() -> None:
    from standfast import clock

    clock.pause(LEAVE_S)
    leave()
    with suppress(OSError):
        os.write(2, _LEFT)
    os._exit(STATUS)


def leave() -> int:
    """End the programs that other threads still run; gives the status of an interrupt."""
    from standfast.processes import programs

    programs.leave()
    return STATUS

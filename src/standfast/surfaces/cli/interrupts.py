"""What asks a command to end: whatever it waits for, it has ended a few seconds later.

SIGTERM and SIGHUP interrupt as Ctrl-C does, so that it is said how to go on. Whoever sends them
does not press a key twice, and may send SIGKILL next: so a thread apart ends the process where the
interrupt did not get through. It hears of the signal from the system, since Python's own handlers
wait for the main thread, which may not come back from C. What ends its own tree, a supervisor, goes
on with that.
"""

from __future__ import annotations

import _thread  # `threading` is slow to load, and this is in the way of every command
import os
import signal
import sys
from contextlib import suppress

from standfast import clock
from standfast.errors.base import Terminated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

LEAVE_S = 4.0
STATUS = 130
_FEW_FILES = 32
_LEFT = (
    b"left at once: something did not end in time; what runs is being ended,"
    b" `standfast ps` shows what is left\n"
)
_is_ending = False


def heed() -> None:
    """Whatever asks us to end interrupts us; `nohup` means it."""
    asked = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    for number in asked:
        signal.signal(number, _end)
    if os.sysconf("SC_OPEN_MAX") < _FEW_FILES:
        return  # there is none to spare
    with suppress(OSError, RuntimeError):  # no room for it: a command is not refused for that
        heard, bell = os.pipe()
        os.set_blocking(bell, False)
        _thread.start_new_thread(_leave_in_time, (heard, bytes(asked)))
        signal.set_wakeup_fd(bell, warn_on_full_buffer=False)


def _end(_number: int, _frame: FrameType | None) -> None:
    global _is_ending  # noqa: PLW0603  # for the whole process
    if _is_ending:
        return  # it was heard: what is being put in order must not be broken off
    _is_ending = True
    raise Terminated


def _leave_in_time(heard: int, asked: bytes) -> None:
    """Wait for a signal that asks us to end, leave the main thread its time, and leave."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the main thread
    while (told := os.read(heard, 1)) not in asked:
        pass
    if not told:
        return  # somebody closed it
    clock.pause(LEAVE_S)
    try:
        leave()
        os.write(2, _LEFT)
    finally:
        os._exit(STATUS)


def leave() -> int:
    """End the programs that other threads still run; gives the status of an interrupt."""
    programs = sys.modules.get("standfast.processes.programs")
    if programs is not None:  # else there are none; nothing is imported beside a stuck thread
        programs.leave()
    return STATUS

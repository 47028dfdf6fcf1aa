"""The shim from inside: built with the compiler that is found, armed for one call of one act."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from enum import IntEnum
from typing import NamedTuple

SOURCE = os.path.join(os.path.dirname(__file__), "shim.c")
LIBRARY = "STANDFAST_SHIM"


class Kind(IntEnum):
    """What can happen to a call; the numbers are the shim's."""

    KILL_BEFORE = 1
    KILL_AFTER = 2
    TORN = 3  # half of it is written, then kill
    EIO = 4
    ENOSPC = 5
    EINTR = 6
    SHORT = 7  # the system takes half of what it is given
    EIO_ON = 8  # from here on, and so for the rest
    ENOSPC_ON = 9
    EROFS_ON = 10
    SHORT_ON = 11

    @property
    def needs_write(self) -> bool:
        """Only what is written can be torn or taken in part."""
        return self in {Kind.TORN, Kind.SHORT, Kind.SHORT_ON}

    @property
    def is_death(self) -> bool:
        """Whether the process is gone afterwards."""
        return self in {Kind.KILL_BEFORE, Kind.KILL_AFTER, Kind.TORN}


class Op(IntEnum):
    """Calls that change something; the numbers are the shim's log's."""

    CREATE = 1
    WRITE = 2
    TRUNCATE = 3
    SYNC = 4
    RENAME = 5
    EXCHANGE = 6
    LINK = 7
    UNLINK = 8
    MKDIR = 9
    RMDIR = 10
    SYMLINK = 11
    MARK = 12  # something was said to the world outside: an acknowledgement


class Fault(NamedTuple):
    """One thing that goes wrong: at the *nth* call that changes something."""

    kind: Kind
    nth: int

    def __str__(self) -> str:
        return f"{self.kind.name.lower()}@{self.nth}"


def parse(text: str) -> Fault:
    """The fault that `str` gives back: `torn@12`."""
    kind, _, nth = text.partition("@")
    return Fault(Kind[kind.upper()], int(nth))


def compiler() -> str | None:
    """The C compiler of this machine, if it has one."""
    return next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def build(folder: str) -> str:
    """Compile the shim into *folder*; the library's path."""
    library = os.path.join(folder, "shim.so")
    command = [str(compiler()), "-shared", "-fPIC", "-O2", "-w", "-o", library, SOURCE, "-ldl"]
    subprocess.run(command, check=True)
    return library


def environment(library: str) -> dict[str, str]:
    """For a process that is to run under the shim."""
    return {**os.environ, "LD_PRELOAD": library, LIBRARY: library}


class Shim:
    """The shim of this process and its children; they count together."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ[LIBRARY])
        self._library.faults_count.restype = ctypes.c_long
        self._library.faults_fired.restype = ctypes.c_long
        self._library.faults_share()

    def arm(self, root: str, fault: Fault | None = None, *, log: int = -1) -> None:
        """Count what happens below *root*, let *fault* happen, write it all down into *log*."""
        kind, nth = (0, 0) if fault is None else fault
        self._library.faults_arm(os.fsencode(root), int(kind), ctypes.c_long(nth), log)

    def disarm(self) -> None:
        """Let everything pass."""
        self._library.faults_disarm()

    def jump(self, seconds: int) -> None:
        """Set the clock that people set, so far from what it is."""
        self._library.faults_jump(ctypes.c_long(seconds))

    @property
    def fired(self) -> bool:
        """Whether the fault came to pass."""
        return bool(self._library.faults_fired())

    def ops(self) -> list[Op]:
        """Which calls were counted since it was armed."""
        count = self._library.faults_count()
        return [Op(self._library.faults_op(ctypes.c_long(n))) for n in range(1, count + 1)]

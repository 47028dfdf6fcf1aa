"""Whose process this is: by those that began it and by what they were handed, as the system says.

A process can change its own variables and close its own files. It cannot change who began it, nor
what those who did were started with.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from standfast.processes.occupants import line, read_above
from standfast.processes.process_identity import PROC

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_PROC_ROOT = 1  # the number of its folder in the system's own file system of processes


class Trace(NamedTuple):
    """What one of them was started with, and has open."""

    arguments: tuple[str, ...]  # from the one that was asked for on; none where it has it not
    variables: tuple[str, ...]  # the values of those that were asked for
    files: tuple[str, ...]


def traces(argument: str, variables: Collection[str]) -> Iterator[Trace]:
    """Of this process and those above it, itself first."""
    marks = tuple(f"{each}=" for each in variables)
    for pid in line():
        words = _words(pid, "cmdline")
        said = words[words.index(argument) :] if argument in words else []
        found = [
            each.partition("=")[2] for each in _words(pid, "environ") if each.startswith(marks)
        ]
        yield Trace(tuple(said), tuple(found), tuple(_open_files(pid)))


def is_shown() -> bool:
    """Whether the system shows this process and those that began it, as far as they are ours.

    Who has mounts of its own can lay something over /proc, or over one process there.
    """
    if sys.platform != "linux":
        return True  # there is no such thing to look at, nor to hide
    try:
        own = os.readlink(PROC / "self") == str(os.getpid()) and PROC.stat().st_ino == _PROC_ROOT
    except OSError:
        return False
    top = line()[-1]
    return own and (read_above(top) == 0 or not _is_ours(top))


def _is_ours(pid: int) -> bool:
    """Whether we may signal it: then we may see it as well."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _words(pid: int, name: str) -> list[str]:
    try:
        return os.fsdecode((PROC / str(pid) / name).read_bytes()).split("\0")
    except OSError:
        return []


def _open_files(pid: int) -> list[str]:
    folder = PROC / str(pid) / "fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [_target(folder / name) for name in names]


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""

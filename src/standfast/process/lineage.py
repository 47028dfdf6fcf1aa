"""Whose process this is: by those that began it and by what they were handed, as the system says.

A process can change its own variables and close its own files. It cannot change who began it, nor
what those who did were started with.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.process.identity import PROC
from standfast.process.workers import line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path


def began_by(argument: str, variables: Collection[str], is_ours: Callable[[str], bool]) -> bool:
    """Whether this process or one above it has an argument, one of these variables, or a file."""
    wanted, marks = os.fsencode(argument), tuple(os.fsencode(f"{each}=") for each in variables)
    return any(
        wanted in _words(pid, "cmdline")
        or any(word.startswith(marks) for word in _words(pid, "environ"))
        or any(map(is_ours, _open_files(pid)))
        for pid in line()
    )


def _words(pid: int, name: str) -> list[bytes]:
    try:
        return (PROC / str(pid) / name).read_bytes().split(b"\0")
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

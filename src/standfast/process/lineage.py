"""Whose process this is: by those that began it and by what they were handed, as the system says.

A process can change its own variables and close its own files. It cannot change who began it, nor
what those who did were started with.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast.process.identity import PROC
from standfast.process.workers import line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


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

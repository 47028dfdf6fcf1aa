"""Gits that cannot be seen from here: another container may share the repository.

Whoever is in a PID namespace of its own does not see who made a lock of git's. Such a lock may be
somebody's who is at work, and stays. Unless it is our own: there, whoever calls a git that may lock
says so in a file beside the repository, which it keeps locked for as long as it lives. A lock that
was made right after such a word, by one who is gone, was left behind by it.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import clock, disk
from standfast.errors.base import StandfastError
from standfast.git import special_files
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "standfast-gits"
_SOON_NS = 10 * 10**9  # a git makes its locks when it begins
_OLD_NS = 86_400 * 10**9
_words: dict[str, int] = {}  # where we have said it, and the open file


def say(directory: Path) -> None:
    """Say that a git of ours may lock something now, where others could not see that."""
    if programs.sees_everyone():
        return
    homes = special_files.homes(os.fspath(directory))
    if homes:
        _say(os.path.realpath(homes[-1]))


def _say(common: str) -> None:
    known = _words.get(common)
    if known is not None and os.fstat(known).st_nlink:
        os.utime(known)
        return
    folder = os.path.join(common, FOLDER)
    try:
        disk.make_folder(folder)
        _forget_old(folder)
        path = os.path.join(folder, os.urandom(8).hex())
        _words[common] = disk.create_locked(path, b"")
        atexit.register(disk.forget, path)  # whoever ends by itself has left nothing behind
    except (OSError, StandfastError):
        return  # then nobody knows, and what is left behind needs a person


def _forget_old(folder: str) -> None:
    for path, said_ns in _dead(folder):
        if said_ns < clock.now_us() * 1000 - _OLD_NS:
            disk.forget(path)


def may_have(lock: str) -> bool:
    """Whether somebody whom we cannot see may have this lock of git's."""
    if programs.sees_everyone():
        return False
    try:
        made_ns = os.lstat(lock).st_ctime_ns
    except OSError:
        return False
    above = (each for each in Path(lock).parents if (each / "objects").is_dir())
    dead = _dead(next((str(each / FOLDER) for each in above), ""))
    return not any(0 <= made_ns - said_ns <= _SOON_NS for _, said_ns in dead)


def _dead(folder: str) -> Iterator[tuple[str, int]]:
    """What those have said who are gone, and when they did last."""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        try:
            fd = disk.open_regular(path)
        except OSError:
            continue
        try:
            if disk.is_free(fd):
                yield path, os.fstat(fd).st_mtime_ns
        finally:
            os.close(fd)

"""Somebody saves files of a checkout while merges land there: no save may be lost.

The editor is a process of its own. It saves at any moment of a merge, or in the one in which it
sees the first file change: then all the others are about to. It saves by a new file and a rename,
or into the file, with which it takes a while.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import GitFailed
from standfast.errors.lanes import BaseRefused
from standfast.git import branch_advance, fast_forward
from standfast.git.command import Git

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from standfast.git.fast_forward import Checkout

ENOUGH = 100  # merges within which the planted bug must show
_FILES = 200
_PATIENCE_NS = 10**9
_SLOW_NS = 5 * 10**6


class Counted(NamedTuple):
    """What one run did and found."""

    saves: int
    refused: int
    findings: list[str]


class Save(NamedTuple):
    """When and how to save which file: at a moment, or when another file changes."""

    path: str
    words: str
    in_place: bool
    wait_us: int
    watched: str | None


def run(folder: str, seed: int, rounds: int, *, until_found: bool = False) -> Counted:
    """Merge as often, each time with somebody who saves one of the files."""
    dice = random.Random(f"{seed}/saving")  # to be the same again
    git, old, new = _repository(Path(folder) / "repo")
    began = time.monotonic_ns()
    branch_advance.advance(git, "main", old, new)
    as_long_us = (time.monotonic_ns() - began) // 1000
    ours, theirs = multiprocessing.Pipe()
    editor = multiprocessing.get_context("fork").Process(target=_edit, args=(theirs,), daemon=True)
    editor.start()
    refused, findings = 0, []
    for number in range(rounds):
        _plain(git.directory, "reset", "-q", "--hard", old)
        save = _drawn(dice, git.directory, number, as_long_us)
        ours.send(save)
        refused += not _merged(git, old, new)
        ours.recv()
        if save.words not in _everything(git.directory):
            findings.append(f"lost a save of a file while a merge was written: {save}")
        if findings and until_found:
            break
    ours.send(None)
    editor.join()
    return Counted(number + 1, refused, findings)


def _drawn(dice: random.Random, top: Path, number: int, as_long_us: int) -> Save:
    file = dice.randrange(_FILES // 2, _FILES)
    watched = str(top / "000") if dice.random() < 0.5 else None  # noqa: PLR2004  # half of them
    wait_us = dice.randrange(400 if watched else as_long_us)
    words, in_place = f"save {number} of somebody\n", dice.random() < 0.5  # noqa: PLR2004
    return Save(str(top / f"{file:03}"), words, in_place, wait_us, watched)


def _merged(git: Git, old: str, new: str) -> bool:
    try:
        branch_advance.advance(git, "main", old, new)
    except BaseRefused:
        return False
    return True


def _everything(top: Path) -> str:
    """Every file of the checkout, and what is kept for its user."""
    kept = (top / ".git" / "standfast-kept").glob("*")
    files = [*top.iterdir(), *kept]
    return "".join(each.read_text("utf-8") for each in files if each.is_file())


# The editor.


def _edit(orders: Connection) -> None:
    while (save := orders.recv()) is not None:
        _wait(save)
        _save(save)
        orders.send(None)


def _wait(save: Save) -> None:
    until = time.monotonic_ns() + _PATIENCE_NS
    if save.watched is not None:
        before = _identity(save.watched)
        while _identity(save.watched) == before and time.monotonic_ns() < until:
            pass
    until = time.monotonic_ns() + save.wait_us * 1000
    while time.monotonic_ns() < until:
        pass


def _identity(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


def _save(save: Save) -> None:
    if not save.in_place:
        draft = Path(f"{save.path}~")
        draft.write_text(save.words, encoding="utf-8")
        draft.rename(save.path)
        return
    with open(save.path, "w", encoding="utf-8") as file:
        until = time.monotonic_ns() + _SLOW_NS
        while time.monotonic_ns() < until:
            pass
        file.write(save.words)


# The repository.


def _repository(top: Path) -> tuple[Git, str, str]:
    top.mkdir(parents=True)
    _plain(top, "init", "-q", "-b", "main")
    commits = []
    for version in ("old", "new"):
        for number in range(_FILES):
            (top / f"{number:03}").write_text(f"{version} {number}\n" * 50, encoding="utf-8")
        _plain(top, "add", "-A")
        _plain(top, "-c", "user.name=t", "-c", "user.email=t", "commit", "-q", "-m", version)
        commits.append(_plain(top, "rev-parse", "HEAD"))
    _plain(top, "reset", "-q", "--hard", commits[0])
    return Git(directory=top), commits[0], commits[1]


def _plain(top: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=top, check=True, capture_output=True)
    return done.stdout.decode().strip()


# The planted bug.


def plain_git(folder: str, seed: int, rounds: int) -> Counted:
    """The same with merges that look first and then write, as git does it."""
    real = fast_forward.bring_forward

    def bring_forward(place: Checkout) -> None:
        try:
            place.git.write("read-tree", "-m", "-u", place.old, place.new)
        except GitFailed as error:
            raise BaseRefused(error.problem) from error

    fast_forward.bring_forward = bring_forward
    try:
        return run(folder, seed, rounds, until_found=True)
    finally:
        fast_forward.bring_forward = real

"""What git says, taken apart: its lists of names, and when it says no, the reason in our terms."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.errors.base import GitFailed, NotARepository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from standfast.processes import programs

_MESSAGE_LIMIT = 300


def failure(done: programs.Finished, directory: Path) -> Exception:
    """Say in our terms why git said no."""
    reason = _reason(done)
    if "not a git repository" in reason:
        return NotARepository("this folder is in no git repository", file=str(directory))
    if "dubious ownership" in reason:
        return GitFailed(
            "git refuses the repository: its files belong to another user",
            file=str(directory),
            remedy="If you trust it, read about `safe.directory` in git's documentation.",
        )
    return GitFailed(reason[:_MESSAGE_LIMIT], file=str(directory))


def _reason(done: programs.Finished) -> str:
    """The line in which git says it; its advice is left out, that holds whole commands."""
    lines = [line for line in clean(done.stderr).splitlines() if not line.startswith("hint:")]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))]
    if told:
        return told[-1]
    said = lines[:1] or clean(done.stdout).splitlines()[-1:]
    return said[0] if said else f"git {done.argv[1]} ended with status {done.status}"


def clean(output: bytes) -> str:
    """Replace what could steer a terminal."""
    text = output.decode("utf-8", "replace")
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


def entries(output: bytes) -> Iterator[tuple[list[str], str]]:
    """Take `facts TAB name NUL` apart, as ls-tree and ls-files print it."""
    for record in names(output):
        facts, _, name = record.partition("\t")
        yield facts.split(" "), name


def names(output: bytes) -> Iterator[str]:
    """Each name that git printed with a NUL behind it; a long listing is not held once more."""
    begin = 0
    while (end := output.find(b"\0", begin)) >= 0:
        yield os.fsdecode(output[begin:end])
        begin = end + 1

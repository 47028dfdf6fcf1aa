"""What git says when it says no, in our terms: one reason, and nothing that steers a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import GitFailed, NotARepository

if TYPE_CHECKING:
    from pathlib import Path

    from standfast import process

_MESSAGE_LIMIT = 300


def failure(done: process.Finished, directory: Path) -> Exception:
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


def _reason(done: process.Finished) -> str:
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

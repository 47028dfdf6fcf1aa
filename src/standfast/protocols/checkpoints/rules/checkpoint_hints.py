"""What to do with a checkpoint: commands to paste, and the words that resume and rollback print.

Commands are made from checked names and one quoted path, never from what a file says. A rollback
hint is a whole command all the same: a rollback keeps every byte, so pasting it loses nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.text import is_hidden, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.protocols.checkpoints.rules.checkpoint import Key

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+,:@")
# Inside single quotes fish gives a backslash a meaning that bash and zsh do not: it stands in
# double quotes, where all three agree; so does the single quote itself.
_APART = {"'": "'\"'\"'", "\\": "'\"\\\\\"'"}


def quote(text: str) -> str:
    """One word for bash, zsh and fish alike."""
    if text and set(text) <= _PLAIN and not text.startswith("-"):
        return text
    return "'" + "".join(_APART.get(char, char) for char in text) + "'"


class Hints(NamedTuple):
    """The two commands of a record, as it carries them."""

    resume: str
    rollback: str


def hints(key: Key, root: str) -> Hints:
    """The commands for one lane, to be pasted anywhere; *root* is the repository."""
    return Hints(_command("resume", key, root), _command("rollback", key, root))


def to_the_start(key: Key, root: str) -> str:
    """The command that goes back to before the lane began."""
    return f"{_command('rollback', key, root)} --to {cp.BEFORE}"


def _command(verb: str, key: Key, root: str) -> str:
    names = f"--run-id {key.run_id} --phase {key.phase} --lane {key.lane}"
    return f"standfast {_where(root)}lane {verb} {names}"


@cache
def _where(root: str) -> str:
    """A path that cannot be shown as it is cannot be pasted: the command is for inside it then."""
    return "" if any(map(is_hidden, root)) else f"-C {quote(root)} "


# What comes next, by stage and status; a status alone where it says enough.
_NEXT: Mapping[str | tuple[str, str], str] = {
    (cp.BEFORE, cp.READY): "Nothing was changed yet: resume creates the worktree and its branch.",
    (cp.STARTED, cp.IN_PROGRESS): "The worktree is there: resume goes on with the lane's tasks,"
    " then its tests.",
    (cp.TESTED, cp.COMPLETE): "The tests passed: resume prepares the merge or the PR.",
    (cp.TESTED, cp.FAILED): "The tests failed: mend what they show, then resume runs them again.",
    (cp.PRE_PR, cp.READY): "All is ready: resume makes the merge or the PR, once.",
    (cp.PRE_PR, cp.COMPLETE): "The lane is done: there is nothing to resume.",
    (cp.PRE_PR, cp.FAILED): "The merge or the PR failed: see to permissions and network, then"
    " resume.",
    (cp.RETRY, cp.RETRYING): "A retry is on its way: resume goes on with it.",
    (cp.RETRY, cp.FAILED): "No retry is left: a person must look at it before a resume.",
    cp.BLOCKED: "It waits for a dependency or for you: see to that, then resume.",
    cp.FAILED: "It failed: see to the cause, then resume tries this step again.",
    cp.ROLLED_BACK: "It was rolled back: resume starts from there.",
}
_OTHERWISE = "Resume goes on from here."


def next_action(stage: str, status: str) -> str:
    """What a resume would do now, and what must come before it."""
    return _NEXT.get((stage, status)) or _NEXT.get(status, _OTHERWISE)


def prompt(key: Key, status: str, path: str, root: str) -> str:
    """What resume and rollback tell the user: where it is, where that is written, what to do."""
    made = hints(key, root)
    whose = f"lane {key.lane}, phase {key.phase}, run {key.run_id}"
    return "\n".join([
        f"Current stage: {key.stage} ({status}) of {whose}",
        f"Checkpoint: {printable(path)}",
        f"Next: {next_action(key.stage, status)}",
        f"  Resume: {made.resume}",
        f"  Roll back: {made.rollback}",
        f"  Roll back to {cp.BEFORE}: {to_the_start(key, root)}",
        "A rollback first keeps what was not committed or merged, and names where.",
    ])  # fmt: skip

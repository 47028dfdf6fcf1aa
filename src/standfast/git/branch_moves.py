"""Who moved a branch, as the logs of git tell it: each worktree has one of its own HEAD.

What somebody does in a checkout of the branch is in the log of the branch and in that checkout's.
A command that moves a branch from elsewhere leaves no such pair. An agent can write a log as it can
write anything: who is seen here did what people do with git, and no more is known of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.git import worktree_state

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from standfast.git.command import Git

_LIMIT = 16 << 20
_FETCHED = "fetch "
# What takes a HEAD to a branch as it is found, and our own: the journal knows those.
_NO_MOVES = ("checkout: ", "standfast: ")


class Move(NamedTuple):
    """One line of a log."""

    old: str
    new: str
    words: str


def logged(file: Path) -> list[Move]:
    """What a log tells, oldest first; nothing where there is none, or it cannot be read."""
    try:
        text = disk.read_regular(str(file), limit=_LIMIT).decode("utf-8", "replace")
    except (OSError, StandfastError):
        return []
    return list(read(text))


def read(text: str) -> Iterator[Move]:
    """Take a log of git apart."""
    for line in text.splitlines():
        ids, _, words = line.partition("\t")
        both = ids.split(" ")[:2]
        if len(both) == 2:  # noqa: PLR2004  # from where, to where
            yield Move(both[0], both[1], words)


def leads_from(
    git: Git, branch: str, at: str, known: Collection[str], but: Collection[str]
) -> bool:
    """Whether a branch came from a commit that is *known* to where it is in somebody's checkout.

    *but*: worktrees that do not count.
    """
    moves = logged(git.common_directory() / "logs" / "refs" / "heads" / branch)
    seen_in = _seen(git, but)
    waiting, seen = [at], set[str]()
    while waiting:
        commit = waiting.pop()
        if commit in known:
            return True
        if commit in seen:
            continue
        seen.add(commit)
        came = [move for move in moves if move.new == commit]
        if commit in seen_in or _is_fetched(git, came):
            waiting += [move.old for move in came]
    return False


def _seen(git: Git, but: Collection[str]) -> set[str]:
    """The commits to which people took what they have checked out."""
    common = git.common_directory()
    homes = [
        each for each in worktree_state.folders(common) if worktree_state.way_back(each) not in but
    ]
    logs = [logged(home / "logs" / "HEAD") for home in (common, *homes)]
    return {
        move.new
        for log in logs
        for move in log
        if move.words and not move.words.startswith(_NO_MOVES)
    }


def _is_fetched(git: Git, came: list[Move]) -> bool:
    """Whether it was fetched, and is a remote's by what is known of that."""
    if not any(move.words.startswith(_FETCHED) for move in came):
        return False
    asked = ("--count=1", f"--contains={came[0].new}", "--format=%(refname)", "refs/remotes")
    return bool(git.read("for-each-ref", *asked))

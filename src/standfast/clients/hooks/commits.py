"""Which commits a session made, and which of them are no longer there. Pure.

An amended commit takes the place of the one before it, a rebased one of the one with its
subject; a reset takes away what came after its target. Hook path.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.clients.hooks.checkout import Move

    Told = tuple[str, str, str]  # a commit, the one before it, its subject

VERBS = ("commit", "merge", "cherry-pick", "revert", "rebase", "reset", "pull", "am ")
_MAKES_A_COMMIT = ("commit", "merge", "cherry-pick", "revert", "am", "pull", "rebase")
_ONLY_MOVES = ("(start)", "(finish)", "(abort)")


class Seen:
    """A commit that was made, and those that it replaces."""

    __slots__ = ("commit", "parent", "replaces", "subject")

    def __init__(self, commit: str, parent: str, subject: str, replaces: list[str]) -> None:
        self.commit = commit
        self.parent = parent
        self.subject = subject
        self.replaces = replaces


def read(moves: Iterable[Move], told: list[Told]) -> tuple[list[Seen], list[str]]:
    """What moves of HEAD mean beside what was *told*, newest first: commits made, commits gone."""
    made: list[Seen] = []
    gone: list[str] = []
    standing = list(told)
    for move in moves:
        if move.action == "reset":
            lost = _undone(standing, move.new)
            gone += lost
            standing = [each for each in standing if each[0] not in lost]
        elif _makes_a_commit(move) and not _is_known(standing, move.new):
            seen = _seen(move, standing)
            made.append(seen)
            standing = [each for each in standing if each[0] not in seen.replaces]
            standing.insert(0, (seen.commit, seen.parent, seen.subject))
    return made, gone


def _makes_a_commit(move: Move) -> bool:
    return (
        move.action.startswith(_MAKES_A_COMMIT)
        and not move.action.endswith(_ONLY_MOVES)
        and move.subject != "Fast-forward"  # somebody else's commits
    )


def _is_known(standing: list[Told], commit: str) -> bool:
    return any(commit == each[0] for each in standing)


def _seen(move: Move, standing: list[Told]) -> Seen:
    if "(amend)" in move.action:
        parent = next((before for commit, before, _ in standing if commit == move.old), move.old)
        return Seen(move.new, parent, move.subject, [move.old])
    rebased = "rebase" in move.action
    replaces = [commit for commit, _, words in standing if rebased and words == move.subject]
    return Seen(move.new, move.old, move.subject, replaces)


def _undone(standing: list[Told], target: str) -> list[str]:
    """The told commits after *target*; none if it is no place on their way."""
    lost: list[str] = []
    for commit, parent, _ in standing:
        if commit == target:
            return lost
        lost.append(commit)
        if parent == target:
            return lost
    return []

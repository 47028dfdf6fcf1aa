"""Whose words stand in a file that anybody may write: the user's, an agent's, the repository's.

The user's are words in no commit, or in one that HEAD of this checkout first came to by a commit
that was made here, if no agent was seen writing the file. All else is the repository's, and so is
every doubt: it costs the user one confirmation, and the other mistake binds an agent to a stranger.
Pure.
"""

from __future__ import annotations

USER, REPOSITORY = "user", "repository"

# How HEAD's log calls commits that were made here. One that continues a cherry-pick or a rebase
# has other names, and what a merge brings is in the commits that it brings.
_MADE_HERE = frozenset({"commit", "commit (initial)", "commit (amend)", "commit (merge)"})

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Change = tuple[str, Sequence[str], str]  # a commit, the file before it and in it, as blobs


class Known:
    """What is known of a checkout and of who wrote a file in it since it was last known."""

    __slots__ = ("is_doubtful", "is_shallow", "made_by", "moves", "wrote")

    def __init__(
        self,
        *,
        moves: Sequence[tuple[str, str]] = (),
        made_by: Mapping[str, str] | None = None,
        wrote: str | None = None,
        is_doubtful: bool = False,
        is_shallow: bool = False,
    ) -> None:
        self.moves = moves  # commits that HEAD came to, and how, the oldest first
        self.made_by = made_by or {}  # commits that agents were seen making
        self.wrote = wrote  # the agent that was seen writing the file
        self.is_doubtful = is_doubtful  # a command of an agent ran when it was written
        self.is_shallow = is_shallow  # history is cut off


def moves(log: str) -> list[tuple[str, str]]:
    """HEAD's log: `old new name <mail> time zone<TAB>action: subject`, one a line."""
    found = []
    for line in log.split("\n"):
        moved, tab, told = line.partition("\t")
        new = moved.partition(" ")[2].partition(" ")[0]
        if tab and new:
            found.append((new, told.partition(": ")[0]))
    return found


def brought(
    words: str, changes: Iterable[Change], holds: Mapping[str, frozenset[str] | None]
) -> set[str]:
    """The commits that brought these words: there they stand, and in no parent they do.

    *holds* says what each blob holds; one that nobody can read may hold anything.
    """

    def has(blob: str) -> bool:
        held = holds.get(blob)
        return held is None or words in held

    return {
        commit
        for commit, before, after in changes
        if has(after) and not any(has(blob) for blob in before)
    }


def made_here(commits: set[str], known: Known) -> set[str]:
    """Those of them to which HEAD first came by a commit that somebody made here."""
    if known.is_shallow:
        return set()
    first = dict(reversed(known.moves))
    return {each for each in commits if first.get(each) in _MADE_HERE}


def author(commits: set[str] | None, known: Known) -> str:
    """Whose words these are that *commits* brought; None where that cannot be told."""
    if commits is None or (commits and not _are_ours(commits, known)):
        return REPOSITORY
    made_by = {known.made_by[commit] for commit in commits if commit in known.made_by}
    if known.wrote is not None or made_by:
        return known.wrote if known.wrote is not None else min(made_by)
    return REPOSITORY if known.is_doubtful else USER


def _are_ours(commits: set[str], known: Known) -> bool:
    """Whether HEAD came to all of them, and first to one that was made here.

    What came later with the same words is a copy: a rebased commit, one that was amended.
    """
    came = {commit: place for place, (commit, _) in reversed(list(enumerate(known.moves)))}
    if known.is_shallow or not commits <= came.keys():
        return False
    first = min(came[commit] for commit in commits)
    return known.moves[first][1] in _MADE_HERE

"""Which of git's own folders belongs to a worktree that is to be made, and whether it is whole.

After a power cut the small files in it may all be empty, the mark of ours too; then the branch
tells whose it is.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.lanes import InTheWay, LaneBusy
from standfast.git import worktree_state
from standfast.processes import programs

if TYPE_CHECKING:
    from standfast.git.command import Git

WHOLE = "standfast"  # what becomes of the mark
_GITS_OWN = "initializing"


class Place(NamedTuple):
    """Where a worktree is to be, and where git keeps what is its own."""

    git: Git
    common: Path
    path: str
    branch: str

    @property
    def mark(self) -> str:
        """What its lock says until it is whole."""
        return f"standfast makes it: {self.path}"

    @property
    def ref_lock(self) -> Path:
        """What git makes while it makes or moves the branch."""
        return self.common / "refs" / "heads" / f"{self.branch}.lock"

    @property
    def link(self) -> Path:
        """The file at the top of the worktree that leads to git's own folder."""
        return Path(self.path, ".git")


def look(place: Place) -> Path | None:
    """Git's folder; if it was only begun, or its files are gone, then nobody is at it any more."""
    own = own_folder(place)
    if own is None and not os.path.lexists(place.ref_lock):
        return None
    if own is None or _is_begun(place, own) or not os.path.lexists(place.link):
        return wait(place)
    return own


def wait(place: Place) -> Path | None:
    """The git of a caller that died may still be at it; what one left that died too is swept."""
    at_it = worktree_state.gone(lambda: programs.called_with(place.mark))
    if at_it:
        raise LaneBusy(f"process {at_it[0]} makes the worktree", file=place.path)
    own = own_folder(place)
    locks = [] if own is None else [*own.glob("*.lock")]
    busy = worktree_state.clear((*locks, place.ref_lock))
    if busy is not None:
        raise LaneBusy(busy, file=place.path)
    return own


def own_folder(place: Place) -> Path | None:
    """The folder in which git keeps what belongs to this worktree alone, whole or not."""
    found = [each for each in worktree_state.folders(place.common) if _is_own(place, each)]
    return found[0] if found else None


def _is_own(place: Place, own: Path) -> bool:
    if worktree_state.read_line(own / "locked") == place.mark:
        return True
    back = worktree_state.way_back(own)
    if back is not None:
        return back == place.path
    head = worktree_state.read_line(own / "HEAD")
    if head == f"ref: refs/heads/{place.branch}":
        return True
    # Nothing is left of what git wrote but names: the link at the path must be as empty.
    is_named = own.name.rstrip("0123456789") == Path(place.path).name.rstrip("0123456789")
    return (
        is_named
        and not head
        and not worktree_state.read_line(own / "locked")
        and worktree_state.read_line(place.link) == ""
    )


def is_whole(place: Place, own: Path) -> bool:
    """Whether it was finished; what was finished and is gone, or is another's, is refused."""
    if _is_begun(place, own):
        return False
    head = worktree_state.read_line(own / "HEAD")
    if head != f"ref: refs/heads/{place.branch}":
        raise InTheWay(f"a worktree is there, but {place.branch} is not in it", file=place.path)
    if os.path.lexists(place.link):
        if not worktree_state.leads_to(place.link, own):
            raise InTheWay("a worktree was there, and something else is now", file=place.path)
        return True
    _refuse_lost(place, own)
    return False


def _is_begun(place: Place, own: Path) -> bool:
    """An empty lock is a person's who gave no reason, or all that a power cut left of our mark."""
    lock = worktree_state.read_line(own / "locked")
    if lock == "":
        return not os.path.lexists(own / WHOLE)
    return lock in {place.mark, _GITS_OWN} or worktree_state.way_back(own) is None


def _refuse_lost(place: Place, own: Path) -> None:
    """Its folder is gone. It is made again, unless somebody has to say something about that."""
    if os.path.isdir(place.path) and os.listdir(place.path):
        raise InTheWay("a worktree was there, and something else is now", file=place.path)
    if os.path.lexists(own / "locked"):
        raise InTheWay("a worktree was there; it is gone, and somebody locked it", file=place.path)

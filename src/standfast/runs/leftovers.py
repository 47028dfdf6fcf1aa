"""What runs left in git that the journal knows nothing of: refs, branches, worktrees. Only told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import JournalGone, NothingFound, StandfastError
from standfast.git import worktree_state
from standfast.git.command import Git
from standfast.plans import lane_spec
from standfast.runs.records import lane_records

if TYPE_CHECKING:
    from standfast.journal.store import Journal
    from standfast.plans.lane_spec import Spec

_OURS, _BRANCHES = "refs/standfast/", "refs/heads/lane/"


class Leftovers(NamedTuple):
    """By their names."""

    refs: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    worktrees: tuple[str, ...] = ()

    @property
    def words(self) -> list[tuple[str, str]]:
        """What each is, and its name."""
        kinds = (("ref", self.refs), ("branch", self.branches), ("worktree", self.worktrees))
        return [(kind, name) for kind, names in kinds for name in names]


def look(journal: Journal, root: str | None) -> Leftovers:
    """Ask git; where it cannot say, nothing is claimed."""
    if root is None:
        return Leftovers()
    try:
        known = lane_records.every(journal)
    except (NothingFound, JournalGone):
        known = []
    try:
        git = Git(directory=Path(root))
        return unknown(known, _refs(git), [each.path for each in worktree_state.listed(git)[1:]])
    except (StandfastError, OSError):
        return Leftovers()


def _refs(git: Git) -> bytes:
    return git.read("for-each-ref", "--format=%(refname)", _OURS, _BRANCHES)


def unknown(known: list[Spec], said: bytes, worktrees: list[str]) -> Leftovers:
    """Those of ours that none of the lanes explains; git *said* a ref on each line."""
    refs = os.fsdecode(said).split()
    branches = {f"refs/heads/{spec.branch}" for spec in known}
    runs = {spec.run_id for spec in known}
    paths = {os.path.realpath(spec.worktree) for spec in known}
    ours = f"{os.sep}{lane_spec.FOLDER}{os.sep}"
    return Leftovers(
        refs=tuple(
            ref for ref in refs if not ref.startswith(_BRANCHES) and not runs & set(ref.split("/"))
        ),
        branches=tuple(
            ref.removeprefix("refs/heads/")
            for ref in refs
            if ref.startswith(_BRANCHES) and ref not in branches
        ),
        worktrees=tuple(path for path in worktrees if ours in path and path not in paths),
    )

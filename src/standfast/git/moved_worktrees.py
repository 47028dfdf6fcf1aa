"""Worktrees of a repository that was moved: git's links to and fro name the place of before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import disk
from standfast.git import worktree_state
from standfast.journal_id import here

if TYPE_CHECKING:
    from collections.abc import Collection

_MODE = 0o644  # as git makes them
_WORD = "gitdir: "


def mend(common: str, was: Collection[str], *, is_copy: bool) -> None:
    """Have each worktree and git's own folder for it name each other where they are now.

    A link whose target is there leads to somebody's worktree, which may have stayed where it was:
    that of an original is left alone. A crash in between leaves what the next call takes up.
    """
    for own in worktree_state.folders(Path(common)):
        said = worktree_state.read_line(own / "gitdir")
        if not said or not os.path.isabs(said):
            continue
        if os.path.lexists(said):
            if not is_copy and _has_stayed(said, str(own), common, was):
                _point(said, f"{_WORD}{own}\n")
            continue
        link = here(said, was, common)
        if link != said and _is_its(link, str(own), common, was):
            _point(link, f"{_WORD}{own}\n")
            _point(str(own / "gitdir"), f"{link}\n")


def _has_stayed(link: str, own: str, common: str, was: Collection[str]) -> bool:
    """Whether a worktree elsewhere names this folder of git's as it was called before the move."""
    said = (worktree_state.read_line(Path(link)) or "").removeprefix(_WORD)
    return said != own and not os.path.lexists(said) and _is_its(link, own, common, was)


def _is_its(link: str, own: str, common: str, was: Collection[str]) -> bool:
    """Whether a worktree's link led to this folder of git's before the move, or does already."""
    if os.path.realpath(link) != link:
        return False
    said = worktree_state.read_line(Path(link)) or ""
    return said.startswith(_WORD) and here(said.removeprefix(_WORD), was, common) == own


def _point(path: str, line: str) -> None:
    if worktree_state.read_line(Path(path)) != line.removesuffix("\n"):
        disk.replace(path, os.fsencode(line), mode=_MODE)

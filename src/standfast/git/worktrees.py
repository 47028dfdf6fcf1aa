"""The worktrees of a repository: which there are, and whether git is in the middle of something."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.git import Git

_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


class Listed(NamedTuple):
    """A worktree as git knows it; the folder may be gone."""

    path: str
    branch: str | None
    is_main: bool


def listed(git: Git) -> list[Listed]:
    """Every worktree of the repository, the main one first."""
    return list(read_list(os.fsdecode(git.read("worktree", "list", "--porcelain", "-z"))))


def read_list(text: str) -> Iterator[Listed]:
    """Take apart what `git worktree list --porcelain -z` prints."""
    for number, block in enumerate(text.split("\0\0")):
        said = dict(line.partition(" ")[::2] for line in block.split("\0"))
        if "worktree" in said:
            ref = said.get("branch")
            branch = ref.removeprefix("refs/heads/") if ref else None
            yield Listed(os.path.realpath(said["worktree"]), branch, number == 0)


def unfinished(git: Git) -> str | None:
    """What was begun in this worktree and waits for somebody."""
    folder = git.git_directory()
    for name, what in _UNFINISHED.items():
        if os.path.lexists(folder / name):
            return what
    return "a conflict" if git.read("ls-files", "--unmerged") else None


def locks(git: Git, branch: str | None) -> list[str]:
    """Locks of git that are there now, and would stop a reset of this worktree and branch."""
    own, common = git.git_directory(), git.common_directory()
    paths = [own / "index.lock", own / "HEAD.lock"]
    if branch is not None:
        paths.append(common / "refs" / "heads" / f"{branch}.lock")
    return [str(path) for path in paths if os.path.lexists(path)]


def sweep(paths: list[str]) -> None:
    """Take away locks of a git that was killed; the caller knows that nobody has them."""
    for path in paths:
        Path(path).unlink(missing_ok=True)
        disk.sync_folder(str(Path(path).parent))

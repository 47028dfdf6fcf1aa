"""A worktree whose HEAD, branch or index a power cut left empty: put right from a known commit.

Git's defaults sync nothing, and an agent's own git has no others. What it wrote last may be gone;
the files that it left in the worktree stay as they are.
"""

from __future__ import annotations

import os
from pathlib import Path

from standfast import disk
from standfast.errors import GitFailed, StandfastError
from standfast.git import Git, standing


def can_be_read(tree: Git) -> bool:
    """Whether git can say what is checked out there, and what differs from it."""
    try:
        tree.read("ls-files", "-z")
        return tree.head() is not None
    except StandfastError:
        return False


def put_right(git: Git, path: str, branch: str, commit: str) -> None:
    """Have the worktree on its branch again, at *commit* if nothing better can be read."""
    common = git.common_directory()
    own = standing.own_folder(common, os.path.realpath(path))
    if own is None:
        raise GitFailed("git knows nothing of this worktree any more", file=path)
    ref = common / "refs" / "heads" / branch
    standing.clear((own / "index.lock", own / "HEAD.lock", ref.with_name(f"{ref.name}.lock")))
    if standing.read_line(own / "HEAD") != f"ref: refs/heads/{branch}":
        disk.replace(str(own / "HEAD"), f"ref: refs/heads/{branch}\n".encode(), mode=0o644)
    tree = Git(directory=Path(path), program=git.program)
    if not _has_commit(tree):
        ref.parent.mkdir(parents=True, exist_ok=True)
        disk.replace(str(ref), f"{commit}\n".encode(), mode=0o644)
    if not can_be_read(tree):
        disk.forget(str(own / "index"))
        tree.write("reset", "--mixed", "--quiet")
    tree.make_durable()


def _has_commit(tree: Git) -> bool:
    try:
        tree.read("ls-tree", "-r", "-z", "HEAD")
        return tree.head() is not None
    except StandfastError:
        return False

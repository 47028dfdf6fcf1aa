"""A worktree whose HEAD, branch or index a power cut left empty: put right from a known commit.

Git's defaults sync nothing, and an agent's own git has no others. What it wrote last may be gone;
the files that it left in the worktree stay as they are.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import GitFailed, StandfastError
from standfast.git import worktree_state

if TYPE_CHECKING:
    from pathlib import Path

    from standfast.git.command import Git

_CHUNK = 1 << 20


def can_be_read(tree: Git) -> bool:
    """Whether git can say what is checked out there, and what differs from it."""
    asked = b"HEAD^{commit}\n:index\n"  # a name of the index, whichever, has git read it
    try:
        said = tree.read("cat-file", "--batch-check", stdin=asked)
    except StandfastError:
        return False
    return said.split()[1] == b"commit"


def put_right(git: Git, path: str, branch: str, commit: str) -> None:
    """Have the worktree on its branch again, at *commit* if nothing better can be read."""
    common = git.common_directory()
    own = worktree_state.own_folder(common, os.path.realpath(path))
    if own is None:
        raise GitFailed("git knows nothing of this worktree any more", file=path)
    ref = common / "refs" / "heads" / branch
    worktree_state.clear((own / "index.lock", own / "HEAD.lock", ref.with_name(f"{ref.name}.lock")))
    if worktree_state.read_line(own / "HEAD") != f"ref: refs/heads/{branch}":
        disk.replace(str(own / "HEAD"), f"ref: refs/heads/{branch}\n".encode(), mode=0o644)
    tree = git.at(path)
    if not _has_commit(tree):
        ref.parent.mkdir(parents=True, exist_ok=True)
        disk.replace(str(ref), f"{commit}\n".encode(), mode=0o644)
    if not can_be_read(tree) or _lacks_objects(tree):
        disk.forget(str(own / "index"))
        tree.write("reset", "--mixed", "--quiet")
    tree.make_durable()


def _lacks_objects(tree: Git) -> bool:
    """Whether something is staged that is not there any more."""
    try:
        tree.read("diff-index", "--cached", "-p", "HEAD")
    except StandfastError:
        return True
    return False


def put_aside(git: Git, aside: str) -> list[str]:
    """Take objects away that are damaged: git would never write them again while they are there.

    What is wrong with them is kept *aside*.
    """
    home = git.common_directory() / "objects"
    algorithm = git.object_format()
    found = [
        path
        for path in home.glob("[0-9a-f][0-9a-f]/*")
        if not path.name.startswith("tmp_") and not _is_whole(path, algorithm)
    ]
    for path in found:
        disk.make_folder(aside)
        os.rename(path, os.path.join(aside, f"{path.parent.name}{path.name}"))
        disk.sync_folder(str(path.parent))
    return [f"{path.parent.name}{path.name}" for path in found]


def _is_whole(path: Path, algorithm: str) -> bool:
    made, unpack = hashlib.new(algorithm), zlib.decompressobj()
    try:
        with open(disk.open_regular(str(path)), "rb") as file:  # never a pipe: it may be anything
            while chunk := file.read(_CHUNK):
                made.update(unpack.decompress(chunk))
    except FileNotFoundError:
        return True  # somebody packed it meanwhile
    except (OSError, zlib.error):
        return False
    return unpack.eof and made.hexdigest() == f"{path.parent.name}{path.name}"


def _has_commit(tree: Git) -> bool:
    try:
        tree.read("ls-tree", "-r", "-z", "HEAD")
        return tree.head() is not None
    except StandfastError:
        return False

"""Files as a fresh checkout of a commit has them, written where nobody works.

Which bytes git writes is said by attributes, and it reads these in the work tree: there they may be
torn, half written, or another's by now. So git is given a work tree that holds nothing, and finds
the attributes of the commit itself.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from standfast import filesystems, scratch_folder
from standfast.git.git_output import entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from standfast.git.command import Git

ATTRIBUTES = ".gitattributes"


@contextmanager
def checkout(git: Git, commit: str, names: Collection[str]) -> Iterator[str]:
    """A folder with these files of a commit, for a while; a rename reaches the worktree from it."""
    with scratch_folder.folder(_beside(git)) as room:
        tree = os.path.join(room, "tree")
        os.mkdir(tree)
        lines = _listed(git, commit, {*names})
        if lines:
            given = {"GIT_INDEX_FILE": os.path.join(room, "index"), "GIT_WORK_TREE": tree}
            door = git.at(git.directory, **given)
            door.write("read-tree", "--empty")
            door.write("update-index", "-z", "--index-info", stdin=os.fsencode(lines))
            door.write("restore", "--worktree", "--", ".")
        yield tree


def _listed(git: Git, commit: str, names: Collection[str]) -> str:
    """What the index is to hold: these files, and all attributes."""
    rows = entries(git.read("ls-tree", "-r", "-z", "--full-tree", commit)) if names else ()
    wanted = (
        (facts, name)
        for facts, name in rows
        if name in names or os.path.basename(name) == ATTRIBUTES
    )
    return "".join(f"{mode} {blob}\t{name}\0" for (mode, _, blob), name in wanted)


def _beside(git: Git) -> str:
    """In git's own folder where that is the same filesystem, else beside the worktree."""
    home, top = str(git.git_directory()), os.path.realpath(git.directory)
    is_same = filesystems.mount_of(home) == filesystems.mount_of(top)
    return home if is_same else os.path.dirname(top)

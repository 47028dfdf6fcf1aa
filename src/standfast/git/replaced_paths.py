"""Committing paths of which a file became a folder, or a folder became a file.

Git takes a path that is to be committed for what stands there now, and a folder is nothing that it
could commit, nor is what lies behind a link. So such a file is taken out of the index by name; and
because `commit` looks at paths once more, it gets an index of its own, of HEAD and these paths.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.git.command import Git

_STDIN = ("-z", "--stdin")


def record(git: Git, names: Sequence[str], words: Sequence[str]) -> bytes:
    """Stage exactly these paths and commit them; gives what git says of the commit."""
    gone = [name for name in names if _is_gone(git, name)]
    if not gone:
        _stage(git, names, gone)
        only = ("--only", "--pathspec-from-file=-", "--pathspec-file-nul")
        return git.write("commit", *words, *only, stdin=_lines(names))
    with scratch_folder.folder() as folder:
        given = {**git.variables, "GIT_INDEX_FILE": os.path.join(folder, "index")}
        door = git.at(git.directory, **given)
        door.write("read-tree", "HEAD")
        _stage(door, names, gone)
        try:
            return door.write("commit", *words)
        finally:  # also where nothing was left to commit: a death came between that and this
            _stage(git, names, gone)


def _is_gone(git: Git, name: str) -> bool:
    """A file whose place a folder has, or that lay in a folder whose place a link has.

    A folder that is a repository of its own is a submodule.
    """
    above = os.path.dirname(name)
    while above:
        if os.path.islink(os.path.join(git.directory, above)):
            return True
        above = os.path.dirname(above)
    path = os.path.join(git.directory, name)
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    return is_folder and not os.path.lexists(os.path.join(path, ".git"))


def _stage(git: Git, names: Sequence[str], gone: Sequence[str]) -> None:
    if gone:
        git.write("update-index", "--force-remove", *_STDIN, stdin=_lines(gone))
    files = [name for name in names if name not in {*gone}]
    if files:
        git.write("update-index", "--add", "--remove", "--replace", *_STDIN, stdin=_lines(files))


def _lines(names: Sequence[str]) -> bytes:
    return os.fsencode("".join(f"{name}\0" for name in names))

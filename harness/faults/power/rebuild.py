"""Putting a state of the model onto the real disk, rewriting only what is not as it should be.

A copy of the whole world for every state would take longer than recovering from it. Files that
were laid down get a time of modification that nothing else has: who finds another one there knows
that recovery wrote to the file.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.faults.power.disk_model import Tree

_UNTOUCHED_NS = 1_000_000_007  # long ago: every file is at rest, as after a reboot
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700


class Ground:
    """One folder of the real disk, where states are laid down one after the other."""

    def __init__(self, root: str, modes: Mapping[str, int]) -> None:
        self._root = root
        self._modes = modes  # the log knows none: as they were, or private
        self._laid: dict[str, bytes] = {}

    def lay(self, tree: Tree) -> None:
        """Make the folder hold exactly *tree*."""
        present = self._clear("", tree)
        for path, data in sorted(tree.items()):  # a folder comes before what is in it
            if path in present:
                continue
            if data is None:
                os.mkdir(self._at(path))
                os.chmod(self._at(path), self._modes.get(path, _FOLDER_MODE))
            else:
                self._write(path, data)

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _clear(self, folder: str, tree: Tree) -> set[str]:
        """Remove what does not belong; what stays, as it is wanted."""
        present: set[str] = set()
        for entry in os.scandir(self._at(folder)):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if tree.get(path, b"") is None:
                    present |= {path} | self._clear(path, tree)
                else:
                    shutil.rmtree(entry.path)
            elif self._is_right(path, entry, tree):
                present.add(path)
            else:
                os.unlink(entry.path)
        return present

    def _is_right(self, path: str, entry: os.DirEntry[str], tree: Tree) -> bool:
        wanted = tree.get(path)
        if wanted is None or self._laid.get(path) != wanted:
            return False
        facts = entry.stat(follow_symlinks=False)
        return facts.st_mtime_ns == _UNTOUCHED_NS and facts.st_nlink == 1

    def _write(self, path: str, data: bytes) -> None:
        full = self._at(path)
        fd = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fchmod(fd, self._modes.get(path, _FILE_MODE))
            os.utime(fd, ns=(_UNTOUCHED_NS, _UNTOUCHED_NS))
        finally:
            os.close(fd)
        self._laid[path] = data


def modes(root: str) -> dict[str, int]:
    """The mode of everything below a folder."""
    return {
        os.path.relpath(os.path.join(folder, name), root): os.lstat(
            os.path.join(folder, name)
        ).st_mode
        & 0o7777
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
    }

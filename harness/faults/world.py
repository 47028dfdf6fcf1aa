"""Where one trial happens, and a copy of it that is put back as quickly as can be."""

from __future__ import annotations

import os
from typing import NamedTuple


class World(NamedTuple):
    """Where one trial happens; everything below *root* is watched by the shim."""

    root: str
    temporary: str

    @property
    def repo(self) -> str:
        """The work tree."""
        return os.path.join(self.root, "repo")

    @property
    def home(self) -> str:
        """The user's home."""
        return os.path.join(self.root, "home")

    @property
    def folder(self) -> str:
        """The journal's folder."""
        return os.path.join(self.repo, ".git", "standfast")

    def enter(self) -> None:
        """Make this process live here: nothing of the real user's world is seen."""
        foreign = ("XDG_", "CLAUDE", "STANDFAST_", "HIVEMIND_ROLE", "CONFIG_PATH")
        for name in [name for name in os.environ if name.startswith(foreign)]:
            if name != "STANDFAST_SHIM":
                del os.environ[name]
        os.environ |= {"HOME": self.home, "TMPDIR": self.temporary, "CLAUDE_PROJECT_DIR": self.repo}
        os.chdir(self.repo)


def quick_folder() -> str | None:
    """In memory where there is such a place: a million trials need no real syncs."""
    shared = "/dev/shm"  # a folder of our own is made in it
    return shared if os.access(shared, os.W_OK) else None


def at(folder: str) -> World:
    """The world that is, or will be, in *folder*."""
    return World(os.path.join(folder, "world"), os.path.join(folder, "tmp"))


def write(path: str, text: str) -> None:
    """Put a file where a trial finds it."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Snapshot:
    """A folder kept in memory: writing a few files is much quicker than copying a tree."""

    def __init__(self, folder: str) -> None:
        self._folders: list[tuple[str, int]] = []
        self._files: list[tuple[str, int, bytes, int]] = []
        for top, _, names in os.walk(folder):
            self._folders.append((top, os.stat(top).st_mode & 0o777))
            for name in names:
                path = os.path.join(top, name)
                with open(path, "rb") as file:
                    data = file.read()
                # Most of a spool is zeros: a hole will do.
                kept = data.rstrip(b"\0")
                self._files.append((path, os.stat(path).st_mode & 0o777, kept, len(data)))

    def put_back(self) -> None:
        """Everything as it was, in the place where it was."""
        for path, mode in self._folders:
            os.mkdir(path, mode)
        for path, mode, data, size in self._files:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT, mode)
            os.write(fd, data)
            if size != len(data):
                os.truncate(fd, size)
            os.close(fd)

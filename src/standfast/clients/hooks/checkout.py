"""What the files of a checkout tell without starting git: its branch, and how HEAD has moved.

git writes every move of HEAD to a log, with the commit's subject. Commands ask it
too; it lies here because hooks load it with their bundle. Hook path.
"""

from __future__ import annotations

import os

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal import place

_LIMIT = 64 * 1024
_LONGEST_BRANCH = 200
_HEX = frozenset("0123456789abcdef")


class Move:
    """HEAD went from one commit to another: by what, and what the log says of it."""

    __slots__ = ("action", "new", "old", "subject")

    def __init__(self, old: str, new: str, action: str, subject: str) -> None:
        self.old = old
        self.new = new
        self.action = action
        self.subject = subject


class Checkout:
    """One worktree's own git directory."""

    __slots__ = ("folder",)

    def __init__(self, start: str) -> None:
        self.folder = place.git_dir(start)

    @property
    def id(self) -> str:
        """What tells this checkout from every other on this machine."""
        try:
            found = os.stat(self.folder or "")
        except OSError:
            return ""
        return f"{found.st_dev:x}-{found.st_ino:x}"

    def branch(self) -> str | None:
        """The branch that is checked out, or a short commit when none is."""
        head = self._read("HEAD").strip()
        ref = head.removeprefix("ref: refs/heads/")
        if ref != head:
            return ref[:_LONGEST_BRANCH]
        return f"detached at {head[:7]}" if head else None

    def log_size(self) -> int:
        """Where the next line of HEAD's log will begin."""
        try:
            return os.stat(self._path("logs/HEAD")).st_size
        except OSError:
            return 0

    def moves_since(self, size: int) -> list[Move]:
        """How HEAD moved since its log had that size, oldest first."""
        if self.folder is None or self.log_size() <= size:
            return []
        lines = self._read("logs/HEAD", since=size).splitlines()
        return [found for line in lines if (found := _move(line)) is not None]

    def _path(self, name: str) -> str:
        return os.path.join(self.folder or "/nowhere", name)

    def _read(self, name: str, *, since: int = 0) -> str:
        try:
            fd = disk.open_regular(self._path(name))
        except OSError:
            return ""
        try:
            return os.pread(fd, _LIMIT, since).decode("utf-8", "replace")
        except (OSError, StandfastError):
            return ""
        finally:
            os.close(fd)


def _move(line: str) -> Move | None:
    """One line of the log: `old new name <mail> time zone<TAB>action: subject`."""
    moved, tab, told = line.partition("\t")
    old, _, rest = moved.partition(" ")
    new = rest.partition(" ")[0]
    action, _, subject = told.partition(": ")
    if not tab or not new or not (_HEX.issuperset(old) and _HEX.issuperset(new)):
        return None
    return Move(old, new, action, subject)

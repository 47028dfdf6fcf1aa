"""What the files of a checkout tell without starting git: its branch, and new commits.

git writes every move of HEAD to a log, with the commit's subject. A call's commits are the
lines that were added to it between the call's begin and its end. Hook path.
"""

from __future__ import annotations

import os

from standfast import disk
from standfast.errors import StandfastError
from standfast.journal import place

_LIMIT = 64 * 1024
_MAKES_A_COMMIT = ("commit", "merge", "cherry-pick", "revert", "am", "pull", "rebase")
_LONGEST_BRANCH = 200
_HEX = frozenset("0123456789abcdef")


class Checkout:
    """One worktree's own git directory."""

    __slots__ = ("folder",)

    def __init__(self, start: str) -> None:
        self.folder = place.git_dir(start)

    @property
    def name(self) -> str:
        """Which worktree of its repository this is; `.git` for the main one."""
        return os.path.basename(self.folder or "")

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

    def commits_since(self, size: int) -> list[tuple[str, str]]:
        """Commits that the log gained since it had that size: hash and subject, oldest first."""
        if self.folder is None or self.log_size() <= size:
            return []
        lines = self._read("logs/HEAD", since=size).splitlines()
        return [found for line in lines if (found := _commit(line)) is not None]

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


def _commit(line: str) -> tuple[str, str] | None:
    """One line of the log: `old new name <mail> time zone<TAB>action: subject`."""
    moved, tab, told = line.partition("\t")
    hashes = moved.split(" ", 2)
    action, _, subject = told.partition(": ")
    if not tab or len(hashes) < 3 or not action.startswith(_MAKES_A_COMMIT):  # noqa: PLR2004  # as above
        return None
    commit = hashes[1]
    if not set(commit) <= _HEX or "(start)" in action or "(finish)" in action:
        return None
    return commit, subject

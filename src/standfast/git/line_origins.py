"""Which commits brought what a file holds: looked at within a time, for whoever must judge it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, disk
from standfast.errors.base import GitFailed, ProgramTimedOut, StandfastError, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.git.command import Git

MOST = 2_000  # commits of one file: more are not looked at
_LOG_LIMIT = 16 * 1024 * 1024
# What somebody else's commits hang on while they are brought in; no ref names them.
_PASSING = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
    *("REBASE_HEAD", "FETCH_HEAD", "ORIG_HEAD"),
)
# What a stash and our own backups hold was in no commit of anybody's.
_OWN = ("--exclude=refs/stash", "--exclude=refs/standfast/*")
_FIELDS = 5
_LONGEST_HEAD = 200
_BLOB_MODES = ("100644", "100755")


class Change(NamedTuple):
    """A commit that changed a file: its blob in each parent, and then; empty where it was not."""

    commit: str
    before: tuple[str, ...]
    after: str


class Timed:
    """A git whose calls have one time together."""

    def __init__(self, git: Git, seconds: float) -> None:
        self._git = git
        self._until = clock.monotonic_ns() + int(seconds * 1e9)

    @property
    def git(self) -> Git:
        """For the next call, with what is left of the time."""
        return replace(self._git, timeout_s=self.left())

    def left(self) -> float:
        """Seconds; none is an error."""
        left = (self._until - clock.monotonic_ns()) / 1e9
        if left <= 0:
            raise ProgramTimedOut("git took too long to tell who wrote a file")
        return left

    def head_log(self) -> str:
        """HEAD's log of this checkout; empty where none is kept."""
        path = os.path.join(self.git.git_directory(), "logs", "HEAD")
        try:
            return disk.read_regular(path, limit=_LOG_LIMIT).decode("utf-8", "replace")
        except (OSError, StandfastError):
            return ""

    def is_shallow(self) -> bool:
        """Whether history is cut off somewhere."""
        return os.path.lexists(os.path.join(self.git.common_directory(), "shallow"))

    def changes(self, path: str, more: Iterable[str]) -> list[Change]:
        """Every commit of any ref, of *more*, or in passing, that changed a file."""
        folder = self.git.git_directory()
        passing = [name for name in _PASSING if os.path.lexists(os.path.join(folder, name))]
        heads = "".join(f"{each}\n" for each in (*passing, *dict.fromkeys(more)))
        which = (*_OWN, "--all", "--full-history", "--ignore-missing", f"--max-count={MOST + 1}")
        listed = self.git.read("rev-list", *which, "--stdin", "--", path, stdin=heads.encode())
        if listed.count(b"\n") > MOST:
            raise TooLarge(f"more than {MOST:,} commits changed this file", file=path)
        how = ("--stdin", "-m", "--root", "-r", "--raw", "--no-abbrev", "--no-renames")
        told = self.git.read("diff-tree", *how, "--", path, stdin=listed) if listed else b""
        return changes(told.decode("utf-8", "replace"))

    def contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """What each of these blobs holds."""
        names = "".join(f"{blob}\n" for blob in blobs)
        return contents(
            self.git.read("cat-file", "--batch", stdin=names.encode()) if names else b""
        )


def contents(said: bytes) -> dict[str, bytes]:
    """What `cat-file --batch` prints: a line that names and measures each blob, then the blob."""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(said):
        head, line, _ = said[at : at + _LONGEST_HEAD].partition(b"\n")
        name, _, size = head.decode("ascii", "replace").rpartition(" ")
        if not line or not name.endswith(" blob") or not (size.isascii() and size.isdigit()):
            raise GitFailed("git does not say what is in a file that it had")
        begins = at + len(head) + 1
        found[name.removesuffix(" blob")] = said[begins : begins + int(size)]
        at = begins + int(size) + 1
    return found


def changes(told: str) -> list[Change]:
    """One line names a commit, those after it the file's blobs: once for each parent."""
    found: dict[str, Change] = {}
    commit = ""
    for line in told.split("\n"):
        if not line.startswith(":"):
            commit = line.strip() or commit
            continue
        fields = line[1:].partition("\t")[0].split(" ")
        if len(fields) != _FIELDS:
            continue
        before, after = (_blob(mode, name) for mode, name in zip(fields, fields[2:4], strict=False))
        earlier = found.get(commit, Change(commit, (), after))
        found[commit] = earlier._replace(before=(*earlier.before, before))
    return list(found.values())


def _blob(mode: str, name: str) -> str:
    """Empty where there is no file; a link or a submodule is one that cannot be read."""
    if not name.strip("0"):
        return ""
    return name if mode in _BLOB_MODES else f"{mode} {name}"

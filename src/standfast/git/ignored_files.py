"""What git ignores in a worktree, file by file: what each is, so that it is known again.

A file is the one that was seen before if it is the same inode with the same contents' time, and
nothing was done to it since: a time of change cannot be set back. Package managers give one file
many names and change that time by it; as long as there is another name, its contents are safe.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from standfast import disk
from standfast.git.command import names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.git.command import Git

Files = dict[str, list[int]]  # name -> inode, mode, size, time of contents, time of change
_CHANGED = -1


def listed(git: Git) -> Files:
    """Every file that git ignores in a worktree; repositories inside are not entered."""
    parts: list[bytes] = []
    git.stream(parts.append, "ls-files", "--others", "--ignored", "--exclude-standard", "-z")
    top = os.fspath(git.directory)
    found = ((name, look(os.path.join(top, name))) for name in names(b"".join(parts)))
    return {name: facts for name, facts in found if facts is not None}


def look(path: str) -> list[int] | None:
    """What a file or link is now; None where there is none, or something else."""
    try:
        facts = os.lstat(path)
    except OSError:
        return None
    if not (stat.S_ISREG(facts.st_mode) or stat.S_ISLNK(facts.st_mode)):
        return None
    return [facts.st_ino, facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]


def is_still(path: str, seen: Sequence[int]) -> bool:
    """Whether a file is the one that was seen, untouched."""
    now = look(path)
    if now is None or not _is_same(now, seen):
        return False
    return now[_CHANGED] == seen[_CHANGED] or os.lstat(path).st_nlink > 1


def _is_same(now: Sequence[int], seen: Sequence[int]) -> bool:
    return list(now[:_CHANGED]) == list(seen[:_CHANGED])


def take(top: str, name: str, seen: Sequence[int]) -> None:
    """Remove a file that was found untouched a moment ago.

    Its time of change is not asked for again: removing another of its names has changed that.
    """
    path = os.path.join(top, name)
    now = look(path)
    if now is not None and _is_same(now, seen):
        try:
            os.unlink(path)
        except OSError as error:
            raise disk.disk_error(error, path, "remove") from error


def added(before: Mapping[str, list[int]], after: Files) -> Files:
    """What is there now and was not there before, as it is."""
    return {name: facts for name, facts in after.items() if before.get(name) != facts}

"""Files of ours that stand in somebody's work tree, kept out of what git shows as new.

Only `.git/info/exclude` of the repository is written: it belongs to this clone, and nobody commits
it. A line names one file or folder of ours, never a folder that others use too.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from standfast import disk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from standfast.git.command import Git

_OURS = re.compile(rb"^/(\.worktrees/|\.claude/(?:[\w.-]+/)*run-logs/[\w.-]+)\n", re.MULTILINE)
_SPECIAL = re.compile(r"([\\*?\[\]!# ])")


def exclude_new(git: Git, names: Sequence[str]) -> None:
    """Files that are about to be made, by their paths from the root; not those that git tracks."""
    tracked = git.read("ls-files", "-z", "--", *names)
    known = set(tracked.split(b"\0"))
    new = [name for name in names if os.fsencode(name) not in known]
    exclude(git.common_directory(), *(f"/{_escaped(name)}" for name in new))


def _escaped(name: str) -> str:
    return _SPECIAL.sub(r"\\\1", name)


def without_ours(data: bytes) -> bytes:
    """The rest of the file: a run that begins beside another changes nothing of that one's."""
    return _OURS.sub(b"", data)


def exclude(common: Path, *patterns: str) -> None:
    """Add the patterns that are not there yet."""
    file = common / "info" / "exclude"
    with _alone(str(file.parent)):
        try:
            there = disk.read_regular(str(file))
        except FileNotFoundError:
            there = b""
        known = set(there.split(b"\n"))
        new = [each for each in map(os.fsencode, patterns) if each not in known]
        if not new:
            return
        gap = b"" if not there or there.endswith(b"\n") else b"\n"
        disk.replace(str(file), there + gap + b"\n".join(new) + b"\n", mode=0o644)


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Lanes begin at the same time, and none may lose another's line."""
    import fcntl

    disk.make_folder(folder)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)

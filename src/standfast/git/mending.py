"""Mending a worktree after a power cut: files that its checkout wrote and that did not last.

The files of a checkout are not synced one by one: they can all be written again. What an agent
wrote cannot. A file and its times tell the two apart: what was last touched before the checkout
ended was written by it, or is missing because it was. A time of change cannot be set back. Files
get the time of the last tick of the clock: an agent has to begin a tick (10 ms) after that end.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.errors import GitFailed
from standfast.git import contents

if TYPE_CHECKING:
    from standfast.git import Git


def mend(git: Git, before_ns: int) -> list[str]:
    """Write again what the checkout, done at *before_ns*, had written; gives the names."""
    top = os.path.realpath(git.directory)
    if str(git.toplevel()) != top:
        raise GitFailed("it is not the top of a worktree", file=top)
    broken = contents.differing(git)
    missing = {name for name, how in broken.items() if how == "D"}
    left_out = contents.skipped(git) if missing else set()
    names = [
        name for name in broken if name not in left_out and _is_of_checkout(top, name, before_ns)
    ]
    contents.restore(git, names, "HEAD")
    contents.sync_files(top, names)
    return names


def _is_of_checkout(top: str, name: str, before_ns: int) -> bool:
    """Nobody touched the file since, or the folder that it is missing from; submodules stay."""
    path = os.path.join(top, name)
    if os.path.isdir(path) and not os.path.islink(path):
        return False
    while not os.path.lexists(path) and path != top:
        path = os.path.dirname(path)
    facts = os.lstat(path)
    return max(facts.st_mtime_ns, facts.st_ctime_ns) <= before_ns

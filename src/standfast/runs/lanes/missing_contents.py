"""What a lane's worktree lacks that the main checkout may have: submodules, and filtered contents.

Git fetches no submodule into a worktree, and a filter is a command that a repository names: ours
runs none. Whoever needs them says in the plan how they are made.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.git.changes import filtered
from standfast.git.command import entries
from standfast.git.snapshot import SUBMODULE
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.git.command import Git

_WAY_ON = (
    "where a lane needs them, `setup:` in the plan makes them (such as `git submodule update"
    " --init` or `git lfs pull`), and `copy:` takes ignored files along"
)
_SHOWN = 60


def look(tree: Git) -> str | None:
    """One line on it; None where nothing is lacking."""
    rows = [(facts[0], name) for facts, name in entries(tree.read("ls-files", "-z", "--stage"))]
    submodules = [name for mode, name in rows if mode == SUBMODULE]
    names = [name for mode, name in rows if mode != SUBMODULE]
    raw = filtered(tree, names) if _may_filter(tree, names) else []
    told = [_told("submodule", submodules, "is empty"), _told("file", raw, "was not filtered")]
    found = "; ".join(filter(None, told))
    return f"{found}: {_WAY_ON}" if found else None


def _may_filter(tree: Git, names: Sequence[str]) -> bool:
    """Without a file of attributes there is no filter, and nobody has to be asked."""
    if any(os.path.basename(name) == ".gitattributes" for name in names):
        return True
    return (tree.common_directory() / "info" / "attributes").exists()


def _told(what: str, names: Sequence[str], lacks: str) -> str:
    if not names:
        return ""
    more = f" (and {len(names) - 1} more)" if names[1:] else ""
    return f"{what} `{one_line(names[0], _SHOWN)}`{more} {lacks}"

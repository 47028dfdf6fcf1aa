"""What looked torn in a worktree before a command began there: no power cut under it did that.

A setup, an earlier run or a person may have emptied a file and meant it. Written down durably,
beside the attempt, before it begins; where somebody says how it ended, what stands then is too.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.git import torn_files
from standfast.git.torn_files import Torn

if TYPE_CHECKING:
    from standfast.effects.effect_folder import Folder
    from standfast.git.command import Git

_NOTED = "torn-before.json"
_LIMIT = 1 << 28


def note(tree: Git, attempt: Folder) -> None:
    """Write down what looks torn now; a worktree that cannot be looked at stops nobody here."""
    try:
        found = torn_files.looks_torn(tree)
    except (OSError, StandfastError):
        return
    if any(found) or os.path.lexists(attempt.at(_NOTED)):
        disk.replace(attempt.at(_NOTED), json.dumps(found).encode())


def read(attempt: Folder) -> Torn:
    """What looked torn before; nothing where nobody wrote that down."""
    try:
        return Torn(*json.loads(disk.read_regular(attempt.at(_NOTED), limit=_LIMIT)))
    except (OSError, StandfastError, ValueError, TypeError):
        return Torn([], [])

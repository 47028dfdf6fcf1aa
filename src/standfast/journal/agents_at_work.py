"""Whether anything that we run for agents was at work at a moment: effects, and a stage's agents.

Looked at: what the journal says of their beginnings and ends, and the locks that they hold. What
was begun and left no word of its end may have lived until now, unless the machine came up since.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal import locks
from standfast.processes import programs

if TYPE_CHECKING:
    from standfast.journal.store import Journal

EFFECTS, LAUNCHES = "effects", "launches"
SUP, TREE, STARTED, EXIT = "sup", "tree", "started", "exit.json"

_EFFECTS = """
    SELECT began.payload ->> 'key', ifnull(over.at, settled.at) FROM events AS began
    LEFT JOIN cells AS over ON over.key = 'effect.ended:' || (began.payload ->> 'key')
    LEFT JOIN cells AS settled ON settled.key = 'effect.settled:' || (began.payload ->> 'key')
    WHERE began.kind = 'effect.intended' AND began.at <= ?1
      AND ifnull(ifnull(over.at, settled.at), ?2) >= ?2"""

_LAUNCHES = """
    SELECT began.payload ->> 'path', (SELECT min(over.at) FROM events AS over
      WHERE over.kind = 'output.ended' AND over.seq > began.seq
        AND over.payload ->> 'path' = began.payload ->> 'path') AS ended
    FROM events AS began
    WHERE began.kind = 'output.launched' AND began.at <= ?1 AND ifnull(ended, ?2) >= ?2"""


def name_of(text: str) -> str:
    """What stands for a key or a path in the name of a file."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:32]


def was(journal: Journal, first_us: int, last_us: int) -> bool:
    """Whether anything of ours was at work between these moments."""
    if not journal.exists:
        return False
    moments = (last_us, first_us)
    return any(
        ended is not None or _may_have(journal.folder, str(key), first_us)
        for key, ended in journal.query(_EFFECTS, moments)
    ) or any(
        ended is not None or _is_held(journal.folder, LAUNCHES, f"{name_of(str(path))}.lock")
        for path, ended in journal.query(_LAUNCHES, moments)
    )


def _may_have(journal: str, key: str, since_us: int) -> bool:
    """Whether an effect of which no end is recorded yet may have been at work at a moment."""
    folder = os.path.join(journal, EFFECTS, name_of(key))
    if _is_held(folder, SUP) or _is_held(folder, TREE):
        return True
    try:
        return os.stat(os.path.join(folder, EXIT)).st_mtime_ns // 1000 >= since_us
    except OSError:
        return _is_of_this_boot(os.path.join(folder, STARTED))


def _is_held(*path: str) -> bool:
    try:
        return locks.is_held(os.path.join(*path))
    except (OSError, StandfastError):
        return False


def _is_of_this_boot(started: str) -> bool:
    """Whether it was begun, and the machine did not come up since; so it may be, where unknown."""
    try:
        said = disk.read_regular(started).decode("ascii", "replace").partition("\n")[0]
    except (OSError, StandfastError):
        return False  # it never began
    try:
        began, me = programs.Identity.from_text(said), programs.identify()
    except ValueError:
        return True
    return me is None or began.boot == me.boot

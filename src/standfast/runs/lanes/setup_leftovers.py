"""What preparing a worktree left in it that git ignores: known again when the worktree is to go.

Ignored files keep a worktree, for they may be somebody's work. Those that `copy` and `setup` made
are nobody's: before and after them it is written down which there are. A file that came in between
and is untouched since may go; one that an agent, the tests or a person made or changed stays, and
the worktree with it. Where these lists are lost, everything stays.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.git import ignored_files
from standfast.runs.lanes.lane_context import recording, step
from standfast.runs.records import lane_records as told
from standfast.runs.rules.lane_steps import BEGUN, SETUP

if TYPE_CHECKING:
    from standfast.git.ignored_files import Files
    from standfast.runs.lanes.lane_context import Work

_MADE = "prepared.json"
_LIMIT = 1 << 30


def begin(work: Work, before: Files) -> int:
    """Begin to prepare the worktree once more; *before* is what git ignores in it by now."""
    number = told.last_number(work.journal, work.spec, SETUP) + 1
    _write(work, f"{SETUP}-{number}.json", before)
    with recording(work) as tx:
        step(work, tx, SETUP, number, BEGUN)
    return number


def settle(work: Work, number: int) -> None:
    """It was prepared, or that failed: what came is added to what came before and is untouched."""
    before = _read(work, f"{SETUP}-{number}.json")
    if before is None:
        return
    now = ignored_files.listed(work.tree)
    earlier = {name: facts for name, facts in made(work).items() if now.get(name) == facts}
    _write(work, _MADE, {**earlier, **ignored_files.added(before, now)})
    disk.forget(_path(work, f"{SETUP}-{number}.json"))


def made(work: Work) -> Files:
    """The ignored files of the worktree that nobody but us has made."""
    return _read(work, _MADE) or {}


def _path(work: Work, name: str) -> str:
    return os.path.join(work.own_folder(), name)


def _write(work: Work, name: str, files: Files) -> None:
    disk.make_folder(work.own_folder())
    disk.replace(_path(work, name), json.dumps(files).encode())


def _read(work: Work, name: str) -> Files | None:
    try:
        found: Files = json.loads(disk.read_regular(_path(work, name), limit=_LIMIT))
    except (OSError, ValueError, StandfastError):
        return None
    return found

"""Files that a power cut tore under a command whose end nobody saw: kept, put back, and told of.

Once for each such attempt: the names stand beside it before anything is put back, so that whoever
comes after a death goes on with them, and whoever works there next is told each one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, scratch_folder
from standfast.effects import settlement
from standfast.effects.effect_folder import Folder
from standfast.effects.rules import attempt_of
from standfast.errors.base import StandfastError
from standfast.git import snapshot, torn_files
from standfast.runs.lanes import files_before
from standfast.runs.lanes.branch_reset import keep
from standfast.runs.lanes.lane_context import log
from standfast.text import a_few, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from standfast.git.snapshot import Files
    from standfast.runs.lanes.lane_context import Work

_RULES, _TORN, _RESTORED = "torn-rules.json", "torn.json", "restored.json"
_SHOWN = "restored-shown"
_LIMIT = 1 << 28


class Told(NamedTuple):
    """What was put back, where what was there before is kept, and new files that hold nothing.

    What else is not as it was committed is left as it is: nobody can say whether it is whole.
    """

    ref: str
    restored: list[str]
    blank: list[str]
    unsure: Sequence[str] = ()


def restore(work: Work, dead: Folder) -> None:
    """See to the files of an attempt that was begun before the machine came up, once."""
    if os.path.lexists(dead.at(_RESTORED)):
        return  # what is there now is somebody's
    told = _read(dead.at(_TORN)) or _look(work, dead)
    torn_files.put_back(work.tree, told.restored)
    os.rename(dead.at(_TORN), dead.at(_RESTORED))
    disk.sync_folder(dead.path)
    for name in told.restored:
        notes = f"{printable(name)} was torn by a power cut: as committed again; kept: {told.ref}"
        log(work, "worktree_recovery", notes=notes)
    if told.unsure or told.blank:
        log(work, "worktree_recovery", notes=unsure_said(told))


def unsure_said(told: Told) -> str:
    """For a person: what they have to look at."""
    names = a_few([*told.blank, *told.unsure])
    return f"the power failed, and these may be half written: {names}"


def first_look(dead: Folder) -> Told | None:
    """What a person who answers for an attempt has to know, and has not been shown yet."""
    found = _read(dead.at(_RESTORED))
    if found is None or not any(found[1:]) or os.path.lexists(dead.at(_SHOWN)):
        return None
    disk.replace(dead.at(_SHOWN), b"")
    return found


def _look(work: Work, dead: Folder) -> Told:
    was = files_before.read(dead)
    rules = _rules(work, dead, was.tracked)
    found = torn_files.torn(work.tree)
    spared = {*was.tracked, *work.spare}
    tracked = [*rules, *(name for name in found.tracked if name not in spared)]
    words = f"What a power cut left in the worktree of {'/'.join(work.spec.names)}"
    new = [name for name in found.new if name not in was.new]
    unsure = [name for name in found.changed if name not in {*tracked, *new, *work.spare}]
    told = Told(keep(work, words, rules) if tracked else "", tracked, new, unsure)
    disk.replace(dead.at(_TORN), json.dumps(told).encode())
    return told


def _rules(work: Work, dead: Folder, spared: Collection[str]) -> Files:
    """What is torn of attributes and of what git ignores is put back before all else is looked at.

    By torn ones a file would pass for another, and what nobody may see would be kept. What stood
    there is written down before, for whoever comes after a death.
    """
    known = _read_files(dead.at(_RULES))
    if known is None:
        with scratch_folder.folder() as folder:
            names = [name for name in torn_files.torn_rules(work.tree) if name not in spared]
            known = snapshot.hashed(work.tree, names, Path(folder))
        disk.replace(dead.at(_RULES), json.dumps(known).encode())
    torn_files.put_back(work.tree, known)
    return known


def _read_files(path: str) -> Files | None:
    try:
        found = json.loads(disk.read_regular(path, limit=_LIMIT))
        return {name: (mode, blob) for name, (mode, blob) in found.items()}
    except (OSError, StandfastError, ValueError, TypeError):
        return None


def told(work: Work, name: str) -> list[Told]:
    """What whoever works on this run of a step has to know."""
    attempts = range(1, settlement.last_attempt(work.journal, name) + 1)
    folders = [Folder(work.journal.folder, attempt_of(name, each)) for each in attempts]
    found = [_read(folder.at(_RESTORED)) for folder in folders]
    return [each for each in found if each is not None and any(each[1:])]


def _read(path: str) -> Told | None:
    try:
        return Told(*json.loads(disk.read_regular(path, limit=_LIMIT)))
    except (OSError, StandfastError, ValueError, TypeError):
        return None

"""Which files show the journal, and whether a lane's branch was looked at for them already."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.git import replay
from standfast.journal import id_file
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.rules.lane_steps import FACES, REBASE, TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing

_LONGEST_REF, _LONGEST_COMMIT = 4096, 1 << 20
_DOCUMENTS = """
    SELECT DISTINCT ifnull(value ->> 'file', substr(key, 12)) FROM cells
    WHERE key >= 'resumption:' AND key < 'resumption;'"""
_FACES = "SELECT face FROM faces WHERE face LIKE 'tree/%' OR face LIKE 'states/%'"


def paths(work: Work) -> frozenset[str]:
    """The files of this repository that show the journal, relative: by journal and settings."""
    found = {*work.spare, *(str(row[0]) for row in work.journal.query(_DOCUMENTS))}
    found |= {*_shown(work)}
    return frozenset(filter(None, found))


def _shown(work: Work) -> Iterator[str]:
    """Status files as they were ever called, and states of roles that are kept in the work tree."""
    for (name,) in work.journal.query(_FACES):
        kind, _, rest = str(name).partition("/")
        if kind == "tree":
            yield rest
            continue
        _, _, folder = rest.partition(" in ")
        top, here = os.path.realpath(work.root), id_file.here(work.journal, folder)
        if here.startswith(top + os.sep):
            yield from _states(os.path.relpath(here, top), rest.partition(" in ")[0])


def _states(folder: str, role: str) -> Iterator[str]:
    from standfast.protocols.context.files.states_env import relative
    from standfast.protocols.context.rules.lifecycle import machine_name

    yield os.path.normpath(os.path.join(folder, relative(machine_name(role))))


def among(work: Work, names: list[str]) -> list[str]:
    """Those of these names that are such files, or are in a folder that took the place of one."""
    ours = paths(work)
    gone = tuple(f"{name}/" for name in names if name in ours)
    return [name for name in names if name in ours or name.startswith(gone)]


def looked_at(work: Work) -> str:
    """The commit of the branch if a look had it already, else nothing; asked without git."""
    name = work.git.common_directory() / "refs" / "heads" / work.spec.branch
    try:
        said = disk.read_regular(str(name), limit=_LONGEST_REF).decode("ascii").strip()
    except (OSError, StandfastError, ValueError):
        return ""
    return said if said in _looked_at(work.standing()) else ""


def is_next(work: Work, head: str, before: str) -> bool:
    """Whether nothing came between a commit that a look had and our own; asked without git.

    Something that an agent left running may commit at any time.
    """
    if not before or head == before:
        return bool(before)
    file = work.git.common_directory() / "objects" / head[:2] / head[2:]
    try:
        packed = disk.read_regular(str(file), limit=_LONGEST_COMMIT)
        found = zlib.decompressobj().decompress(packed, _LONGEST_COMMIT)
        return replay.read_commit(found.partition(b"\0")[2]).parents == (before,)
    except (OSError, StandfastError, zlib.error):
        return False  # it is in a pack: git is asked


def _looked_at(lane: Standing) -> set[str]:
    steps = [lane.steps.get(name) for name in (TESTS, *(task.step for task in lane.spec.tasks))]
    found = {step.facts.get("head", "") for step in steps if step is not None}
    found |= {lane.steps[name].facts.get("to", "") for name in (REBASE, FACES)
              if name in lane.steps}  # fmt: skip
    return found | {first(lane)}


def first(lane: Standing) -> str:
    """The commit that the lane began with."""
    return str(lane.marks[cp.BEFORE].record.get("base_sha") or "")

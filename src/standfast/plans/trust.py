"""What the user trusts: in the state home, in files that nobody else can read.

A plan comes with a repository, so its commands are shown and not run until a person has said that
they may be. What was said holds for one repository and for these very bytes. Each trusted plan is a
file of its own, made whole or not at all: any number of processes may say so at once.

A journal can come with a repository too. So the fingerprint of every lane that this user begins is
kept here, one file for a run: what a journal says and this does not is nobody's word.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.formats.json_text import read_json, write_json
from standfast.journal import locks
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Collection

    from standfast.formats.document_limits import Value
    from standfast.plans.plan_file import Loaded

FOLDER = "standfast/trusted-plans"
RUNS = "standfast/trusted-runs"
_LOCK = "lock"
_LIMIT = 64 * 1024
_RUN_LIMIT = 32 * 1024 * 1024


def is_trusted(state_home: str, repository: str, loaded: Loaded) -> bool:
    """Whether a person has trusted this plan, as it was read, in this repository."""
    name = _name(repository, loaded.fingerprint)
    try:
        data = disk.read_regular(os.path.join(_folder(state_home), name), limit=_LIMIT)
        said = read_json(data, name=name)
    except (FileNotFoundError, StandfastError):
        return False  # what cannot be read vouches for nothing
    return isinstance(said, dict) and said.get("fingerprint") == loaded.fingerprint


def trust(state_home: str, repository: str, loaded: Loaded, *, at: str, by: str) -> None:
    """Remember it; what was trusted before stays so."""
    folder = _folder(state_home)
    disk.make_folder(folder)
    disk.make_private(folder)
    said = {
        "plan": printable(loaded.file),
        "repository": printable(os.path.realpath(repository)),
        "fingerprint": loaded.fingerprint,
        "at": at,
        "by": by,
    }
    path = os.path.join(folder, _name(repository, loaded.fingerprint))
    disk.replace(path, f"{write_json({**said})}\n".encode())


def vouched(state_home: str, journal: str, group: str) -> frozenset[str]:
    """The fingerprints that this user vouches for in a *group* (a run) of the journal there."""
    name = _name(journal, _digest(group))
    try:
        data = disk.read_regular(os.path.join(_folder(state_home, RUNS), name), limit=_RUN_LIMIT)
        said = read_json(data, name=name, limit=_RUN_LIMIT)
    except (OSError, StandfastError):
        return frozenset()  # what cannot be read vouches for nothing
    found = said.get("fingerprints") if isinstance(said, dict) else None
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def vouch(
    state_home: str, journal: str, group: str, found: Collection[str], *, at: str, by: str
) -> None:
    """Remember them all in one write; those of before, and of others at the same time, stay."""
    folder = _folder(state_home, RUNS)
    disk.make_folder(folder)
    disk.make_private(folder)
    fd = locks.take_in_turn(os.path.join(folder, _LOCK), "the list of what is trusted")
    try:
        known = vouched(state_home, journal, group)
        if known.issuperset(found):
            return
        said: dict[str, Value] = {
            "journal": printable(os.path.realpath(journal)),
            "group": printable(group),
            "at": at,
            "by": by,
            "fingerprints": [*sorted(known.union(found))],
        }
        path = os.path.join(folder, _name(journal, _digest(group)))
        disk.replace(path, f"{write_json(said)}\n".encode())
    finally:
        os.close(fd)


def _folder(state_home: str, which: str = FOLDER) -> str:
    return os.path.join(os.path.realpath(state_home), which)


def _digest(group: str) -> str:
    return hashlib.sha256(group.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _name(repository: str, fingerprint: str) -> str:
    where = hashlib.sha256(os.fsencode(os.path.realpath(repository))).hexdigest()[:16]
    return f"{where}-{fingerprint}.json"

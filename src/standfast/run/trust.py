"""Which plans the user trusts: a file for each, in the state home, that nobody else can read.

A plan comes with a repository, so its commands are shown and not run until a person has said that
they may be. What was said holds for one repository and for these very bytes. Each trusted plan is a
file of its own, made whole or not at all: any number of processes may say so at once.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors import StandfastError
from standfast.protocol.json_text import read_json, write_json
from standfast.protocol.text import printable

if TYPE_CHECKING:
    from standfast.run.plan_file import Loaded

FOLDER = "standfast/trusted-plans"
_LIMIT = 64 * 1024


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


def _folder(state_home: str) -> str:
    return os.path.join(os.path.realpath(state_home), FOLDER)


def _name(repository: str, fingerprint: str) -> str:
    where = hashlib.sha256(os.fsencode(os.path.realpath(repository))).hexdigest()[:16]
    return f"{where}-{fingerprint}.json"

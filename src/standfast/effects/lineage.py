"""Whether this process is one of an agent's that we run: its supervisor is above it."""

from __future__ import annotations

import re

from standfast.effects.folder import FOLDER, MARK, TREE
from standfast.process import lineage

MODULE = "standfast.effects.supervisor"
_OUTPUT = "STANDFAST_OUTPUT"  # given to the agents of a stage
_HELD = re.compile(rf".*/(?:{FOLDER}/[0-9a-f]{{32}}/{TREE}|launches/[0-9a-f]{{32}}\.lock)(?: .*)?")


def is_an_agents() -> bool:
    """By its ancestors, and by the locks and the marks that they were handed."""
    return lineage.began_by(MODULE, (MARK, _OUTPUT), lambda path: bool(_HELD.fullmatch(path)))

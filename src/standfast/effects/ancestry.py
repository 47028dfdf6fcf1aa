"""Whether this process is one of an agent's that we run, and whose: its supervisor is above it."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from standfast import disk, ids
from standfast.authorship import REPOSITORY, USER
from standfast.effects.effect_folder import FOLDER, MARK, TREE, Folder
from standfast.effects.stage_agents import FOLDER as LAUNCHES
from standfast.errors.base import StandfastError
from standfast.processes import parentage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.processes.parentage import Trace

MODULE = "standfast.effects.supervisor"
UNNAMED = "agent"  # of one that we began, where nobody can say which
_OUTPUT = "STANDFAST_OUTPUT"  # given to the agents of a stage
_HELD = re.compile(
    rf"(.*/{FOLDER}/[0-9a-f]{{32}})/{TREE}(?: .*)?|(.*/{LAUNCHES}/[0-9a-f]{{32}}\.lock)(?: .*)?"
)
_TAKEN = (USER, REPOSITORY, "standfast")  # no lane's name makes its agent one of these
_LANE = 3  # its place in a key: lane/RUN/PHASE/LANE/STEP/NUMBER


def is_an_agents() -> bool:
    """By its ancestors, and by the locks and the marks that they were handed."""
    return any(map(_is_ours, parentage.traces(MODULE, (MARK, _OUTPUT))))


def agent(journal: str) -> str | None:
    """The name of the agent whose process this is, by its lane or its role; None for nobody's.

    What stands highest counts: an agent can begin whatever it likes, with whatever arguments.
    """
    found = [each for each in parentage.traces(MODULE, (MARK, _OUTPUT)) if _is_ours(each)]
    names = (name for trace in reversed(found) for name in _names(trace, journal))
    return next(names, UNNAMED) if found else None


def _is_ours(trace: Trace) -> bool:
    return bool(trace.arguments or trace.variables or any(map(_HELD.fullmatch, trace.files)))


def _names(trace: Trace, journal: str) -> Iterator[str]:
    held = [found.groups() for found in map(_HELD.fullmatch, trace.files) if found]
    folders = [*trace.arguments[1:2], *(folder for folder, _ in held if folder)]
    folders += [each for value in trace.variables for each in _marked(journal, value)]
    yield from filter(None, map(_of_effect, folders))
    yield from filter(None, (_of_launch(lock) for _, lock in held if lock))


def _marked(journal: str, mark: str) -> list[str]:
    """The folder of the effect of which somebody carries the mark alone."""
    top = os.path.join(journal, FOLDER)
    try:
        paths = [os.path.join(top, name) for name in os.listdir(top)]
    except OSError:
        return []
    return [path for path in paths if Folder.at_path(path).mark == mark]


def _of_effect(folder: str) -> str | None:
    try:
        words = Folder.at_path(folder).read_order().key.split("/")
    except (OSError, StandfastError, ValueError, TypeError, KeyError):
        return None
    return _named(words[_LANE]) if words[0] == "lane" and len(words) > _LANE else None


def _of_launch(lock: str) -> str | None:
    try:
        said = json.loads(disk.read_regular(lock))
    except (OSError, StandfastError, ValueError):
        return None
    return _named(str(said.get("role"))) if isinstance(said, dict) else None


def _named(said: str) -> str | None:
    try:
        name = ids.name(said, what="lane")
    except StandfastError:
        return None
    return f"lane-{name}"[:64] if name.lower() in _TAKEN else name

"""Whether this process may be one of an agent's that we run, without anybody seeing that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects import stage_agents
from standfast.effects.effect_folder import FOLDER, STARTED, SUP, TREE, Folder
from standfast.errors.base import StandfastError
from standfast.processes import parentage, programs

if TYPE_CHECKING:
    from collections.abc import Iterator


def may_be_hidden(journal: str) -> bool:
    """Whether a command of this journal is at work, and we may be its agent without seeing that.

    Whoever unshares its PID namespace, or lays something over /proc, sees nobody above. Where all
    processes of the machine are seen, a supervisor in a container is too.
    """
    me = programs.identify()
    for began in _at_work(journal):
        if me is None or not parentage.is_shown():
            return True
        is_beside = began is not None and (began.machine, began.pid_namespace) == (
            me.machine,
            me.pid_namespace,
        )
        if not is_beside and not programs.sees_everyone():
            return True
    return False


def _at_work(journal: str) -> Iterator[programs.Identity | None]:
    """Who supervises what is at work, as it said itself; a lock shows through any namespace."""
    top = os.path.join(journal, FOLDER)
    for name in os.listdir(top) if os.path.isdir(top) else []:
        folder = Folder.at_path(os.path.join(top, name))
        if folder.is_held(SUP) or folder.is_held(TREE):
            yield _named(_first_line(folder.at(STARTED)))
    yield from (_named(each.facts.by) for each in stage_agents.every(journal))


def _first_line(path: str) -> str:
    try:
        return disk.read_regular(path).decode("ascii", "replace").partition("\n")[0]
    except (OSError, StandfastError):
        return ""


def _named(text: str) -> programs.Identity | None:
    try:
        return programs.Identity.from_text(text)
    except ValueError:
        return None

"""Agents that a stage launched: whoever outlives the one who launched it is found here.

The lock that an agent holds while it works says in its file what it is: the mark that its whole
tree has in its environment, its role and output, and who launched it. Written before it begins.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, disk
from standfast.effects.effect_folder import TREE, Folder
from standfast.errors.base import StandfastError
from standfast.journal import agents_at_work, locks
from standfast.processes import programs
from standfast.processes.running_program import variable

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = agents_at_work.LAUNCHES


class Facts(NamedTuple):
    """What is known of an agent before it begins."""

    mark: str
    stage: str
    role: str
    path: str
    by: str = ""  # who launched it, as an identity
    since: int = 0  # µs


class Launched(Folder):
    """One of them, as effects have a folder: it has a tree, and nobody who supervises that."""

    def __init__(self, path: str, facts: Facts) -> None:
        self.id = os.path.basename(path)
        self.path = path
        self.facts = facts

    @property
    def key(self) -> str:
        """What `ps` calls it."""
        return f"stage/{self.facts.stage}/{self.facts.role}"

    def at(self, name: str) -> str:
        """It has none of an effect's files."""
        return f"{self.path}.{name}"

    def strays(self) -> list[int]:
        """The processes of its tree."""
        return programs.surrounded_by(variable(self.facts.mark))

    def is_held(self, lock: str) -> bool:
        """The lock is its tree's."""
        return lock == TREE and locks.is_held(self.path)

    def has_launcher(self) -> bool:
        """Whether the one who launched it lives, and sees to it."""
        try:
            who = programs.Identity.from_text(self.facts.by)
        except ValueError:
            return False
        return programs.liveness(who) is not programs.Liveness.DEAD


def write(lock: int, facts: Facts) -> None:
    """Say in the file of a lock that we hold what is about to begin."""
    me = programs.identify()
    told = facts._replace(by="" if me is None else me.as_text(), since=clock.now_us())
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(told._asdict()).encode(), 0)


def every(journal: str) -> Iterator[Launched]:
    """Those that are at work now."""
    top = os.path.join(journal, FOLDER)
    for name in sorted(os.listdir(top)) if os.path.isdir(top) else []:
        path = os.path.join(top, name)
        try:
            facts = Facts(**json.loads(disk.read_regular(path)))
            found = Launched(path, facts)
            is_there = found.is_held(TREE)
        except (OSError, StandfastError, ValueError, TypeError):
            continue  # never used, or an older version's
        if is_there or found.strays():
            yield found

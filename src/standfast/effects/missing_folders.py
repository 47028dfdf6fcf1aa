"""Effects whose folder was taken away, or whose whole journal was: what lives of them is found.

An intent that has no end and no order is a doubt. A process of a journal that is gone still
carries its effect's mark, and where it works.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import journal_id
from standfast.effects.effect_folder import FOLDER, MARK, Folder
from standfast.errors.base import JournalGone, NothingFound
from standfast.processes import programs
from standfast.processes.occupants import command_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.store import Journal

_OPEN = """
    SELECT value, at FROM cells WHERE key >= 'effect.intended:' AND key < 'effect.intended;'"""
_WHERE, _NAMES = "STANDFAST_WORKTREE", ("STANDFAST_RUN_ID", "STANDFAST_PHASE", "STANDFAST_LANE")


class TakenAway(NamedTuple):
    """One of them, as far as it can be told."""

    key: str
    since: int  # µs
    argv: tuple[str, ...]
    folder: Folder


class Marked(Folder):
    """The processes of an effect of which nothing else is left."""

    def __init__(self, path: str, mark: str) -> None:
        self.id = mark
        self.path = path
        self._mark = mark

    @property
    def mark(self) -> str:
        """As they carry it."""
        return self._mark


def every(journal: Journal) -> list[TakenAway]:
    """Those that the journal tells of, then those that only live."""
    told = list(_robbed(journal))
    return [*told, *_nameless(journal, {each.folder.mark for each in told})]


def _robbed(journal: Journal) -> Iterator[TakenAway]:
    try:
        rows = journal.query(_OPEN)
    except (NothingFound, JournalGone):
        return
    for value, at in rows:
        said = json.loads(str(value))
        folder = Folder(journal.folder, str(said["key"]))
        if not folder.has_order():
            yield TakenAway(folder=folder, key=str(said["key"]), since=int(at),
                            argv=tuple(map(str, said.get("argv", ()))))  # fmt: skip


def _nameless(journal: Journal, known: set[str]) -> Iterator[TakenAway]:
    """By mark: processes that work below this checkout, and whose folder is not there."""
    top = os.path.realpath(journal_id.top(os.path.dirname(journal.folder)))
    folders = os.path.join(journal.folder, FOLDER)
    names = os.listdir(folders) if os.path.isdir(folders) else []
    known |= {Folder.at_path(os.path.join(folders, name)).mark for name in names}
    for pid, environ in programs.carrying(MARK):
        mark = environ[MARK]
        if mark in known or not journal_id.is_below(environ.get(_WHERE, ""), top):
            continue
        known.add(mark)
        key = "/".join(["lane", *(environ.get(name, "?") for name in _NAMES)])
        since = os.stat(f"/proc/{pid}").st_mtime_ns // 1000
        argv = tuple(command_of(pid).split(" "))
        yield TakenAway(key, since, argv, Marked(os.path.join(folders, mark), mark))

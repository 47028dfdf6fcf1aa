"""A repository is moved while its agents work: what a supervisor has open is where it is now."""

from __future__ import annotations

import os

from standfast import disk
from standfast.effects.effect_folder import Folder, Order
from standfast.journal_id import here

_OPEN = "/proc/self/fd"
_BELOW = 3  # names of an effect's folder below the journal's home: standfast/effects/ID


class Place:
    """The folder of an effect, held open."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def now(self, folder: Folder, order: Order) -> tuple[Folder, Order]:
        """Both as they are now: a record of an end that is written nowhere would be a doubt."""
        moved = self._moved()
        if moved is None:
            return folder, order
        was, home = _home(self._path), _home(moved)

        def at(path: str) -> str:
            return here(path, [was], home)

        durable, git = (tuple(map(at, paths)) for paths in (order.durable, order.git))
        found = order._replace(cwd=at(order.cwd), durable=durable, git=git)  # type: ignore[arg-type]  # as many as before
        return Folder.at_path(moved), found

    def _moved(self) -> str | None:
        """Where it is with the journal that it is in; None where it is in its place, or alone."""
        facts = os.fstat(self._fd)
        if disk.identity(self._path) == (facts.st_dev, facts.st_ino):
            return None
        try:
            found = os.readlink(f"{_OPEN}/{self._fd}")
        except OSError:
            return None
        below = os.path.relpath(self._path, _home(self._path))
        is_whole = found == os.path.join(_home(found), below)
        return found if is_whole and os.path.isdir(found) else None


def _home(path: str) -> str:
    for _ in range(_BELOW):
        path = os.path.dirname(path)
    return path

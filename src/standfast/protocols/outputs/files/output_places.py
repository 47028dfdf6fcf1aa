"""Where the files are that a prompt names: in the session's directory, or in the repository.

A path that has a folder is meant from the project or from where the agent stands, a bare name is
in the session's directory; of several places the one in the session's directory is meant. What
lies outside both is nobody's business here. Hook path.
"""

from __future__ import annotations

import os

from standfast.errors.base import StandfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_TRACES = (".cwf", ".cwf-config.local.yaml", ".cwf-config.yaml")
_VARIABLES = ("STANDFAST_SESSION_DIR", "CWF_STATE_FILE")


class Place:
    """A file that a prompt names: where it belongs, and where else it may have been put."""

    __slots__ = ("elsewhere", "is_ours", "path")

    def __init__(self, path: str, elsewhere: tuple[str, ...], *, is_ours: bool) -> None:
        self.path = path
        self.elsewhere = elsewhere
        self.is_ours = is_ours  # below the repository or the session's directory


class Grounds:
    """What a path is meant from; the session's directory is looked up where it matters."""

    def __init__(self, root: str, project: str, cwd: str, environ: Mapping[str, str]) -> None:
        self.root = root
        self._from = tuple(dict.fromkeys((project, cwd)))
        self._environ = environ
        self._session: str | None = None

    @property
    def session(self) -> str:
        """The session's directory; nothing where none is live, or its state cannot be read."""
        if self._session is None:
            self._session = self._find_session() if self._may_be_live() else ""
        return self._session

    def _may_be_live(self) -> bool:
        """Most projects keep no live state: that is seen without reading any."""
        return any(self._environ.get(name) for name in _VARIABLES) or any(
            os.path.lexists(os.path.join(self.root, name)) for name in _TRACES
        )

    def _find_session(self) -> str:
        from standfast.protocols.outputs.files import (
            live_session,  # reads YAML, which few calls need
        )

        try:
            return live_session.session_dir(self.root, self._environ)
        except (StandfastError, OSError, ValueError):
            return ""

    def find(self, named: Sequence[str]) -> list[Place]:
        """Each of them once."""
        found = {place.path: place for each in named if (place := self._find(each)) is not None}
        return list(found.values())

    def _find(self, named: str) -> Place | None:
        every = self._candidates(named)
        if not every:
            return None
        if len(every) > 1 and (inside := [each for each in every if self._is_in_session(each)]):
            path = inside[0]
        else:
            path = next((each for each in every if self._is_ours(each)), every[0])
        others = tuple(each for each in every if each != path)
        if "/" not in named:
            others += tuple(os.path.join(each, named) for each in self._from)
        return Place(path, others, is_ours=self._is_ours(path))

    def _candidates(self, named: str) -> list[str]:
        if named.startswith("~/"):
            home = self._environ.get("HOME", "")
            every = [os.path.join(home, named[2:])] if os.path.isabs(home) else []
        elif "/" not in named:
            every = [os.path.join(self.session, named)] if self.session else []
        else:
            every = [os.path.join(start, named) for start in self._from]
        return list(dict.fromkeys(self._spelt(each) for each in every))

    def _spelt(self, path: str) -> str:
        """One spelling for one file: launches of it are counted by its path."""
        plain = os.path.normpath(path)
        folder = os.path.realpath(os.path.dirname(plain))
        top = os.path.realpath(self.root)
        if folder == top or folder.startswith(top + os.sep):
            folder = self.root + folder[len(top) :]
        else:
            return plain
        return os.path.join(folder, os.path.basename(plain))

    def _is_ours(self, path: str) -> bool:
        return _is_below(path, self.root) or self._is_in_session(path)

    def _is_in_session(self, path: str) -> bool:
        return bool(self.session) and _is_below(path, self.session)


def takes_files(path: str) -> bool:
    """Whether its folder, or the nearest one that is there, may be written."""
    folder = os.path.dirname(path)
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def _is_below(path: str, folder: str) -> bool:
    """Also by links: one that leads out of a folder leads out of it."""
    at, top = os.path.realpath(os.path.dirname(path)), os.path.realpath(folder)
    return top != os.sep and (at == top or at.startswith(top + os.sep))

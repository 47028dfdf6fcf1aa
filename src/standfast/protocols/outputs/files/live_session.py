"""Finding the live session on disk: the root state, the file it points to, the directory."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, ids
from standfast.errors.base import BadName, NoLiveState, UnsafePath
from standfast.protocols.outputs.rules import live_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from standfast.protocols.outputs.rules.live_state import Live

SESSION_DIR = "STANDFAST_SESSION_DIR"
_LIMIT = 1024 * 1024


class Resolved(NamedTuple):
    """The state file that counts, what it says, and what is wrong with others."""

    path: str
    live: Live
    warnings: tuple[str, ...] = ()


def session_dir(
    root: str,
    environ: Mapping[str, str],
    given: str | None = None,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> str:
    """The session's directory: as given, as the environment says, else as the live state says."""
    said = given or environ.get(SESSION_DIR)
    if said:
        what = "--session-dir" if given else SESSION_DIR
        return _folder(os.path.abspath(os.path.join(root, said) if not given else said), what)
    found = resolve(root, environ)
    for warning in found.warnings:
        tell(warning)
    if found.live.dir is None:
        raise NoLiveState(
            "the live state names no session directory: `live.dir` is not there",
            file=found.path,
            remedy="Begin one with `standfast live-state begin`, which adds it there, or give"
            " --session-dir DIR.",
        )
    where = _inside(root, found.live.dir, found.path)
    path = _folder(os.path.join(root, where), f"`live.dir` in {found.path}")
    os.close(disk.open_folder_beneath(root, f"{where}/."))  # no link on the way either
    return path


def resolve(root: str, environ: Mapping[str, str]) -> Resolved:
    """The effective live-state file: the one pointed to, the session's own, else the root's."""
    at = root_file(root, environ)
    data = _read(root, at)
    path = os.path.join(root, at)
    if data is None:
        raise NoLiveState(
            "there is no live state",
            file=path,
        )
    live = live_state.read(data, path)
    warnings: list[str] = []
    for candidate in _candidates(root, live, path):
        found = _read(root, candidate)
        if found is None:
            if candidate == live.state_file:
                warnings.append(f"{candidate}, which `live.state_file` names, does not exist")
            continue
        theirs = live_state.read(found, os.path.join(root, candidate))
        if live_state.is_stale(live, theirs, candidate):
            warnings.append(_stale(candidate, live, theirs))
            continue
        return Resolved(os.path.join(root, candidate), theirs, tuple(warnings))
    return Resolved(path, live, tuple(warnings))


def _stale(candidate: str, live: Live, theirs: Live) -> str:
    whose = f"session {theirs.session_id}" if theirs.session_id else "another session"
    lives = live.session_id or live.dir
    return f"{candidate} is stale: it belongs to {whose}, the live one is {lives}"


def _candidates(root: str, live: Live, path: str) -> list[str]:
    found = []
    if live.state_file is not None:
        found.append(_inside(root, live.state_file, path))
    if live.dir is not None:
        found.append(f"{_inside(root, live.dir, path)}/{live_state.SESSION_FILE}")
    return list(dict.fromkeys(found))


def root_file(root: str, environ: Mapping[str, str]) -> str:
    """Where the root state is; the project's own files speak before the environment."""
    for name in live_state.CONFIG_FILES:
        data = _read(root, name)
        said = None if data is None else live_state.read_setting(data, os.path.join(root, name))
        if said is not None:
            return _inside(root, said, os.path.join(root, name))
    said = environ.get(live_state.VARIABLE)
    return live_state.ROOT_FILE if not said else _inside(root, said, live_state.VARIABLE)


def _inside(root: str, said: str, where: str) -> str:
    """A path as a state file says it, below the repository's root and nowhere else."""
    plain = os.path.normpath(said)
    if os.path.isabs(plain):
        real = os.path.realpath(root)
        below = [plain.removeprefix(top + os.sep) for top in (root, real)]
        plain = next((path for path in below if not os.path.isabs(path)), plain)
    try:
        return ids.relative_path(plain, what="path")
    except BadName as error:
        raise UnsafePath(f"{error.problem}; it must lie in the repository", file=where) from error


def _read(root: str, relative: str) -> bytes | None:
    try:
        return disk.read_beneath(root, relative, limit=_LIMIT)
    except FileNotFoundError:
        return None


def _folder(path: str, what: str) -> str:
    """A directory that is there and is no link."""
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        if disk.is_passing(error):
            raise disk.disk_error(error, path, "read") from error
        raise NoLiveState(
            f"the session directory that {what} names does not exist",
            file=path,
            remedy=f"Make it with `mkdir -p {_shell(path)}`, or name another with --session-dir.",
        ) from error
    if stat.S_ISLNK(mode):
        raise UnsafePath("the session directory is a link: name the folder itself", file=path)
    if not stat.S_ISDIR(mode):
        raise UnsafePath("the session directory is not a folder", file=path)
    return path


def _shell(path: str) -> str:
    import shlex

    return shlex.quote(path)

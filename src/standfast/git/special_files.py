"""Pipes, sockets and devices where git reads a file: it would wait for them for ever.

What has a fixed name is looked at before every call, and what the usual settings name before those
that read settings. The rest (one of these names deep in a tree, a ref, an included file) is found
when a call takes long: by asking the system which file git, or a git that it began, waits for, or
by looking everywhere.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from standfast import disk, xdg
from standfast.errors.base import SpecialFile, TooLarge, UnsafePath
from standfast.processes.programs import descendants
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

IN_TREE = (".gitignore", ".gitattributes", ".gitmodules", ".mailmap")
IN_GIT = (
    "HEAD",
    "MERGE_HEAD",
    "ORIG_HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "index",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "packed-refs",
    "shallow",
)
_NAMING = ("core.attributesfile", "core.excludesfile")
_POINTER_LIMIT = 8 * 1024
_OPEN = {2: 0}  # open, where there is one (x86); all others name the file second, as openat does
_LONGEST = 4096


def refuse(directory: Path) -> None:
    """Refuse what stands at a name that git opens in nearly every call made in this folder."""
    here = os.fspath(directory)
    for name in IN_TREE:
        _refuse(os.path.join(here, name), stat_of=os.lstat)
    for home in homes(here):
        for name in IN_GIT:
            _refuse(os.path.join(home, name))
    for name in _of_user():
        _refuse_named(name)


def _of_user() -> Iterator[str]:
    """What git reads of the user's own in every repository."""
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    configs = (os.path.expanduser("~/.gitconfig"), of_user("config")) if named is None else (named,)
    yield from (*configs, of_user("attributes"), of_user("ignore"))


def of_user(name: str) -> str:
    """A file of the user's own, in the folder that git has for them."""
    return os.path.join(xdg.base(os.environ, "XDG_CONFIG_HOME", ".config"), "git", name)


def refuse_named(directory: Path, settings: Iterable[tuple[str, str]]) -> None:
    """Refuse what settings name, given as key and value, where git would read a file."""
    for key, value in settings:
        if key in _NAMING:
            _refuse_named(os.path.join(directory, os.path.expanduser(value)))


def _refuse_named(path: str) -> None:
    """People name the null device where nothing is to be read: nobody waits for it."""
    if os.path.realpath(path) != os.devnull:
        _refuse(path)


def refuse_anywhere(directory: Path, pid: int) -> None:
    """Refuse what the git with this number, or one that it began, waits for, wherever it is."""
    opening = map(_opening, (pid, *descendants(pid)))
    for found in (*opening, *_deep(os.fspath(directory))):
        if found is not None:
            raise _special(found)


def in_tree(top: str) -> list[str]:
    """What stands in a work tree at names that git opens there."""
    return [path for path in _below(top, skip=".git") if os.path.basename(path) in IN_TREE]


def _deep(here: str) -> Iterator[str]:
    top = next((each for each in _upwards(here) if os.path.lexists(os.path.join(each, ".git"))), "")
    yield from in_tree(top) if top else ()
    for home in homes(here):
        for name in ("refs", "info", "objects/info"):
            yield from _below(os.path.join(home, name))


def _below(top: str, skip: str = "") -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != skip]
        for name in files:
            path = os.path.join(folder, name)
            if _is_special(path, os.lstat):
                yield path


def homes(here: str) -> list[str]:
    """The git directory around a folder, and the common one: found without git, which may hang."""
    for folder in _upwards(here):
        link = os.path.join(folder, ".git")
        if os.path.isdir(link):
            return _with_common(link)
        if os.path.lexists(link):
            _refuse(link)
            said = _line(link).removeprefix("gitdir: ")
            return _with_common(os.path.join(folder, said)) if said else []
    return _with_common(here) if os.path.lexists(os.path.join(here, "HEAD")) else []


def _with_common(home: str) -> list[str]:
    pointer = os.path.join(home, "commondir")
    _refuse(pointer)
    said = _line(pointer)
    return [home, os.path.join(home, said)] if said else [home]


def _upwards(folder: str) -> Iterator[str]:
    folder = os.path.realpath(folder)
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _line(path: str) -> str:
    try:
        data = disk.read_regular(path, limit=_POINTER_LIMIT)
    except (OSError, UnsafePath, TooLarge):
        return ""
    return os.fsdecode(data.partition(b"\n")[0].strip(b"\0"))


def _refuse(path: str, stat_of: Callable[[str], os.stat_result] = os.stat) -> None:
    if _is_special(path, stat_of):
        raise _special(path)


def _is_special(path: str, stat_of: Callable[[str], os.stat_result]) -> bool:
    try:
        mode = stat_of(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _special(path: str) -> SpecialFile:
    shown = printable(path)
    problem = f"a pipe, a socket or a device stands where git reads a file: {shown}"
    return SpecialFile(problem, file=path)


def _opening(pid: int) -> str | None:
    """The pipe that a process waits for somebody to open, too, as far as the system says."""
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as asked:
            if asked.read().strip() not in ("wait_for_partner", "fifo_open"):
                return None
        with open(f"/proc/{pid}/syscall", encoding="ascii") as asked:
            number, *given = asked.read().split()
        at = int(given[_OPEN.get(int(number), 1)], 16)
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(at)
            said = os.fsdecode(memory.read(_LONGEST).partition(b"\0")[0])
        return os.path.join(os.readlink(f"/proc/{pid}/cwd"), said)
    except (OSError, ValueError, IndexError, OverflowError):
        return None

"""Which files of a git directory must be synced for its last commits to survive a power cut.

Git syncs the contents of what it writes when core.fsync is `all`, but not the folders that hold
the new names; a commit made by someone else with git's defaults is not synced at all.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TREES = ("refs", "logs", "reftable")


def durable_paths(
    git_directory: Path,
    common_directory: Path,
    *,
    objects: bool = True,
) -> list[Path]:
    """List what to sync, in the order in which to sync it: contents before the names of them.

    Where nothing but a whole list will do, because the system cannot sync all at once.
    """
    homes = list(dict.fromkeys((common_directory, git_directory)))
    paths = list(_objects(common_directory / "objects")) if objects else []
    for home in homes:
        for tree in _TREES:
            paths += _contents_first(home / tree)
        paths += sorted(path for path in _children(home) if path.is_file() or path.is_symlink())
    between = (home for home in git_directory.parents if home.is_relative_to(common_directory))
    own = [git_directory, *between, common_directory, common_directory.parent]
    return [path for path in dict.fromkeys([*paths, *own]) if not path.is_symlink()]


def object_paths(common_directory: Path, names: Iterable[str]) -> list[Path]:
    """The files that hold these objects: loose ones by name, and every pack, for there are few."""
    home = common_directory / "objects"
    loose = [home / name[:2] / name[2:] for name in names]
    there = [path for path in loose if path.exists()]
    packs = [path for path in _children(home / "pack") if path.is_file()]
    folders = dict.fromkeys(path.parent for path in (*there, *packs))
    return [*there, *packs, *folders, home]


def sync_all(paths: Iterable[Path]) -> None:
    """Sync each file and folder; one that has gone meanwhile was a lock or a temporary file."""
    for path in paths:
        try:
            _sync(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise disk.disk_error(error, str(path)) from error


def _sync(path: Path) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        disk.sync_folder(str(path))
    elif stat.S_ISREG(mode):  # never a FIFO: opening one could wait for ever
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            disk.sync_fd(fd)
        finally:
            os.close(fd)


def _objects(home: Path) -> Iterator[Path]:
    for folder in _children(home):
        if not folder.is_symlink() and folder.is_dir():
            yield from _children(folder)
            yield folder
    yield home


def _contents_first(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top, topdown=False):
        yield from (Path(folder, name) for name in names)
        yield Path(folder)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []

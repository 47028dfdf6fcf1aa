"""What stands in a worktree, held against what a commit has there.

A checkout that was cut off leaves files that are whole, files that end in the middle and files that
are not there. All of these can be made again. Anything else is somebody's, and is never touched.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import disk, filesystems, scratch_folder
from standfast.git import fresh_files
from standfast.git.command import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from standfast.git.command import Git

_MANY = 8  # files are synced one by one; more of them with all that the disk has


def differing(git: Git) -> dict[str, str]:
    """The tracked files that are not as HEAD has them, whatever the index says: M, T or D each.

    The index is left out because it may trust a time and a size, or was told to look away.
    """
    with _index_of_head(git) as door:
        plain = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=no")
        said = os.fsdecode(door.read("status", *plain))
    return {row[3:]: row[1] for row in said.split("\0")[:-1]}


@contextmanager
def _index_of_head(git: Git) -> Iterator[Git]:
    with scratch_folder.folder() as folder:
        given = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        door = git.at(git.directory, **given)
        door.write("read-tree", "HEAD")
        yield door


def unlike(git: Git, wanted: Iterable[tuple[str, str, str]]) -> list[str]:
    """Those of these files (mode, object, name) that are another or not there, by their contents.

    What git was told to look away from counts, but for what a sparse checkout leaves out.
    """
    with scratch_folder.folder() as folder:
        given = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        door = git.at(git.directory, **given)
        lines = "".join(f"{mode} {blob}\t{name}\0" for mode, blob, name in wanted)
        door.write("update-index", "-z", "--index-info", stdin=os.fsencode(lines))
        door.ask("update-index", "-q", "--refresh")
        found = [*names(door.read("diff-files", "--name-only", "-z"))]
    spared = left_out(git) if found else set()
    return [name for name in found if name not in spared]


def left_out(git: Git) -> set[str]:
    """Files that a sparse checkout leaves out, where this is one."""
    said = [value for _, key, value in git.in_force() if key == "core.sparsecheckout"]
    is_sparse = bool(said) and said[-1].lower() not in {"false", "no", "off", "0"}
    return skipped(git) if is_sparse else set()


def skipped(git: Git) -> set[str]:
    """Files that a sparse checkout leaves out."""
    rows = os.fsdecode(git.read("ls-files", "-z", "-t")).split("\0")
    return {row[2:] for row in rows if row.startswith("S ")}


def restore(git: Git, files: Iterable[str], source: str) -> None:
    """Write these files again as a fresh checkout has them, each in one step.

    What is staged is left as it is.
    """
    wanted, top = list(files), os.path.realpath(git.directory)
    if not wanted:
        return
    with fresh_files.checkout(git, source, wanted) as whole:
        sync_files(whole, wanted)
        for name in wanted:
            try:
                _put(whole, top, name)
            except OSError as error:
                raise disk.disk_error(error, os.path.join(top, name)) from error


def _put(whole: str, top: str, name: str) -> None:
    """A file or a link takes its place; of another repository only its folder is there."""
    path, last = os.path.join(whole, name), os.path.basename(name)
    disk.make_folders_beneath(top, name)
    folder = disk.open_folder_beneath(top, name)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            with suppress(FileExistsError):
                os.mkdir(last, dir_fd=folder)
        elif os.path.lexists(path):
            os.replace(path, last, dst_dir_fd=folder)
    finally:
        os.close(folder)


def sync_files(top: str, files: Iterable[str]) -> None:
    """Make files durable, and the folders on the way to them."""
    listed = list(files)
    if len(listed) > _MANY and filesystems.sync(top):
        return
    for name in listed:
        try:
            fd = disk.open_regular(os.path.join(top, name))
        except OSError:
            pass  # a link, a submodule, or not there: its folder says so
        else:
            disk.sync_and_close(fd)
    sync_folders(top, listed)


def sync_folders(top: str, files: Iterable[str]) -> None:
    """Make the names of files durable, and the folders on the way to them."""
    folders = {top}
    for name in files:
        while name := os.path.dirname(name):  # one step up
            folders.add(os.path.join(top, name))
    for folder in sorted(folders, reverse=True):
        if Path(folder).is_dir():
            disk.sync_folder(folder)


def remove_empty(top: str, folder: str) -> None:
    """Folders that held nothing else go with their last file, as git does it."""
    while folder:
        try:
            os.rmdir(os.path.join(top, folder))
        except OSError:
            return
        folder = os.path.dirname(folder)

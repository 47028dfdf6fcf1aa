"""Keeping a worktree as it is: every file that git does not ignore, byte for byte, as commits.

The files are hashed without any conversion: a line ending that git would normalise is somebody's
bytes too. What is staged gets a commit of its own where it differs. Nothing in the worktree or its
index is touched; submodules and other repositories inside are never entered.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import UnsafePath
from standfast.errors.lanes import RollbackRefused
from standfast.git import worktree_contents
from standfast.git.command import Git, entries
from standfast.git.command import names as listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

Files = dict[str, tuple[str, str]]  # path -> mode and object, as a tree has them

SUBMODULE, LINK, PLAIN, PROGRAM = "160000", "120000", "100644", "100755"
_WHO = "Standfast"
_MAIL = "standfast@localhost"
_BATCH = 64 * 1024  # bytes of names for one call of git
_CHUNK = 1 << 20


class Snapshot(NamedTuple):
    """A worktree at one moment; its objects are in the repository, but nothing names them yet."""

    head: str | None
    files: Files  # what the folder holds
    tree: str  # the same as a tree
    staged: str  # the tree of the index


def take(git: Git, target: str, scratch: Path, instead: Files | None = None) -> Snapshot:
    """Put everything that a reset to *target* could take away into the repository's objects.

    *instead* of some files that are there, what stood in their places before.
    """
    top = git.directory
    index = _tracked(git)
    names = {name for name, (mode, _) in index.items() if mode != SUBMODULE}
    others = git.read("ls-files", "-z", "--others", "--exclude-standard")
    names |= {name for name in listed(others) if not name.endswith("/")}
    names |= set(_in_the_way(top, files_of(git, target)))
    files = {**hashed(git, sorted(names), scratch), **(instead or {})}
    held = {**{name: at for name, at in index.items() if at[0] == SUBMODULE}, **files}
    return Snapshot(
        head=git.head(),
        files=files,
        tree=_tree(_with_index(git, scratch / "work"), held),
        staged=_staged(git, scratch / "staged"),
    )


def commit(git: Git, taken: Snapshot, words: str, at_s: int, parents: Iterable[str | None]) -> str:
    """Make commits of a snapshot; the same snapshot at the same time is the same commit."""
    moment = f"@{at_s} +0000"
    variables = {
        f"GIT_{who}_{what}": said
        for who in ("AUTHOR", "COMMITTER")
        for what, said in (("NAME", _WHO), ("EMAIL", _MAIL), ("DATE", moment))
    }
    door = git.at(git.directory, **variables)
    above = list(dict.fromkeys(each for each in (taken.head, *parents) if each is not None))
    trees = {tree_of(git, each) for each in above[:1]}
    if taken.staged not in {taken.tree, *trees}:
        above.append(_commit(door, taken.staged, above[:1], f"{words} (staged)"))
    if len(above) == 1 and taken.tree in trees:
        return above[0]  # all of it is committed
    return _commit(door, taken.tree, above, words)


def _commit(door: Git, tree: str, parents: Iterable[str], words: str) -> str:
    above = [part for each in parents for part in ("-p", each)]
    return door.write("commit-tree", tree, *above, "-m", words).decode().strip()


def tree_of(git: Git, commit: str) -> str:
    """The tree of a commit that is there."""
    return (
        git.read("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}").decode().strip()
    )


def files_of(git: Git, tree: str) -> Files:
    """What a commit or a tree holds, submodules among it."""
    rows = entries(git.read("ls-tree", "-r", "-z", "--full-tree", tree))
    return {name: (facts[0], facts[2]) for facts, name in rows}


def _tracked(git: Git) -> Files:
    rows = entries(git.read("ls-files", "-z", "--stage"))
    return {name: (facts[0], facts[1]) for facts, name in rows}


# What a reset would write over, whether git ignores it or not.


def _in_the_way(top: Path, wanted: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    folders: dict[str, str | None] = {"": None}
    for name, (mode, _) in wanted.items():
        blocked = _blocked(top, os.path.dirname(name), folders)
        if blocked is not None:
            yield blocked
            continue
        kind = _kind(top / name)
        if kind is not None and not stat.S_ISDIR(kind):
            yield name
        elif kind is not None and mode != SUBMODULE:
            yield from _below(top, name)


def _blocked(top: Path, folder: str, known: dict[str, str | None]) -> str | None:
    """The part of a path that is no folder, though one is wanted there."""
    if folder not in known:
        above = _blocked(top, os.path.dirname(folder), known)
        kind = _kind(top / folder) if above is None else None
        known[folder] = above or (folder if kind is not None and not stat.S_ISDIR(kind) else None)
    return known[folder]


def _below(top: Path, folder: str) -> Iterator[str]:
    for at, folders, names in os.walk(top / folder):
        if ".git" in (*folders, *names):
            where = os.path.relpath(at, top)
            raise RollbackRefused(f"a repository of its own stands in the way: {where!r:.200}")
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        yield from (os.path.relpath(os.path.join(at, name), top) for name in (*names, *links))


def _kind(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


# From files to a tree.


def hashed(git: Git, names: Iterable[str], scratch: Path) -> Files:
    """Hash and keep each file that is there; a link is kept as what it says."""
    modes: dict[str, str] = {}
    sources: dict[str, str] = {}
    folders: dict[str, str | None] = {"": None}
    for name in names:
        blocked = _blocked(git.directory, os.path.dirname(name), folders) is not None
        kind = None if blocked else _kind(git.directory / name)
        if kind is None or not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
            continue
        modes[name] = mode_of(kind)
        sources[name] = name
        if stat.S_ISLNK(kind):
            said = scratch / f"link-{len(sources)}"
            said.write_bytes(os.fsencode(os.readlink(git.directory / name)))
            sources[name] = str(said)
    blobs = _objects(git, list(sources.values()))
    return {name: (modes[name], blob) for name, blob in zip(sources, blobs, strict=True)}


def mode_of(kind: int) -> str:
    """The mode that a tree has for a file of this kind."""
    if stat.S_ISLNK(kind):
        return LINK
    return PROGRAM if kind & stat.S_IXUSR else PLAIN


def _objects(git: Git, paths: list[str]) -> Iterator[str]:
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += len(os.fsencode(path)) + 16
        if size > _BATCH:
            yield from _batch(git, batch)
            batch, size = [], 0
    if batch:
        yield from _batch(git, batch)


def _batch(git: Git, paths: list[str]) -> list[str]:
    return git.write("hash-object", "-w", "--no-filters", "--", *paths).decode().split()


def _with_index(git: Git, path: Path) -> Git:
    given = {"GIT_INDEX_FILE": str(path)}
    return git.at(git.directory, **given)


def _tree(door: Git, files: Mapping[str, tuple[str, str]]) -> str:
    door.write("read-tree", "--empty")
    lines = "".join(f"{mode} {blob}\t{name}\0" for name, (mode, blob) in files.items())
    door.write("update-index", "-z", "--index-info", stdin=os.fsencode(lines))
    return door.write("write-tree").decode().strip()


def _staged(git: Git, copy: Path) -> str:
    """The tree of the index, by a copy: reading it must not change it."""
    door = _with_index(git, copy)
    try:
        copy.write_bytes((git.git_directory() / "index").read_bytes())
    except FileNotFoundError:
        door.write("read-tree", "--empty")
    return door.write("write-tree").decode().strip()


# Taking away what was kept.


def remove_kept(top: Path, kept: Iterable[tuple[str, tuple[str, str]]], algorithm: str) -> None:
    """Remove each of these that still is exactly what was kept; what is not stays."""
    for name, entry in kept:
        try:
            _remove_if(str(top), name, entry, algorithm)
        except OSError as error:
            raise disk.disk_error(error, str(top / name)) from error


def _remove_if(top: str, name: str, entry: tuple[str, str], algorithm: str) -> None:
    try:
        folder = disk.open_folder_beneath(top, name)
    except (FileNotFoundError, UnsafePath):
        return  # no such folder, or something else in its place
    try:
        last = os.path.basename(name)
        found = _as_entry(last, folder, algorithm)
        if found == entry:
            os.unlink(last, dir_fd=folder)
            disk.sync_fd(folder)
    finally:
        os.close(folder)
    if found == entry:
        worktree_contents.remove_empty(top, os.path.dirname(name))


def _as_entry(name: str, folder: int, algorithm: str) -> tuple[str, str] | None:
    try:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(facts.st_mode):
        said = os.fsencode(os.readlink(name, dir_fd=folder))
        return LINK, _digest(algorithm, len(said), [said])
    if not stat.S_ISREG(facts.st_mode):
        return "", ""
    fd = disk.open_regular(name, folder=folder)
    with open(fd, "rb") as file:
        chunks = iter(lambda: file.read(_CHUNK), b"")
        return mode_of(facts.st_mode), _digest(algorithm, facts.st_size, chunks)


def _digest(algorithm: str, size: int, chunks: Iterable[bytes]) -> str:
    made = hashlib.new(algorithm, b"blob %d\0" % size)
    for chunk in chunks:
        made.update(chunk)
    return made.hexdigest()

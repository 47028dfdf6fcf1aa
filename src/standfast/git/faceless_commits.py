"""A lane's commits made once more without what they say in some files, as objects alone.

Every commit has of these files what the commit below it has, so in the end what the base has. The
same lane always becomes the same commits, and one that never touched these files stays as it is.
"""

from __future__ import annotations

import os
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from standfast import scratch_folder
from standfast.git import replay
from standfast.git.command import entries
from standfast.git.snapshot import SUBMODULE, tree_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from standfast.git.command import Git
    from standfast.git.snapshot import Files

_NOTHING = "0" * 40
_MERGE = 3  # itself, and more than one parent


class Said(NamedTuple):
    """What a lane had in one of these files; no blob where it took the file away."""

    path: str
    blob: str


class Rebuilt(NamedTuple):
    """Where a lane ends without these files, and what was left out, oldest first."""

    tip: str
    said: tuple[Said, ...] = ()


def rebuild(git: Git, tip: str, known: Sequence[str], paths: Collection[str]) -> Rebuilt:
    """Take these files out of every commit that *tip* has and none of the *known* has."""
    since = [f"^{each}" for each in known]
    listed = replay.rows(git, "--topo-order", "--parents", tip, *since)
    is_merged = any(len(row) >= _MERGE for row in listed)
    asked = ("--full-history", tip, *since, "--", *paths)
    if not listed or not (is_merged or replay.rows(git, *asked)):
        return Rebuilt(tip)
    new: dict[str, str] = {}
    said: dict[Said, None] = {}
    for commit, *_ in reversed(listed):
        new[commit] = _again(git, commit, new, paths, said)
    return Rebuilt(new[tip], tuple(said))


def _again(
    git: Git, commit: str, new: Mapping[str, str], paths: Collection[str], said: dict[Said, None]
) -> str:
    raw = replay.commit_of(git, commit)
    parents = tuple(dict.fromkeys(new.get(each, each) for each in raw.parents))
    above = _newest(git, [each for each in raw.parents if each not in new]) or parents[:1]
    wanted = files(git, above[0], paths) if above else {}
    there = files(git, commit, paths)
    differing = {path for path in paths if there.get(path) != wanted.get(path)}
    for path in sorted(differing):
        said[Said(path, blob_in(there, path))] = None
    tree = _with(git, raw.tree, differing, wanted) if differing else raw.tree
    if differing and len(parents) == 1 and tree == tree_of(git, parents[0]):
        return parents[0]  # it said nothing else
    if (tree, parents) == (raw.tree, raw.parents):
        return commit
    return replay.write_commit(git, raw._replace(tree=tree, parents=parents))


def _newest(git: Git, commits: Sequence[str]) -> tuple[str, ...]:
    """Of what a merge took from elsewhere, the one that holds the others."""
    if not commits:
        return ()
    return (reduce(lambda one, other: other if git.is_ancestor(one, other) else one, commits),)


def files(git: Git, commit: str, paths: Iterable[str]) -> Files:
    """Those of these files that a commit has, each with its mode and its object."""
    rows = entries(git.read("ls-tree", "-z", "--full-tree", commit, "--", *paths))
    return {name: (facts[0], facts[2]) for facts, name in rows if facts[1] != "tree"}


def blob_in(found: Files, path: str) -> str:
    """The blob that is there, if one is; a repository of its own is none."""
    mode, blob = found.get(path, (SUBMODULE, ""))
    return blob if mode != SUBMODULE else ""


def lines(names: Iterable[str], wanted: Files) -> bytes:
    """What an index is told, so that it has of these files what is *wanted*, and no others."""
    told = [(*wanted.get(name, ("0", _NOTHING)), name) for name in names]
    return os.fsencode("".join(f"{mode} {blob}\t{name}\0" for mode, blob, name in told))


def _with(git: Git, tree: str, names: Iterable[str], wanted: Files) -> str:
    with scratch_folder.folder() as folder:
        given = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        door = git.at(git.directory, **given)
        door.write("read-tree", tree)
        door.write("update-index", "-z", "--index-info", stdin=lines(names, wanted))
        return door.write("write-tree").decode().strip()

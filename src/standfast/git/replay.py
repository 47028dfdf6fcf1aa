"""Bringing a lane up to date with its base, and joining the two, without any files.

Everything here is made of objects alone: no worktree, no index and no ref is touched, so that a
death in the middle leaves nothing but objects that nobody names. The same lane on the same base
always becomes the same commits: whoever goes on after a death arrives where the dead one would
have. New objects are synced by git; their folders are when a ref is made durable.

A merge looks for its own base in history. To have it take the parent of a commit, the lane so far
is given a commit of its own below that parent, which is thrown away.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import GitFailed, ProgramTimedOut
from standfast.errors.lanes import GitTooOld
from standfast.git.snapshot import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.git.command import Git

_ID = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_NOBODY = b"Standfast <standfast@localhost> 0 +0000"
_OLDEST = (2, 38)
_MERGE = ("-z", "--name-only", "--no-messages", "--allow-unrelated-histories")


class Merged(NamedTuple):
    """Two histories as one tree; with conflicts, the tree has their marks in it."""

    tree: str
    conflicts: tuple[str, ...]


class Replayed(NamedTuple):
    """A lane on top of another commit; with conflicts, *tip* is the old one."""

    tip: str
    conflicts: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()  # commits of which the other side has everything


class Raw(NamedTuple):
    """A commit as git keeps it, byte for byte."""

    tree: str
    parents: tuple[str, ...]
    author: bytes
    committer: bytes
    encoding: bytes | None
    message: bytes


# What is offered.


def merge_trees(git: Git, ours: str, theirs: str) -> Merged:
    """What a merge of two commits would give."""
    try:
        is_clean, said = git.ask("merge-tree", *_MERGE, ours, theirs)
    except GitFailed:
        _refuse_old(git)
        raise
    tree, *names = said.split(b"\0")[:-1]
    return Merged(tree.decode(), () if is_clean else _paths(names))


def replay(git: Git, tip: str, onto: str) -> Replayed:
    """Put what *tip* has and *onto* has not on top of *onto*."""
    if git.is_ancestor(onto, tip):
        return Replayed(tip)
    lane = rows(git, "--topo-order", "--parents", f"{onto}..{tip}")
    if any(len(row) > 2 for row in lane):  # noqa: PLR2004  # itself, and more than one parent
        return _merged_once(git, tip, onto, [row[0] for row in lane])
    return _one_by_one(git, tip, onto, [row[0] for row in reversed(lane)])


def holds(git: Git, base: str, tip: str) -> bool:
    """Whether *base* has all of *tip*: as it is, or squashed or picked by somebody meanwhile."""
    if git.is_ancestor(tip, base):
        return True
    merged = merge_trees(git, base, tip)
    return not merged.conflicts and merged.tree == tree_of(git, base)


def join(git: Git, base: str, tip: str, message: str) -> str:
    """A merge commit of two that merge cleanly, signed as the last commit of the lane is."""
    merged = merge_trees(git, base, tip)
    if merged.conflicts:
        raise GitFailed(f"the lane does not merge cleanly: {merged.conflicts[0]!r:.200}")
    return _join(git, merged.tree, (base, tip), tip, message)


# A lane with merges in it, and one without.


def _merged_once(git: Git, tip: str, onto: str, commits: list[str]) -> Replayed:
    merged = merge_trees(git, tip, onto)
    if merged.conflicts:
        return Replayed(tip, merged.conflicts)
    if merged.tree == tree_of(git, onto):
        return Replayed(onto, dropped=tuple(reversed(commits)))
    words = "Bring the lane up to date"
    return Replayed(_join(git, merged.tree, (tip, onto), tip, words))


def _one_by_one(git: Git, tip: str, onto: str, commits: Iterable[str]) -> Replayed:
    at, tree = onto, tree_of(git, onto)
    dropped: list[str] = []
    for commit in commits:
        raw = commit_of(git, commit)
        before = tree_of(git, raw.parents[0]) if raw.parents else _empty_tree(git)
        merged = _picked(git, raw, commit, before, tree)
        if merged.conflicts:
            if not _has_same(git, commit, onto, tip):
                return Replayed(tip, merged.conflicts)
            dropped.append(commit)
        elif merged.tree == tree and raw.tree != before:
            dropped.append(commit)
        else:
            tree = merged.tree
            at = write_commit(git, raw._replace(tree=tree, parents=(at,)))
    return Replayed(at, dropped=tuple(dropped))


def _picked(git: Git, raw: Raw, commit: str, before: str, tree: str) -> Merged:
    """The tree so far with the change of one commit in it."""
    if before == tree:
        return Merged(raw.tree, ())
    if raw.tree == before:
        return Merged(tree, ())
    base = raw.parents
    if not base:
        base = (_throwaway(git, before, ()),)
        commit = _throwaway(git, raw.tree, base)
    return merge_trees(git, _throwaway(git, tree, base), commit)


def _has_same(git: Git, commit: str, onto: str, tip: str) -> bool:
    """Whether the other side took this very change, and went on from there."""
    same = rows(git, "--right-only", "--cherry-mark", f"{onto}...{tip}")
    return [f"={commit}"] in same


def rows(git: Git, *args: str) -> list[list[str]]:
    """What rev-list prints, a list for each line."""
    return [line.split() for line in git.read("rev-list", *args).decode().splitlines()]


# Commits, byte for byte: a message may have any encoding, or none.


def commit_of(git: Git, commit: str) -> Raw:
    """A commit taken apart."""
    return read_commit(git.read("cat-file", "commit", commit))


def read_commit(data: bytes) -> Raw:
    """Take a commit apart, as `git cat-file commit` prints it."""
    head, _, message = data.partition(b"\n\n")
    lines = [line.partition(b" ") for line in head.split(b"\n")]
    said = {key: value for key, _, value in reversed(lines) if key}
    ids = [said.get(b"tree", b""), *(value for key, _, value in lines if key == b"parent")]
    if not all(map(_ID.fullmatch, ids)):
        raise GitFailed("a commit of the lane is damaged: it names no tree, or no parent")
    tree, *parents = [each.decode() for each in ids]
    return Raw(
        tree=tree,
        parents=tuple(parents),
        author=said.get(b"author", _NOBODY),
        committer=said.get(b"committer", _NOBODY),
        encoding=said.get(b"encoding"),
        message=message,
    )


def write_commit(git: Git, raw: Raw) -> str:
    """Make a commit; a signature is left behind: it was made for another commit."""
    lines = [f"tree {raw.tree}".encode()]
    lines += [f"parent {parent}".encode() for parent in raw.parents]
    lines += [b"author " + raw.author, b"committer " + raw.committer]
    lines += [] if raw.encoding is None else [b"encoding " + raw.encoding]
    data = b"\n".join((*lines, b"", raw.message))
    made = git.write("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=data)
    return made.decode().strip()


def _join(git: Git, tree: str, parents: tuple[str, str], last: str, message: str) -> str:
    who = commit_of(git, last).committer
    words = message.encode("utf-8", "surrogateescape")
    return write_commit(git, Raw(tree, parents, who, who, None, words.rstrip(b"\n") + b"\n"))


def _throwaway(git: Git, tree: str, parents: Sequence[str]) -> str:
    return write_commit(git, Raw(tree, tuple(parents), _NOBODY, _NOBODY, None, b""))


def _empty_tree(git: Git) -> str:
    return git.write("hash-object", "-t", "tree", "-w", "--stdin").decode().strip()


def _paths(names: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.decode("utf-8", "surrogateescape") for name in names))


def _refuse_old(git: Git) -> None:
    try:
        said = git.read("version").decode("utf-8", "replace")
    except (GitFailed, ProgramTimedOut):
        return
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < _OLDEST:
        raise GitTooOld(f"this is git {found[0]}; to bring branches together 2.38 is needed")

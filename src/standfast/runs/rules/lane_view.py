"""One lane as it stands: what a look at its repository finds, and what is gone.

Pure: whoever looks fills the tables, what follows from them is decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.protocols.checkpoints.rules.checkpoint_hints import quote
from standfast.text import is_hidden, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.protocols.checkpoints.rules.checkpoint import Record

BAD = (cp.FAILED, cp.BLOCKED, cp.ROLLED_BACK)  # never done, and nothing to go back to


class Worktree(NamedTuple):
    """The folder that the lane's checkpoint names."""

    path: str
    is_there: bool = False
    is_ours: bool = False  # a worktree of this repository, whole
    is_main: bool = False
    branch: str | None = None  # what is checked out in it
    head: str | None = None
    changed: int = 0
    untracked: int = 0
    unfinished: str | None = None  # a merge, a rebase and the like, or a conflict
    locks: tuple[str, ...] = ()  # of git
    pids: tuple[int, ...] = ()  # who works in it


class Lane(NamedTuple):
    """The lane's worktree and branches."""

    worktree: Worktree
    branch: str | None  # its own
    is_named: bool  # by its checkpoint
    tip: str | None
    base: str | None
    base_tip: str | None
    is_merged: bool  # the base branch holds all of it
    elsewhere: str | None = None  # another worktree that has its branch checked out
    backups: tuple[str, ...] = ()  # refs
    has_begun: bool = True  # a checkpoint says that its branch and worktree were made
    commits: frozenset[str] = frozenset()  # of those that its checkpoints name: which are there


def text(record: Record, name: str) -> str | None:
    """A field that holds text, whoever wrote the record."""
    said = record.get(name)
    return said if isinstance(said, str) and said else None


def last_said(records: Sequence[Record], name: str) -> str | None:
    """What the newest record that says it says; they come oldest write first."""
    return next(filter(None, (text(record, name) for record in reversed(records))), None)


def starts_from(records: Sequence[Record]) -> str:
    """The stage that a resume starts from: the latest, or what a rollback went back to."""
    standing = [record for record in records if record["status"] != cp.ROLLED_BACK]
    return str(standing[-1]["stage"]) if standing else cp.BEFORE


def done(records: Sequence[Record]) -> list[str]:
    """The stages that need not be done again: all that went well before the last."""
    start = starts_from(records)
    return [
        str(record["stage"])
        for record in records
        if record["status"] not in BAD and record["stage"] != start
    ]


def findings(lane: Lane, records: Sequence[Record]) -> list[str]:
    """How things are, what is gone, and what brings it back; a line each."""
    return [*_of_worktree(lane), *_of_branch(lane, records), *_of_base(lane)]


def _of_worktree(lane: Lane) -> list[str]:
    tree = lane.worktree
    where = printable(tree.path)
    if not tree.is_there:
        back = ""
        if lane.branch and lane.tip and not any(map(is_hidden, tree.path)):
            back = f"; `git worktree add {quote(tree.path)} {quote(lane.branch)}` makes it again"
        return [f"The worktree is gone: {where}{back}."]
    if not tree.is_ours:
        return [f"This is no worktree of this repository: {where}. Nothing in it is touched."]
    at = printable(tree.branch) if tree.branch else "no branch"
    work = f"{tree.changed} changed, {tree.untracked} untracked"
    told = [f"Worktree: {where}, on {at} at {(tree.head or 'no commit')[:12]}; files: {work}"]
    if tree.unfinished:
        told.append(f"Unfinished there: {tree.unfinished}; `git status` in it says how to go on.")
    if tree.locks:
        told.append(f"git is at work there, or died: {printable(', '.join(tree.locks))}")
    if tree.pids:
        told.append(f"At work in it: process {', '.join(map(str, tree.pids))}")
    return told


def _of_branch(lane: Lane, records: Sequence[Record]) -> list[str]:
    if lane.branch is None:
        return ["No checkpoint names the lane's branch."]
    name = printable(lane.branch)
    if lane.tip is not None:
        is_fresh = lane.tip == last_said(records, "base_sha")
        merged = ", all of it in the base branch" if lane.is_merged and not is_fresh else ""
        return [f"Branch: {name} at {lane.tip[:12]}{merged}"]
    heads = [text(record, "head_sha") for record in reversed(records)]
    known = next((sha for sha in heads if sha in lane.commits), None)
    if known is not None:
        back = f"; its last known commit is there: `git branch {quote(lane.branch)} {known}`"
    elif lane.backups:
        back = f"; what a rollback kept is there: {lane.backups[-1]}"
    else:
        back = "; no commit of it that a checkpoint names is there either"
    return [f"The branch is gone: {name}{back}."]


def _of_base(lane: Lane) -> list[str]:
    if lane.base is None:
        return ["No checkpoint names the base branch."]
    name = printable(lane.base)
    if lane.base_tip is None:
        return [f"The base branch is gone: {name}. Fetch it or make it again before a merge."]
    return [f"Base: {name} at {lane.base_tip[:12]}"]

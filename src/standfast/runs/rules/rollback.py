"""Rolling a lane back: where to, what is marked, and why not. Pure.

The target is the newest stage before the latest one that went well and whose commit is there. A
second call finds the same target, because what was rolled back counts neither as well nor as new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.lanes import LaneBusy, NoTarget, RollbackRefused
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.rules.lane_view import BAD, last_said, text
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from standfast.protocols.checkpoints.rules.checkpoint import Record
    from standfast.runs.rules.lane_view import Lane

REFS = "refs/standfast/backup"


class Aim(NamedTuple):
    """Where a lane goes back to, and the stages that are rolled back by it."""

    stage: str
    sha: str
    marks: tuple[str, ...]


def shas(records: Iterable[Record]) -> frozenset[str]:
    """Every commit that the records name."""
    names = ("base_sha", "head_sha")
    said = {text(record, name) for record in records for name in names}
    return frozenset(sha for sha in said if sha is not None)


def choose(records: Sequence[Record], there: Collection[str], to: str | None) -> Aim:
    """The target; *records* come oldest write first, *there* are the commits that exist."""
    if to is not None:
        return _named(records, there, to)
    for record in reversed(records[:-1]):
        sha = _sha(record, records)
        if record["status"] not in BAD and sha in there:
            return Aim(str(record["stage"]), str(sha), _later(records, str(record["stage"])))
    start = _named(records, there, cp.BEFORE)
    if records[-1]["stage"] == cp.BEFORE and records[-1]["status"] != cp.ROLLED_BACK:
        return start._replace(marks=(*start.marks, cp.BEFORE))
    return start


def _named(records: Sequence[Record], there: Collection[str], stage: str) -> Aim:
    record = next((each for each in records if each["stage"] == stage), None)
    if record is None and stage != cp.BEFORE:
        raise NoTarget(f"the lane has no checkpoint {stage}")
    sha = _sha(record or {"stage": stage}, records)
    if sha is None:
        raise NoTarget(f"no checkpoint of the lane names the commit of {stage}")
    if sha not in there:
        raise NoTarget(f"the commit of {stage} is not in this repository: {printable(sha[:64])}")
    return Aim(stage, sha, _later(records, stage))


def _sha(record: Record, records: Sequence[Record]) -> str | None:
    """The commit of a stage: where the lane began until its first task, its head from then on."""
    base = text(record, "base_sha") or last_said(records, "base_sha")
    head = text(record, "head_sha")
    if record["stage"] == cp.BEFORE:
        return base or head
    return head or (base if record["stage"] == cp.STARTED else None)


def _later(records: Sequence[Record], stage: str) -> tuple[str, ...]:
    """What was written after that stage; everything, where it is the beginning."""
    stages = [str(record["stage"]) for record in records]
    first = stages.index(stage) + 1 if stage in stages and stage != cp.BEFORE else 0
    return tuple(
        str(record["stage"])
        for record in records[first:]
        if record["status"] != cp.ROLLED_BACK and record["stage"] != stage
    )


def refuse(lane: Lane, aim: Aim, records: Sequence[Record], *, begun: bool) -> None:
    """Refuse what must not be moved; *begun*: one that was cut short is being finished."""
    refuse_outright(lane, records)
    _refuse_branch(lane)
    _refuse_worktree(lane)
    if lane.worktree.locks and not begun:
        raise LaneBusy(f"git is at work there, or died: {printable(lane.worktree.locks[0])}")
    if lane.worktree.pids:
        said = ", ".join(map(str, lane.worktree.pids))
        raise LaneBusy(f"process {said} works in {printable(lane.worktree.path)}")
    is_fresh = lane.tip in (aim.sha, last_said(records, "base_sha"))
    if lane.is_merged and not is_fresh and not begun:
        _refuse_merged(lane)


def refuse_outright(lane: Lane, records: Sequence[Record]) -> None:
    """Refuse what is no lane's, whoever wrote the records, and whoever would trust them."""
    where = printable(lane.worktree.path)
    if lane.worktree.is_there and not lane.worktree.is_ours:
        raise RollbackRefused(f"this is no worktree of this repository: {where}")
    if lane.branch is not None and lane.branch in {lane.base, *_bases(records)}:
        name = printable(lane.branch)
        raise RollbackRefused(f"{name} is the base branch itself, which is never reset")
    if lane.worktree.is_main:
        raise RollbackRefused(f"{where} is the main checkout, which is no lane's")
    if lane.elsewhere is not None:
        name, at = printable(str(lane.branch)), printable(lane.elsewhere)
        raise RollbackRefused(f"{name} is checked out elsewhere: {at}")


def _bases(records: Sequence[Record]) -> set[str]:
    """The branches that lanes start from and go to, by whatever name a record calls them."""
    said = {text(each, name) for each in records for name in ("base_branch", "target_branch")}
    names = {name for name in said if name is not None}
    whole = {name.removeprefix("refs/").removeprefix("heads/") for name in names}
    return names | whole | {name.removeprefix("remotes/").partition("/")[2] for name in whole}


def _refuse_merged(lane: Lane) -> None:
    raise RollbackRefused(
        f"the lane is merged: {printable(str(lane.base))} has all of it",
        remedy="Take it back on the base branch, with a commit that reverts it.",
    )


def _refuse_branch(lane: Lane) -> None:
    if lane.branch is None:
        raise RollbackRefused("no checkpoint names the lane's branch, and none is checked out")
    name = printable(lane.branch)
    if lane.tip is None:
        if lane.is_merged:
            _refuse_merged(lane)
        if not lane.has_begun:
            raise RollbackRefused("the lane has not begun: there is nothing to take back")
        raise RollbackRefused(f"the branch {name} is gone: nothing is left to be reset")


def _refuse_worktree(lane: Lane) -> None:
    tree = lane.worktree
    if not tree.is_there:
        return
    where = printable(tree.path)
    if tree.branch != lane.branch:
        at = printable(tree.branch) if tree.branch else "no branch"
        raise RollbackRefused(f"{where} is on {at}, not on {printable(str(lane.branch))}")
    if tree.unfinished is not None:
        raise RollbackRefused(
            f"{tree.unfinished} is unfinished in {where}",
            remedy="`git status` in that folder shows it, and how to go on or give it up.",
        )


def next_ref(lane: Sequence[str], present: Iterable[str]) -> str:
    """The name of the next backup of a lane (run, phase, lane)."""
    prefix = f"{REFS}/{'/'.join(lane)}/"
    numbers = [name.removeprefix(prefix) for name in present if name.startswith(prefix)]
    return f"{prefix}{max((int(each) for each in numbers if each.isdecimal()), default=0) + 1}"


def fresh(
    files: Mapping[str, tuple[str, str]], kept: Iterable[Mapping[str, tuple[str, str]]]
) -> set[str]:
    """Which files are in none of the trees that were kept, at their place and as they are."""
    held = {(name, what) for tree in kept for name, what in tree.items()}
    return {name for name, what in files.items() if (name, what) not in held}

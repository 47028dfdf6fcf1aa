"""The base branch as a run knows it: an agent can move any branch.

A base from which known commits are gone, one that holds a lane's work before its tests passed, and
one that was moved by nobody who is known need a person.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.errors.base import StandfastError
from standfast.git import branch_moves, replay
from standfast.git.snapshot import tree_of
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes.lane_context import log, recording, resume, step
from standfast.runs.records import lane_records as told
from standfast.runs.rules.lane_steps import BASE, OK, REBASE
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Collection

    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing

_MOST_COMMITS = 10_000
# What a lane's HEAD does without making a commit of its own.
_MOVES = ("reset", "checkout", "branch", "clone")
_STEPS = ("(start)", "(finish)")  # of a rebase, by whatever name: `pull --rebase . main (start)`
_FORWARD = "fast-forward"


def known(work: Work) -> list[str]:
    """Commits that the base must hold; asked before the base is looked at, for others move on."""
    return told.known_bases(work.journal, work.spec)


def rewritten(work: Work, base: str, known: list[str]) -> str | None:
    """Which commit the base branch had and has no more; None where all are there."""
    return next((each for each in known if each != base and not _holds(work, base, each)), None)


def _holds(work: Work, base: str, commit: str) -> bool:
    try:
        return work.git.is_ancestor(commit, base)
    except StandfastError:
        return False  # it is not even there


def rewritten_said(work: Work, base: str, gone: str) -> str:
    """The same in words."""
    return (
        f"{printable(work.spec.base)} was rewritten: it is at {base[:12]}, which does not hold"
        f" {gone[:12]}, where it was"
    )


def way_back(work: Work) -> str:
    """What helps: a person knows whether it was meant."""
    return (
        f"See `git reflog {printable(work.spec.base)}`. If nobody meant it, put the branch back to"
        f" where it was and resume; if you did it: `{resume(work.spec)} --base-rewritten`."
    )


def strange(work: Work, base: str, first: Collection[str]) -> str | None:
    """What is wrong where the base got from *first* to where it is by nobody who is known.

    Known are merges of ours, a person's word, and whoever works in a checkout that is no lane's.
    """
    well = {*first, *told.moved_to(work.journal, work.spec)}
    if base in well:
        return None  # nearly always: then not every lane of the journal has to be looked at
    lanes = {os.path.realpath(each.worktree) for each in told.every(work.journal)}
    if branch_moves.leads_from(work.git, work.spec.base, base, well, lanes):
        return None
    return (
        f"{printable(work.spec.base)} was moved to {base[:12]} by no merge of Standfast, nor in a"
        " checkout that is no lane's"
    )


def moved(work: Work, lane: Standing, base: str) -> str | None:
    """The same, since this lane began."""
    return strange(work, base, {_first(lane)}) if _first(lane) else None


def _first(lane: Standing) -> str:
    return str(lane.marks[cp.BEFORE].record.get("base_sha") or "")


def early(work: Work, lane: Standing, *, is_green: bool) -> str | None:
    """What is wrong where the base holds work of a lane whose tests have not passed.

    Once they are green, the same changes may be there in another commit: somebody squashed them.
    """
    first = _first(lane)
    if _now(work) in {first, ""} or not first:
        return None
    bases = known(work)  # before the base is looked at: others land meanwhile
    base = _now(work)
    well = {first, *told.moved_to(work.journal, work.spec)}
    found = _own_in(work, lane, base, well)
    if found is None and base not in well and not is_green:
        found = _all_in(work, base, well)
    if found is not None:
        return (
            f"{printable(work.spec.base)} holds {found[:12]} of this lane, whose tests have not"
            " passed: it was not merged by Standfast"
        )
    gone = rewritten(work, base, bases)
    return moved(work, lane, base) if gone is None else rewritten_said(work, base, gone)


def _now(work: Work) -> str:
    """Where the base branch is; empty where there is none."""
    return work.git.resolve(f"refs/heads/{work.spec.base}") or ""


def _own_in(work: Work, lane: Standing, base: str, well: Collection[str]) -> str | None:
    """A commit of the lane that is in the base: its last one, whatever made it, or one it made."""
    known = [f"^{each}" for each in well if work.git.resolve(each)]
    most = f"--max-count={_MOST_COMMITS}"
    new = work.git.read("rev-list", most, base, *known).decode().split()
    own = {str(work.tree.head()), *_own(work, lane)}
    return next((each for each in new if each in own), None)


def _all_in(work: Work, base: str, well: Collection[str]) -> str | None:
    """The last commit of a lane, if the base has all that it changed."""
    tip = str(work.tree.head())
    if _is_in(work, tip, well) or not replay.holds(work.git, base, tip):
        return None
    return None if _is_undone(work, tip, {base, *well}) else tip


def _is_undone(work: Work, tip: str, well: Collection[str]) -> bool:
    """Whether a lane is as what it began with, or was put on top of: any base has all of that."""
    tree = tree_of(work.git, tip)
    there = (each for each in well if work.git.resolve(each))
    return any(tree_of(work.git, each) == tree and _holds(work, tip, each) for each in there)


def _is_in(work: Work, tip: str, well: Collection[str]) -> bool:
    """Whether a lane has made nothing beyond what was known."""
    return any(_holds(work, each, tip) for each in well)


def _own(work: Work, lane: Standing) -> set[str]:
    """The commits that were made in the lane's worktree, as its own log of HEAD tells."""
    rebased = lane.steps[REBASE].facts.get("to", "") if REBASE in lane.steps else ""
    log = branch_moves.logged(work.tree.git_directory() / "logs" / "HEAD")
    return {rebased, *(move.new for move in log if not _is_move(move.words))}


def _is_move(words: str) -> bool:
    act, _, about = words.partition(": ")
    return act in _MOVES or act.endswith(_STEPS) or about.lower() == _FORWARD


def accept(work: Work, base: str) -> None:
    """A person says that the base is as it should be."""
    number = told.last_number(work.journal, work.spec, BASE) + 1
    with recording(work) as tx:
        step(work, tx, BASE, number, OK, {"base": base, "branch": work.spec.base})
    log(work, "base_accepted", notes=f"{work.spec.base} at {base[:12]}, as a person says")

"""The base branch as a run knows it: an agent can move any branch.

A base from which known commits are gone, and one that holds a lane's commits before its tests
passed, need a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors import StandfastError
from standfast.journal import lane_steps as told
from standfast.protocol import checkpoints as cp
from standfast.protocol.lane_steps import BASE, MERGE, OK, REBASE
from standfast.protocol.text import printable
from standfast.run.working import log, recording, resume, step

if TYPE_CHECKING:
    from standfast.protocol.lane_steps import Standing
    from standfast.run.working import Work

_MOST_COMMITS = 10_000
_LOG_LIMIT = 16 << 20
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


def early(work: Work, lane: Standing) -> str | None:
    """What is wrong where the base holds commits of a lane whose tests have not passed."""
    first = str(lane.marks[cp.BEFORE].record.get("base_sha") or "")
    base = work.git.resolve(f"refs/heads/{work.spec.base}")
    if base is None or not first or base == first:
        return None
    ours = lane.steps[MERGE].facts.get("new", "") if MERGE in lane.steps else ""
    well = (first, told.accepted(work.journal, work.spec), ours)
    known = [f"^{each}" for each in well if each]
    most = f"--max-count={_MOST_COMMITS}"
    try:
        new = work.git.read("rev-list", most, base, *known).decode().split()
    except StandfastError:
        return None  # a known commit is gone: that is told when it lands
    own = _own(work, lane)
    mine = [each for each in new if each in own]
    if not mine:
        return None
    return (
        f"{printable(work.spec.base)} holds {mine[0][:12]} of this lane, whose tests have not"
        " passed: it was not merged by Standfast"
    )


def _own(work: Work, lane: Standing) -> set[str]:
    """The commits that were made in the lane's worktree, as its own log of HEAD tells."""
    rebased = lane.steps[REBASE].facts.get("to", "") if REBASE in lane.steps else ""
    path = work.tree.git_directory() / "logs" / "HEAD"
    try:
        text = disk.read_regular(str(path), limit=_LOG_LIMIT).decode("utf-8", "replace")
    except (OSError, StandfastError):
        return {rebased, str(work.tree.head())}
    made = {rebased}
    for line in text.splitlines():
        ids, _, words = line.partition("\t")
        if not _is_move(words):
            made |= set(ids.split(" ")[1:2])
    return made


def _is_move(words: str) -> bool:
    act, _, about = words.partition(": ")
    return act in _MOVES or act.endswith(_STEPS) or about.lower() == _FORWARD


def accept(work: Work, base: str) -> None:
    """A person says that the base is as it should be."""
    number = told.last_number(work.journal, work.spec, BASE) + 1
    with recording(work) as tx:
        step(work, tx, BASE, number, OK, {"base": base, "branch": work.spec.base})
    log(work, "base_accepted", notes=f"{work.spec.base} at {base[:12]}, as a person says")

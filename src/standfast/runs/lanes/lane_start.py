"""Beginning a lane: what must be true first, its worktree and branch, and making them again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects import door, settlement
from standfast.effects.effect_folder import EXIT, STARTED, Folder
from standfast.effects.rules import attempt_of
from standfast.errors.base import BadName, WrongUsage
from standfast.errors.lanes import BranchTaken, InTheWay, LaneBlocked
from standfast.git import branches, worktree_state, worktrees
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.redaction.redactor import redact_value
from standfast.runs.lanes import (
    base_history,
    missing_contents,
    setup_leftovers,
    shared_settings,
    torn_restore,
)
from standfast.runs.lanes.lane_commands import keys
from standfast.runs.lanes.lane_context import checkpoint, free_of_locks, log, recording
from standfast.runs.records import lane_records as told
from standfast.runs.rules.lane_steps import BEGUN
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.git.command import Git
    from standfast.journal.store import Journal
    from standfast.plans.lane_spec import Spec
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Next, Standing

_OTHER_NAME = "Choose another name with `--branch`."
_OTHER_PLACE = "Look at that folder, move it away if it is yours to move, then call this again."


def prepare(work: Work, _lane: Standing, _next: Next) -> None:
    """See whether the lane can begin, and only then write down that it will."""
    spec = work.spec
    known = told.find(work.journal, spec.names) is not None
    bases = base_history.known(work) if known else []
    began = told.beginnings(work.journal, spec) if known else set()
    heads = branches.heads(work.git, spec.base, *branches.around(spec.branch))
    base = heads.get(spec.base) or base_commit(work.git, spec.base)
    gone = base_history.rewritten(work, base, bases)
    if gone is not None:
        raise LaneBlocked(
            base_history.rewritten_said(work, base, gone), remedy=base_history.way_back(work)
        )
    strange = base_history.strange(work, base, began) if began else None
    if strange is not None:
        raise LaneBlocked(strange, remedy=base_history.way_back(work))
    if not known:
        _refuse_secrets(spec)
    if not (known and told.last_seq(work.journal, spec.names)):  # a plan's lane is known from afar
        _refuse_taken(spec, heads, is_new=not known)
    with recording(work) as tx:
        if not known:
            told.specify(tx, spec, work.author)
        checkpoint(work, tx, cp.BEFORE, cp.READY, base_sha=base, head_sha=base)


def _refuse_secrets(spec: Spec) -> None:
    """The journal keeps no secrets: a runner that came back without them would be another one."""
    held = spec.as_dict()["runners"]
    if redact_value(held) != held:
        raise WrongUsage(
            "a runner of the lane holds what looks like a secret: the journal would not keep it",
            remedy="Give it to the client by the environment that Standfast is called with.",
        )


def base_commit(git: Git, branch: str) -> str:
    """The commit that a lane starts from, or goes to."""
    try:
        found = git.resolve(f"refs/heads/{branch}")
    except BadName:
        found = None
    if found is None:
        if not git.read("for-each-ref", "--count=1"):
            raise LaneBlocked("the repository has no commit yet: there is nothing to start from",
                              remedy="Commit something, then call this again.")  # fmt: skip
        raise LaneBlocked(f"there is no branch `{printable(branch)}` to start from and go to",
                          remedy="Make it, or name another with `--base`; then call this again."
                          )  # fmt: skip
    return found


def _refuse_taken(spec: Spec, heads: Mapping[str, str], *, is_new: bool) -> None:
    """Nothing that somebody else made is taken for the lane's; only a new one can be named anew."""
    taken = branches.in_the_way(heads, spec.branch)
    if taken is not None:
        also = "" if taken == spec.branch else f": `{printable(spec.branch)}` cannot be beside it"
        raise BranchTaken(f"there is a branch `{printable(taken)}` already{also}",
                          remedy=_OTHER_NAME if is_new else None)  # fmt: skip
    if os.path.lexists(spec.worktree):
        raise InTheWay("this is where the lane's worktree would be", file=spec.worktree,
                       remedy=_OTHER_PLACE if is_new else None)  # fmt: skip


def start(work: Work, lane: Standing, _next: Next) -> None:
    """Make the branch and the worktree; after a death in the middle, finish making them."""
    spec = work.spec
    base = str(lane.marks[cp.BEFORE].record["base_sha"])
    make_room(work)
    worktrees.add(work.git, spec.worktree, spec.branch, base)
    seen = shared_settings.look(work)
    with recording(work) as tx:
        checkpoint(work, tx, cp.STARTED, cp.IN_PROGRESS, head_sha=base)
        shared_settings.note(work, tx, seen)
    log(work, "lane_start", notes=f"{spec.branch} at {base[:12]}, from {spec.base}")
    lacks = missing_contents.look(work.tree)
    if lacks is not None:
        log(work, "worktree_lacks", notes=lacks)


def make_room(work: Work) -> None:
    """The folders on the way to the worktree and the log: a repository may have put links there."""
    for path in (work.spec.worktree, work.log_path):
        if path.startswith(work.root + os.sep):
            disk.make_folders_beneath(work.root, os.path.relpath(path, work.root))


def see_to_worktree(work: Work, lane: Standing) -> bool:
    """The worktree may be gone, and its branch: both are made again from what refs still name.

    Gives whether it is ready: a new one may have to be prepared first.
    """
    spec = work.spec
    known = worktree_state.own_folder(work.git.common_directory(), os.path.realpath(spec.worktree))
    if known is not None and os.path.lexists(os.path.join(spec.worktree, ".git")):
        if not worktrees.can_be_read(work.tree):
            _mend_refs(work, lane)
        return True
    start_at = work.git.resolve(f"refs/heads/{spec.branch}") or _last_commit(work.git, lane)
    if start_at is None:
        raise LaneBlocked(
            f"the worktree and the branch {printable(spec.branch)} are gone, and no commit that a"
            " checkpoint names is there any more"
        )
    make_room(work)
    if spec.is_prepared:
        setup_leftovers.begin(
            work, {}
        )  # said first: a death right after must not leave it unprepared
    worktrees.add(work.git, spec.worktree, spec.branch, start_at)
    log(work, "worktree_recovery", notes=f"{spec.worktree} was gone; at {start_at[:12]} again")
    return not spec.is_prepared


def _mend_refs(work: Work, lane: Standing) -> None:
    """A power cut can leave empty what an agent's own git wrote: that syncs nothing."""
    commit = _last_commit(work.git, lane)
    if commit is None:
        raise LaneBlocked(
            f"the branch {printable(work.spec.branch)} is damaged, and no commit that a checkpoint"
            " names is there any more",
            file=work.spec.worktree,
        )
    worktrees.put_right(work.git, work.spec.worktree, work.spec.branch, commit)
    log(work, "worktree_recovery", notes=f"{work.spec.branch} was damaged; at {commit[:12]} again")


def _last_commit(git: Git, lane: Standing) -> str | None:
    """The newest commit of the lane that some record or step names and that is still there."""
    told_by = [*lane.marks.values()]
    newest = sorted(told_by, key=lambda mark: mark.seq, reverse=True)
    named = [str(mark.record.get("head_sha") or "") for mark in newest]
    steps = sorted(lane.steps.values(), key=lambda step: step.seq, reverse=True)
    commits = [step.facts.get("head", "") for step in steps]
    return next((sha for sha in [*commits, *named] if sha and git.resolve(sha)), None)


def see_to_the_dead(work: Work, lane: Standing, name: str, number: int) -> None:
    """A run that was begun and of which nothing lives: a power cut may have torn its git's work."""
    dead = dead_of(work, lane, name, number)
    if dead is None:
        return
    if not (dead.is_of_another_boot() or dead.is_of_another_mount()):  # a kill tears nothing
        free_of_locks(work, work.tree)
        return
    torn = worktrees.put_aside(work.git, os.path.join(work.journal.folder, "torn"))
    if torn:
        _mend_refs(work, lane)
        log(work, "worktree_recovery", notes=f"{len(torn)} objects of git were torn")
    free_of_locks(work, work.tree)
    torn_restore.restore(work, dead)


def dead_of(work: Work, lane: Standing, name: str, number: int) -> Folder | None:
    """The attempt at a run of a step that nobody saw end, if there is one."""
    step = lane.steps.get(name)
    if step is None or (step.state, step.number) != (BEGUN, number):
        return None
    found = (_dead(work.journal, key) for key in keys(work, name, number))
    return next((each for each in found if each is not None), None)


def _dead(journal: Journal, name: str) -> Folder | None:
    """The last attempt that began, if there is no record of its end and nothing of it lives."""
    attempt = settlement.last_attempt(journal, name)
    key = attempt_of(name, attempt)
    folder = Folder(journal.folder, key)
    if not os.path.lexists(folder.at(STARTED)):
        before = attempt_of(name, attempt - 1)
        return Folder(journal.folder, before) if attempt > 1 else None
    is_known = door.find(journal, key) is not None or os.path.lexists(folder.at(EXIT))
    return None if is_known or folder.is_alive() else folder

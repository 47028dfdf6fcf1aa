"""Rolling a lane back: look, decide (runs/rules/rollback.py), act; nothing that was there is lost.

What is in the worktree and on the branch is put under a ref and made durable; then it is said what
is about to be moved; then it is moved; then that is said, with the records that it marks. Whoever
dies in between is followed by the next call, which finds what was said and goes on from there.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, scratch_folder
from standfast.effects import orphans, person_answers
from standfast.errors.base import NoCheckpoint, StandfastError
from standfast.errors.lanes import LaneBusy, RollbackRefused, WorktreeElsewhere
from standfast.git import snapshot, worktree_contents, worktree_state, worktrees
from standfast.git.command import Git
from standfast.journal import locks, place
from standfast.processes.programs import having_open, lock_holders
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.runs import run_locks
from standfast.runs.lanes import lane_look
from standfast.runs.records import lane_records, rollback_records
from standfast.runs.rules import rollback as decided
from standfast.runs.rules.lane_steps import BEGUN, MERGE
from standfast.runs.rules.lane_view import last_said
from standfast.runs.vouched_lanes import refuse_place
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from standfast.git.snapshot import Snapshot
    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.protocols.checkpoints.records.checkpoint_records import Kept
    from standfast.protocols.checkpoints.rules.checkpoint import Record
    from standfast.runs.records.rollback_records import Told
    from standfast.runs.rules.lane_view import Lane
    from standfast.runs.rules.rollback import Aim

    Names = tuple[str, str, str]

LOCK = "rollback.lock"


class Asked(NamedTuple):
    """A lane, and the stage to go back to, if one was named."""

    run_id: str
    phase: str
    lane: str
    to: str | None = None


class Done(NamedTuple):
    """What a rollback came to; *moved* is false where everything was there already."""

    told: Told | None
    aim: Aim
    moved: bool
    left: tuple[str, ...] = ()  # files that changed meanwhile, and stayed


class Foreign(NamedTuple):
    """A lane of which the repository says where it is and what it goes back to."""

    names: Names
    lane: Lane
    records: list[Record]


class _Work(NamedTuple):
    """One rollback that may go on."""

    journal: Journal
    git: Git  # of the worktree, or of the repository where that is gone
    asked: Asked
    kept: list[Kept]
    lane: Lane
    aim: Aim
    open: Told | None  # a rollback that was cut short
    author: Author


def roll_back(
    journal: Journal,
    root: str,
    asked: Asked,
    author: Author,
    spare: Collection[str] = (),
    roots: Sequence[str] = (),
    vouched: Callable[[Foreign], None] | None = None,
) -> Done:
    """Take the lane back; files of *spare* (absolute) stay where they are.

    It works below *root*, or one of *roots*: what a record says may lead anywhere. Where the
    repository says what is to be moved, *vouched* raises unless a person has said that it may be.
    """
    with _alone(journal), run_locks.taken(journal, run_locks.LANES, *asked[:3]):
        _refuse_unvouched(journal, root, asked, roots, vouched)
        work = _decide(journal, root, asked, author, roots)
        with scratch_folder.folder() as folder:
            taken = _snapshot(work, Path(folder))
        if work.open is None and _is_there(work, taken):
            return Done(None, work.aim, moved=False)
        told = _keep(work, taken)
        left = _move(work, told, spare)
        _settle(work)
        person_answers.close(journal, f"lane/{'/'.join(asked[:3])}/", author, by="rollback")
        _tell(work, told)
        return Done(told, work.aim, moved=True, left=tuple(left))


@contextmanager
def _alone(journal: Journal) -> Iterator[None]:
    """One rollback at a time; a second caller is told who is at it."""
    path = os.path.join(journal.folder, LOCK)
    fd = locks.open_lock(path)
    try:
        if not locks.try_lock(fd):
            who = ", ".join(map(str, lock_holders(path)))
            raise LaneBusy(f"another rollback is under way: process {who or 'unknown'}")
        yield
    finally:
        os.close(fd)


# Look and decide.


def _kept(journal: Journal, asked: Asked) -> list[Kept]:
    """The records of the lane; what the repository says of one that was begun here is nothing."""
    is_ours = lane_records.find(journal, asked[:3]) is not None
    kept = (recorded.own if is_ours else recorded.current)(journal, *asked[:3])
    if not kept:
        raise NoCheckpoint("there is no such checkpoint")
    return kept


def _refuse_unvouched(
    journal: Journal,
    root: str,
    asked: Asked,
    roots: Sequence[str],
    vouched: Callable[[Foreign], None] | None,
) -> None:
    """Before anything is touched: what nobody may trust is refused first, and never asked about."""
    kept = _kept(journal, asked)
    if not any(each.is_foreign for each in kept):
        return
    records = [each.record for each in kept]
    _refuse_foreign(journal, [root, *roots], last_said(records, "worktree_path") or root)
    lane = lane_look.look(root, asked[:3], records)
    decided.refuse_outright(lane, records)
    if vouched is None:
        raise RollbackRefused("the repository says what would be moved, and nobody was asked")
    vouched(Foreign(asked[:3], lane, records))


def _decide(
    journal: Journal, root: str, asked: Asked, author: Author, roots: Sequence[str]
) -> _Work:
    names = asked[:3]
    kept = _kept(journal, asked)
    records = [each.record for each in kept]
    _refuse_foreign(journal, [root, *roots], last_said(records, "worktree_path") or root)
    _refuse_half_merged(journal, names)
    _refuse_alive(journal, names)
    _clear_locks(root, records)
    lane = lane_look.look(root, names, records)
    last = rollback_records.last(journal, *names)
    begun = last if last is not None and not last.is_done else None
    if begun is not None and asked.to not in (None, begun.to_stage):
        raise RollbackRefused(
            f"a rollback of this lane to {begun.to_stage} was cut short, and comes first",
            remedy="Call it again without `--to`: it is finished then.",
        )
    if begun is not None:
        aim = decided.Aim(begun.to_stage, begun.target, begun.marks)
    else:
        aim = decided.choose(records, lane.commits, asked.to)
    decided.refuse(lane, aim, records, begun=begun is not None)
    git = Git(directory=Path(lane.worktree.path if lane.worktree.is_there else root))
    return _Work(journal, git, asked, kept, lane, aim, begun, author)


def _refuse_foreign(journal: Journal, allowed: Sequence[str], path: str) -> None:
    """A record may name any folder; one elsewhere must say itself that it is this repository's."""
    if not os.path.lexists(path) or _leads_here(journal, path):
        return
    try:
        refuse_place(allowed, path)
    except WorktreeElsewhere as elsewhere:
        problem = f"{printable(path)} is no worktree of this repository"
        raise RollbackRefused(problem) from elsewhere


def _leads_here(journal: Journal, path: str) -> bool:
    if not os.path.isdir(path):
        return False
    found = place.find(path, state_home=os.sep)
    return found.in_git and os.path.realpath(found.folder) == os.path.realpath(journal.folder)


def _refuse_half_merged(journal: Journal, names: Sequence[str]) -> None:
    """A merge that died may have left files in somebody's checkout: only resume puts it right."""
    spec = lane_records.find(journal, names)
    lane = lane_records.standing(journal, spec) if spec is not None else None
    merge = lane.steps.get(MERGE) if lane is not None else None
    if lane is None or merge is None or merge.state != BEGUN:
        return
    if lane.is_at(rules.PRE_PR, rules.READY):
        raise RollbackRefused(
            "the merge of this lane was begun and cut short: it may be half done",
            remedy="Resume the lane first: that finishes the merge, or says what is in its way.",
        )


def _refuse_alive(journal: Journal, names: Sequence[str]) -> None:
    """A command of the lane that lives writes on, wherever it stands."""
    prefix = f"lane/{'/'.join(names)}/"
    for each in orphans.every(journal):
        if each.pids and each.key.startswith(prefix):
            raise LaneBusy(
                f"a command of the lane is still running: `{each.key}`, process {each.pids[0]}",
                remedy="Wait for it, or end it: see `standfast ps` and `standfast reap`.",
            )


def _clear_locks(root: str, records: Sequence[Record]) -> None:
    """Locks of a git that died are taken away; one that is at work is left to be named."""
    path = last_said(records, "worktree_path") or root
    if os.path.lexists(os.path.join(path, ".git")):
        try:
            found = worktrees.locks(Git(directory=Path(path)), last_said(records, "branch"))
        except StandfastError:
            return
        worktree_state.clear([Path(lock) for lock in found])


def _snapshot(work: _Work, scratch: Path) -> Snapshot | None:
    return snapshot.take(work.git, work.aim.sha, scratch) if work.lane.worktree.is_there else None


def _is_there(work: _Work, taken: Snapshot | None) -> bool:
    """Whether nothing is left to do: the branch, the files, the index and the records."""
    tree = snapshot.tree_of(work.git, work.aim.sha)
    is_clean = taken is None or taken.tree == taken.staged == tree
    return is_clean and work.lane.tip == work.aim.sha and not work.aim.marks


# Keep.


def _keep(work: _Work, taken: Snapshot | None) -> Told:
    """A ref to all that the target has not, and then the word that it is about to be moved."""
    if work.open is not None and _is_kept(work, taken, work.open):
        return work.open
    before = work.open.backups if work.open is not None else ()
    backup = _backup(work, taken)
    told = rollback_records.Told(
        *work.asked[:3],
        to_stage=work.aim.stage,
        target=work.aim.sha,
        branch=str(work.lane.branch),
        marks=work.aim.marks,
        backups=(*before, backup) if backup else before,
    )
    with work.journal.writing() as tx:
        rollback_records.tell(tx, told, work.author)
    return told


def _is_kept(work: _Work, taken: Snapshot | None, told: Told) -> bool:
    """Whether all that is there now is in what was kept, or in the target: as after a death."""
    if not all(map(work.git.resolve, told.backups)):
        return False  # somebody deleted a ref
    commits = [*told.backups, told.target]
    tips = [work.lane.tip, taken.head if taken else None]
    kept_tips = all(
        tip is None or any(work.git.is_ancestor(tip, each) for each in commits) for tip in tips
    )
    if taken is None or not kept_tips:
        return kept_tips
    trees = [snapshot.files_of(work.git, each) for each in (*commits, *_parents(work.git, told))]
    staged = snapshot.files_of(work.git, taken.staged)
    return not decided.fresh(taken.files, trees) and not decided.fresh(staged, trees)


def _parents(git: Git, told: Told) -> list[str]:
    """What was staged is a parent of what was kept."""
    if not told.backups:
        return []
    lines = git.read("rev-list", "--parents", "--no-walk", *told.backups).decode().split()
    return list(dict.fromkeys(lines))


def _backup(work: _Work, taken: Snapshot | None) -> str | None:
    """Make the ref, or take the one that a call before this one made and died.

    None where the branch, when it is back, still has all of it: nothing has to be kept.
    """
    last = work.kept[-1]
    lane = "/".join(work.asked[:3])
    commit = str(work.lane.tip)
    if taken is not None:
        words = f"Before the rollback of {lane} to {work.aim.stage}, at {last.id}"
        moment = last.at // clock.MICROSECONDS
        commit = snapshot.commit(work.git, taken, words, moment, [work.lane.tip])
    made = None if work.git.is_ancestor(commit, work.aim.sha) else _ref_to(work, commit)
    # An agent's own commits are not synced: all that the lane may have made is synced now.
    work.git.make_durable()
    return made


def _ref_to(work: _Work, commit: str) -> str:
    for ref in work.lane.backups[-1:]:
        if work.git.resolve(ref) == commit:
            return ref
    made = decided.next_ref(work.asked[:3], work.lane.backups)
    worktree_state.clear([work.git.common_directory() / f"{made}.lock"])  # of a git that died
    work.git.write("update-ref", made, commit, "0" * len(commit))
    return made


# Move.


def _move(work: _Work, told: Told, spare: Collection[str]) -> list[str]:
    """Reset the branch and the worktree, and take away what was kept and is not in the target."""
    tree = work.lane.worktree
    if not tree.is_there:
        work.git.write("update-ref", f"refs/heads/{told.branch}", told.target, str(work.lane.tip))
        return []
    _sweep(work)
    work.git.write("reset", "--hard", "--quiet", told.target)
    if work.open is not None:  # git may take what a power cut tore for what it wrote before
        torn = [name for name, how in worktree_contents.differing(work.git).items() if how == "M"]
        worktree_contents.restore(work.git, torn, told.target)
    wanted = snapshot.files_of(work.git, told.target)
    kept = [
        (name, entry)
        for backup in filter(work.git.resolve, told.backups)
        for name, entry in snapshot.files_of(work.git, backup).items()
        if name not in wanted and entry[0] != snapshot.SUBMODULE
    ]
    over = [each for each in kept if os.path.join(tree.path, each[0]) not in spare]
    snapshot.remove_kept(Path(tree.path), over, work.git.object_format())
    names = dict.fromkeys(name for name, _ in over)
    return [name for name in names if os.path.lexists(os.path.join(tree.path, name))]


def _sweep(work: _Work) -> None:
    """Locks that the reset of a call before this one left when it was killed."""
    found = list(work.lane.worktree.locks)
    for path in found:
        holders = having_open(path)
        if holders:
            raise LaneBusy(f"process {', '.join(map(str, holders))} has {path} open")
    worktrees.sweep(found)


def _settle(work: _Work) -> None:
    """Make it durable: what the reset wrote, and where the branch is now."""
    if work.lane.worktree.is_there:
        top = work.lane.worktree.path
        names = snapshot.files_of(work.git, work.aim.sha)
        worktree_contents.sync_files(top, names)
    work.git.make_durable()


# Tell.


def _tell(work: _Work, told: Told) -> None:
    """The records and the word that it is done, together."""
    kept = f", kept as {told.backup}" if told.backup else ""
    words = f"rolled back to {told.to_stage}{kept}"
    with work.journal.writing() as tx:
        for each in work.kept:
            if each.key.stage in told.marks:
                recorded.take_back(tx, each.key, words, work.author)
        rollback_records.tell(tx, told._replace(is_done=True), work.author)

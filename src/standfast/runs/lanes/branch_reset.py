"""Moving a lane's own branch to other commits: what is in its worktree and nowhere else is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, filesystems, scratch_folder
from standfast.errors.lanes import LaneBlocked
from standfast.git import snapshot, worktree_contents, worktree_state
from standfast.runs.lanes.lane_context import free_of_locks
from standfast.runs.rules import rollback as kept

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.git.command import Git
    from standfast.git.snapshot import Files
    from standfast.runs.lanes.lane_context import Work


def move(work: Work, old: str, new: str) -> None:
    """Take branch and worktree from *old* to *new*; called again after a death, it finishes."""
    git, ref = work.git, f"refs/heads/{work.spec.branch}"
    if not os.path.lexists(os.path.join(work.spec.worktree, ".git")):
        if old != new:
            git.write("update-ref", ref, new, old)
            git.make_durable(objects=False)
        return
    tree = work.tree
    if tree.branch() != work.spec.branch:
        raise LaneBlocked(f"the worktree is not on {work.spec.branch}", file=work.spec.worktree)
    free_of_locks(work, tree)
    if old == new:
        return
    _keep(work, tree, old, new)
    tree.write("reset", "--hard", "--quiet", new)
    sync(tree, new)


def sync(tree: Git, commit: str) -> None:
    """Files, then what speaks of them: the worktree may be on a disk of its own."""
    top = str(tree.directory)
    if not filesystems.sync(top):
        worktree_contents.sync_files(top, snapshot.files_of(tree, commit))
    tree.make_durable(objects=False)


def _keep(work: Work, tree: Git, old: str, new: str) -> None:
    """What a reset would take away and neither commit holds goes under a ref first."""
    if not tree.read("status", "--porcelain", "--untracked-files=all", "--ignored=matching"):
        return
    with scratch_folder.folder() as folder:
        taken = snapshot.take(tree, new, Path(folder))
    held = [snapshot.files_of(tree, commit) for commit in (old, new)]
    staged = snapshot.files_of(tree, taken.staged)
    if not (kept.fresh(taken.files, held) | kept.fresh(staged, held)):
        return
    words = f"What was in the worktree of {'/'.join(work.spec.names)} and in no commit"
    commit = snapshot.commit(tree, taken, words, clock.now_us() // clock.MICROSECONDS, [old])
    made = _name(work, tree, commit)
    work.tell(f"kept, before the branch moves: {made}")


def _name(work: Work, tree: Git, commit: str) -> str:
    """Put a commit under a ref of the lane's own, durably."""
    prefix = f"{kept.REFS}/{'/'.join(work.spec.names)}/"
    present = tree.read("for-each-ref", "--format=%(refname)", prefix).decode().split()
    made = kept.next_ref(work.spec.names, present)
    worktree_state.clear([tree.common_directory() / f"{made}.lock"])  # of a git that died
    tree.write("update-ref", made, commit, "0" * len(commit))
    tree.make_durable()
    return made


def keep(work: Work, words: str, instead: Files | None = None) -> str:
    """Put all that is in the worktree under a ref of the lane's, and leave it there; gives that."""
    tree = work.tree
    with scratch_folder.folder() as folder:
        taken = snapshot.take(tree, "HEAD", Path(folder), instead)
    return _name(work, tree, snapshot.commit(tree, taken, words, _now_s(), []))


def _now_s() -> int:
    return clock.now_us() // clock.MICROSECONDS


class Kept(NamedTuple):
    """What was taken out of a worktree, and where it is now."""

    ref: str
    names: tuple[str, ...]


def set_aside(work: Work, head: str) -> Kept | None:
    """Leave nothing but *head* in the worktree; what else is there goes under a ref first."""
    tree = work.tree
    free_of_locks(work, tree)
    with scratch_folder.folder() as folder:
        taken = snapshot.take(tree, head, Path(folder))
    wanted = snapshot.files_of(tree, head)
    names = [name for name, entry in taken.files.items() if wanted.get(name) != entry]
    names += [name for name, (mode, _) in wanted.items()
              if name not in taken.files and mode != snapshot.SUBMODULE]  # fmt: skip
    names = [name for name in names if name not in work.spare]
    if taken.head == head and not names:
        return None
    words = f"What was in the worktree of {'/'.join(work.spec.names)}, and was set aside"
    commit = snapshot.commit(tree, taken, words, clock.now_us() // clock.MICROSECONDS, [])
    ref = _name(work, tree, commit)
    tree.write("reset", "--soft", "--quiet", head)
    over = {name: entry for name, entry in taken.files.items()
            if name not in wanted and name not in work.spare}  # fmt: skip
    put(tree, [name for name in names if name in wanted], over)
    return Kept(ref, tuple(sorted(names)))


def put(tree: Git, names: Iterable[str], over: Files) -> None:
    """Files as HEAD has them, whole and durable each; what is kept and over goes before that."""
    wanted = list(names)
    snapshot.remove_kept(tree.directory, over.items(), tree.object_format())
    worktree_contents.restore(tree, wanted, "HEAD")
    worktree_contents.sync_files(str(tree.directory), wanted)
    tree.write("reset", "--quiet")
    tree.make_durable(objects=False)

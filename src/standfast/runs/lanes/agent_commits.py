"""What an agent left in its worktree: complete work is committed, and made durable."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import GitFailed, SpecialFile, StandfastError
from standfast.errors.lanes import LaneBlocked
from standfast.git import changes, special_files, worktrees
from standfast.runs.lanes import face_files, lane_faces
from standfast.runs.lanes.lane_context import free_of_locks
from standfast.text import a_few, printable

if TYPE_CHECKING:
    from standfast.git.command import Git
    from standfast.runs.lanes.lane_context import Work

GONE = "the worktree was gone when it ended"
# Whoever has told git no name still gets commits; every name that git knows goes before this one.
NOBODY = {
    f"GIT_{who}_{what}": said
    for who in ("AUTHOR", "COMMITTER")
    for what, said in (("NAME", "Standfast"), ("EMAIL", "standfast@localhost"))
}
_NAMELESS = (
    *("unable to auto-detect email", "empty ident name", "tell me who you are"),
    *("no email was given", "no name was given"),
)


def amiss(work: Work) -> str | None:
    """What an agent may have done to its own worktree."""
    spec = work.spec
    if not os.path.lexists(os.path.join(spec.worktree, ".git")):
        return GONE
    try:
        tree = work.tree
        if tree.common_directory() != work.git.common_directory():
            return "the worktree belongs to another repository now"
        if os.path.realpath(tree.toplevel()) != os.path.realpath(spec.worktree):
            return "core.worktree makes git work elsewhere than in the worktree"
        branch, unfinished = tree.branch(), worktrees.unfinished(tree)
    except SpecialFile:
        raise  # it is in nobody's worktree: a person has to look at it
    except StandfastError as error:
        return f"the worktree cannot be read any more: {error.problem}"
    if branch == spec.branch and unfinished:
        return f"{unfinished} is unfinished in the worktree: finish it or break it off there first"
    at = f"on {printable(branch)}" if branch else "on no branch"
    strays = f"the worktree is {at}, not on {printable(spec.branch)}: check that out there first"
    return strays if branch != spec.branch else None


def put_away(top: str) -> str | None:
    """Take away what git would wait for for ever: nothing is in it that could be lost."""
    found = special_files.in_tree(top)
    for path in found:
        disk.forget(path)
    names = a_few([os.path.relpath(path, top) for path in found])
    return f"a pipe, a socket or a device stood where git reads a file: {names}" if found else None


def commit(work: Work, title: str) -> str:
    """Commit all that git shows as changed or new, but for our faces; gives where HEAD is then.

    What is said in faces is taken out of what was committed before, too.
    """
    tree = work.tree
    free_of_locks(work, tree)
    before, shown = face_files.looked_at(work), changes.paths(tree)
    ours = face_files.among(work, shown)
    head = _commit(work, tree, title, [name for name in shown if name not in ours])
    known = face_files.is_next(work, head, before)
    return lane_faces.leave_out(work, tree, head, ours, known=known)


def _commit(work: Work, tree: Git, title: str, names: list[str]) -> str:
    if not names:
        return str(tree.head())
    _refuse_filtered(work, tree, names)
    try:
        return tree.commit_durably(names, title)
    except GitFailed as error:
        if _is_committed(tree, names):
            tree.make_durable()
            return str(tree.head())
        if not any(words in error.problem for words in _NAMELESS):
            raise
    nameless = tree.at(tree.directory, **NOBODY)
    return nameless.commit_durably(names, title)


def _is_committed(tree: Git, names: list[str]) -> bool:
    """Whether a call that died had committed this, and only git's index had not followed."""
    return tree.head() is not None and not {*names} & {*changes.paths(tree)}


def _refuse_filtered(work: Work, tree: Git, names: list[str]) -> None:
    """Filters of a repository are not run here, and without them such a file must not be kept."""
    found = changes.filtered(tree, names)
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise LaneBlocked(
            f"{printable(found[0])}{more} goes through a filter of git (as with git-crypt or LFS),"
            " which is not run for what a repository says",
            file=work.spec.worktree,
            remedy="Commit it in the lane's worktree yourself, then resume the lane.",
        )

"""Moving a branch forward, also under the feet of a person who has it checked out.

The files of the checkout come first and are made durable, then the branch is moved, then the index
follows; all of it while no other git can work there (index_lock.py).
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from standfast.errors.base import GitFailed, StandfastError
from standfast.errors.lanes import BaseMoved, BaseRefused
from standfast.git import fast_forward, index_lock, worktree_state
from standfast.git.durable_files import object_paths, sync_all

if TYPE_CHECKING:
    from standfast.git.command import Git
    from standfast.git.fast_forward import Checkout

_REBASES = ("rebase-merge/head-name", "rebase-apply/head-name")
_WORDS = "standfast: fast-forward"


def advance(git: Git, branch: str, old: str, new: str) -> list[str]:
    """Move *branch* from *old* to *new*, its checkouts with it, durably.

    Gives files of its checkouts that did not become what they should have.
    """
    ref = f"refs/heads/{branch}"
    at = git.resolve(ref)
    if at != old or at == new or not git.is_ancestor(old, new):
        _refuse_moved(git, branch, at, old, new)
        end_begun(git, branch)
        return []
    _refuse_rebased(git, branch)
    worktree_state.refuse_elsewhere(git)
    doors = _doors(git, branch)
    with ExitStack() as stack:
        places = _checkouts(git, doors, old, new)
        mine = [stack.enter_context(index_lock.held(place, branch)) for place in places]
        _bring_forward(mine, git, ref, old, new)
    _settle(git, branch, doors)
    return [name for place in places for name in fast_forward.unlike(place)]


def end_begun(git: Git, branch: str) -> None:
    """Make good what a call that died left in the checkouts of a branch, however far it came."""
    doors = _doors(git, branch)
    for door in doors:
        place = fast_forward.Checkout(door, str(door.directory), "", "", [])
        with suppress(BaseMoved), index_lock.taken(place, branch):
            index_lock.end_begun(place)
    _settle(git, branch, doors)


def _bring_forward(places: list[Checkout], git: Git, ref: str, old: str, new: str) -> None:
    """All of them and the branch, or none: what was written is taken back where one refuses."""
    whole: list[Checkout] = []
    try:
        for place in places:
            fast_forward.refuse_others(place)
        for place in places:
            fast_forward.bring_forward(place)
            whole.append(place)
        _move(places[0].git if places else git, ref, old, new)
    except BaseException as error:  # an interrupt too: what stays would pass for a person's edits
        if _is_moved(git, ref, new):
            raise  # the next call finishes it from there
        kept = _taken_back(places, whole)
        if kept and isinstance(error, StandfastError):
            words = f"{error.problem}; {fast_forward.naming(kept)}"
            raise BaseRefused(words, file=error.file) from error
        raise


def _is_moved(git: Git, ref: str, new: str) -> bool:
    try:
        return git.resolve(ref) == new
    except StandfastError:
        return True  # nobody can tell: it is left as a kill would leave it


def _taken_back(places: list[Checkout], whole: list[Checkout]) -> list[str]:
    kept: list[str] = []
    for place in places:
        with suppress(StandfastError, OSError):  # the first reason is the one that counts
            kept += _as_before(place, is_whole=place in whole)
    return kept


def _as_before(place: Checkout, *, is_whole: bool) -> list[str]:
    """Take back what was written; where a call before this one died, its mark stays."""
    kept = fast_forward.take_back(place)
    if is_whole or not place.died:
        index_lock.unmark(place)
    return kept


def _checkouts(git: Git, doors: list[Git], old: str, new: str) -> list[Checkout]:
    changes = fast_forward.changes(git, old, new) if doors else []
    return [fast_forward.Checkout(door, str(door.directory), old, new, changes) for door in doors]


def _doors(git: Git, branch: str) -> list[Git]:
    """One to each worktree that has the branch."""
    tops = [each.path for each in worktree_state.listed(git) if each.branch == branch]
    there = [top for top in tops if os.path.lexists(os.path.join(top, ".git"))]
    return [git.at(top) for top in there]


# May it be moved?


def _refuse_moved(git: Git, branch: str, at: str | None, old: str, new: str) -> None:
    """It is not where it would be moved from; that is well only if it is there already."""
    if at is not None and git.is_ancestor(new, at):
        return
    if at != old:
        raise BaseMoved(f"{branch} is at {at or 'no commit'}, not at {old}")
    raise BaseMoved(f"{branch} is at {old}, from where no way leads forward to {new}")


def _refuse_rebased(git: Git, branch: str) -> None:
    """A rebase has the branch checked out in secret, and would put it back at its end."""
    common = git.common_directory()
    for home in (common, *worktree_state.folders(common)):
        heads = {worktree_state.read_line(home / name) for name in _REBASES}
        if (
            f"refs/heads/{branch}" in heads
            or worktree_state.read_line(home / "BISECT_START") == branch
        ):
            raise BaseRefused(f"{branch} is in the middle of a rebase or a bisection")


# The branch.


def _move(git: Git, ref: str, old: str, new: str) -> None:
    """The commits first: they may be somebody's, who did not sync them."""
    common = git.common_directory()
    sync_all(object_paths(common, _objects(git, old, new)))
    fast_forward.clear((common / f"{ref}.lock",))
    try:
        git.write("update-ref", "-m", _WORDS, ref, new, old)
    except GitFailed as error:
        at = git.resolve(ref)
        if at == old:
            raise
        if at is None or not git.is_ancestor(new, at):  # else the git of a dead caller did it
            raise BaseMoved(f"{ref} was moved meanwhile") from error


def _settle(git: Git, branch: str, doors: list[Git]) -> None:
    """It is there: nobody finds a lock of a git that died, and a power cut changes nothing."""
    fast_forward.clear((git.common_directory() / "refs" / "heads" / f"{branch}.lock",))
    for door in doors:
        fast_forward.clear((door.git_directory() / "HEAD.lock",), str(door.directory))
    for door in doors or [git]:
        door.make_durable(objects=False)


def _objects(git: Git, old: str, new: str) -> list[str]:
    how = ("--objects", "--no-object-names", new, f"^{old}")
    return git.read("rev-list", *how).decode().split()

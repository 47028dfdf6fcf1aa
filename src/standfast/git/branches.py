"""Where branches are, several in one call of git, and which names can stand beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import BadName, GitFailed
from standfast.git import worktree_state
from standfast.git.command import checked_ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from standfast.git.command import Git

_HEADS = "refs/heads/"


def heads(git: Git, *names: str) -> dict[str, str]:
    """The commits of these branches, and of those below them; a name that is none has none."""
    refs = [f"{_HEADS}{name}" for name in names if _may_be(name)]
    if not refs:
        return {}
    said = git.read("for-each-ref", "--format=%(objectname) %(refname)", *refs).decode()
    found = (line.split(" ", 1) for line in said.splitlines())
    return {ref.removeprefix(_HEADS): sha for sha, ref in found}


def _may_be(name: str) -> bool:
    try:
        checked_ref(name)
    except BadName:
        return False
    return not set(name) & set("*?[")


def around(name: str) -> list[str]:
    """The name, and every name above it: git cannot have a branch at two of them."""
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def in_the_way(taken: Mapping[str, str] | Iterable[str], name: str) -> str | None:
    """A branch among these beside which there can be none of that name."""
    above = set(around(name))
    return next((each for each in taken if each in above or each.startswith(f"{name}/")), None)


def delete_merged(git: Git, branch: str, base: str) -> bool:
    """Delete a branch that *base* holds and nobody has checked out, durably; gives if it is gone.

    *base* is a branch or the id of a commit. From one exact commit to none: what somebody puts on
    the branch in the last moment stays.
    """
    at = heads(git, branch).get(branch)
    if at is not None and not _may_go(git, branch, at, base):
        return False
    common = git.common_directory()
    locks = (common / f"{_HEADS}{branch}.lock", common / "packed-refs.lock")
    if worktree_state.clear(locks) is not None:
        return False  # another git is at it
    if at is not None and not _delete(git, branch, at):
        return False
    git.make_durable(objects=False)
    return True


def _may_go(git: Git, branch: str, at: str, base: str) -> bool:
    ref = f"{_HEADS}{branch}"
    if git.symbolic(ref) is not None or branch == base:
        return False  # another name for a branch is not a lane's
    into = git.resolve(f"{_HEADS}{base}") or git.resolve(base)
    is_merged = into is not None and git.is_ancestor(at, into)
    return is_merged and worktree_state.user_of(git, branch) is None


def _delete(git: Git, branch: str, at: str) -> bool:
    try:
        git.write("update-ref", "--no-deref", "-d", f"{_HEADS}{branch}", at)
    except GitFailed:
        now = heads(git, branch).get(branch)
        if now == at:
            raise
        return now is None  # else somebody moved it meanwhile
    return True

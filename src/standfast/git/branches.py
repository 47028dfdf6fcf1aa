"""Where branches are, several in one call of git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import BadName
from standfast.git import checked_ref

if TYPE_CHECKING:
    from standfast.git import Git

_HEADS = "refs/heads/"


def heads(git: Git, *names: str) -> dict[str, str]:
    """The commits of those of these branches that are there; no branch has a name that is none."""
    refs = [f"{_HEADS}{name}" for name in names if _may_be(name)]
    said = git.read("for-each-ref", "--format=%(objectname) %(refname)", *refs).decode()
    found = (line.split(" ", 1) for line in said.splitlines())
    return {
        ref.removeprefix(_HEADS): sha for sha, ref in found if ref.removeprefix(_HEADS) in names
    }


def _may_be(name: str) -> bool:
    try:
        checked_ref(name)
    except BadName:
        return False
    return not set(name) & set("*?[")

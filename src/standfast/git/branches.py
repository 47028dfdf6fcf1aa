"""Where branches are, several in one call of git, and which names can stand beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import BadName
from standfast.git import checked_ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from standfast.git import Git

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

"""Files that a power cut tore: empty, nothing but zeros, or cut off where a page ends.

A file that was written and not synced may be any of these afterwards. So may one that somebody
meant to be: hence whoever puts such files back keeps first what is there, and says so.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors import GitFailed, StandfastError
from standfast.git import contents, held
from standfast.git import names as listed

if TYPE_CHECKING:
    from standfast.git import Git
    from standfast.git.held import Held

_PAGE = 4096
_CHUNK = 1 << 20


class Torn(NamedTuple):
    """Tracked files, which HEAD has whole, and new ones, which nobody has."""

    tracked: list[str]
    new: list[str]


def torn(git: Git) -> Torn:
    """What looks torn in a worktree; submodules, links and what is deleted do not."""
    top = os.path.realpath(git.directory)
    if str(git.toplevel()) != top:
        raise GitFailed("it is not the top of a worktree", file=top)
    changed = [name for name, how in contents.differing(git).items() if how == "M"]
    others = listed(git.read("ls-files", "-z", "--others", "--exclude-standard"))
    return Torn(
        [name for name in changed if _is_torn(git, held.look(top, name))],
        [name for name in others if _is_blank(held.look(top, name))],
    )


def put_back(git: Git, names: list[str]) -> None:
    """Write those of these files again that are still torn, durably; what is staged stays."""
    left = set(torn(git).tracked)
    again = [name for name in names if name in left]
    contents.restore(git, again, "HEAD")
    contents.sync_files(os.path.realpath(git.directory), again)


def _is_torn(git: Git, found: Held | None) -> bool:
    if found is None or found.link is not None:
        return False
    kept = f"HEAD:{found.name}"
    if found.is_all(git, kept):
        return False  # only its rights are others
    return _is_blank(found) or (_ends_with_a_page(found) and found.begins(git, kept))


def _is_blank(found: Held | None) -> bool:
    """Whether a file has no byte but zeros."""
    if found is None or found.link is not None:
        return False
    try:
        with found.open() as file:
            return not any(chunk.strip(b"\0") for chunk in iter(lambda: file.read(_CHUNK), b""))
    except (OSError, StandfastError):
        return False


def _ends_with_a_page(found: Held) -> bool:
    with found.open() as file:
        return file.seek(0, os.SEEK_END) % _PAGE == 0

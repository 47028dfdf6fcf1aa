"""Files that a power cut tore: empty, nothing but zeros, cut off where a page ends, or with gaps.

A file that was written and not synced may be any of these afterwards. So may one that somebody
meant to be: hence whoever puts such files back keeps first what is there, and says so. Files are
held against a fresh checkout of HEAD: the attributes in the worktree may be torn too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import GitFailed, StandfastError
from standfast.git import file_difference, fresh_files, snapshot, worktree_contents
from standfast.git.command import names as listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from standfast.git.command import Git
    from standfast.git.file_difference import Held

_PAGE = 4096
_CHUNK = 1 << 20
_GAP = bytes(_PAGE)
_NEW, _STAGED_NEW = "??", "A"
_RULES = (fresh_files.ATTRIBUTES, ".gitignore")


class Torn(NamedTuple):
    """Tracked files, which HEAD has whole, new ones, which nobody has, and all that may be torn."""

    tracked: list[str]
    new: list[str]
    changed: Sequence[str] = ()  # whatever is not as HEAD has it: half of it may look like work


def torn(git: Git) -> Torn:
    """What looks torn in a worktree; submodules, links and what is deleted do not."""
    top = _top(git)
    differing = worktree_contents.differing(git)
    others = [name for marks, name in _rows(git) if marks == _NEW or marks.startswith(_STAGED_NEW)]
    gone = {name for name, how in differing.items() if how == "D"}
    left_out = worktree_contents.left_out(git) if gone else set()
    return Torn(
        _torn(git, [name for name, how in differing.items() if how == "M"]),
        [name for name in others if _is_blank(file_difference.look(top, name))],
        sorted({*differing, *others} - (gone & left_out)),
    )


def looks_torn(git: Git) -> Torn:
    """The same in a worktree that no power cut came over, by a quick look: by its own index."""
    top = os.path.realpath(git.directory)
    if not os.path.lexists(os.path.join(top, ".git")):
        raise GitFailed("it is not the top of a worktree", file=top)
    rows = _rows(git)
    others = [file_difference.look(top, name) for marks, name in rows if marks == _NEW]
    new = [found.name for found in others if found is not None and found.is_empty()]
    return Torn(_torn(git, [name for marks, name in rows if marks != _NEW]), new)


def _rows(git: Git) -> list[tuple[str, str]]:
    """What `status` says by the worktree's own index: two marks and a name each."""
    said = listed(git.read("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"))
    return [(row[:2], row[3:]) for row in said]


def torn_rules(git: Git) -> list[str]:
    """Of what says which files git looks at, and how, that which looks torn.

    It is to be put back before anything else is looked at.
    """
    _top(git)
    every = snapshot.files_of(git, "HEAD")
    return _torn(git, [name for name in every if os.path.basename(name) in _RULES])


def put_back(git: Git, names: Iterable[str]) -> None:
    """Write those of these files again that are still torn, durably; what is staged stays."""
    again = _torn(git, names)
    worktree_contents.restore(git, again, "HEAD")
    worktree_contents.sync_files(_top(git), again)


def _top(git: Git) -> str:
    top = os.path.realpath(git.directory)
    if str(git.toplevel()) != top:
        raise GitFailed("it is not the top of a worktree", file=top)
    return top


def _torn(git: Git, names: Iterable[str]) -> list[str]:
    every = list(names)
    suspects = list(_suspects(_top(git), every)) if every else []
    if not suspects:
        return []
    with fresh_files.checkout(git, "HEAD", [each.name for each in suspects]) as whole:
        return [
            each.name
            for each in suspects
            if _is_torn(git, each, file_difference.look(whole, each.name))
        ]


def _suspects(top: str, names: Iterable[str]) -> Iterator[Held]:
    """What may be torn by its size, or by what it holds: few of those that are somebody's work."""
    for name in names:
        found = file_difference.look(top, name)
        if found is not None and (
            _is_blank(found) or _ends_with_a_page(found) or _may_have_gaps(found)
        ):
            yield found


def _is_torn(git: Git, found: Held, whole: Held | None) -> bool:
    """Not where it is what is committed, whatever attributes it was written by."""
    is_same = found.against(whole)
    if whole is None or whole.link is not None or is_same:
        return False
    if is_same is False or _is_blank(found) or found.lacks_pages(whole, _PAGE):
        return True
    kept = f"HEAD:{found.name}"
    return not found.is_all(git, kept) and found.begins(git, kept)


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
    if found.link is not None:
        return False
    try:
        with found.open() as file:
            return file.seek(0, os.SEEK_END) % _PAGE == 0
    except (OSError, StandfastError):
        return False


def _may_have_gaps(found: Held) -> bool:
    """Whether some page of it, the last one included, might hold nothing but zeros."""
    if found.link is not None:
        return False
    try:
        with found.open() as file:
            return any(map(_has_gap, iter(lambda: file.read(_CHUNK), b"")))
    except (OSError, StandfastError):
        return False


def _has_gap(chunk: bytes) -> bool:
    rest = len(chunk) % _PAGE
    return _GAP in chunk or (rest > 0 and not chunk[-rest:].strip(b"\0"))

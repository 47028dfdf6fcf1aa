"""Putting other bytes in the place of an agent's own file, while the agent may be writing it.

The order: what stands there is journalled → the new bytes are swapped in (`swap`) → what was
displaced is looked at. If somebody saved in between, their words are journalled too and the change
is made to them. What a crash left undone is settled by the next call, as with faces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

from standfast import clock, disk
from standfast.errors.base import BadName, Conflict
from standfast.faces import displaced_files, drafts, look, swap
from standfast.faces.face import Face
from standfast.faces.look import digest
from standfast.faces.publish import one_at_a_time
from standfast.protocols.context.files import context_files
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.faces.displaced_files import Displaced
    from standfast.journal.author import Author
    from standfast.journal.store import Journal

    Change = Callable[[bytes | None], bytes]

# Every file that a call displaces is still watched when the next call looks at them all.
_TRIES = displaced_files.WATCHED
_PAUSE_S = 0.02  # whoever is in the middle of saving comes to an end


class Rewritten(NamedTuple):
    """What stood there, what stands there now, and what came too late to be put in again."""

    before: bytes | None
    after: bytes
    kept: int = 0  # edits that are in the journal only


def rewrite(
    journal: Journal, root: str, relative: str, change: Change, author: Author
) -> Rewritten:
    """Put what *change* makes of a file in its place; a racing edit is changed instead.

    The journal must have been written to before: its folder holds the lock and the drafts.
    """
    face = _face(root, relative)
    try:
        disk.make_folders_beneath(root, face.relative)
        with one_at_a_time(journal):
            displaced_files.settle_crash(journal, face)
            drafts.sweep(journal, face)
            return _rewrite(journal, face, change, author)
    except OSError as error:
        raise disk.disk_error(error, face.path) from error


def _rewrite(journal: Journal, face: Face, change: Change, author: Author) -> Rewritten:
    there = look.contents(face)
    found, kept = _late(journal, face, there, author)
    for _ in range(_TRIES):
        new = change(found)
        if found is not None:
            _adopt(journal, face, found, author)
        if new == there:
            return Rewritten(found, new, kept)
        taken = swap.put_in_place(journal, face, new, expected=there, exchange=True)
        if taken is None:  # it came or went while we looked away
            there = found = look.contents(face)
        elif taken.data is None or taken.data == there:
            displaced_files.drop_if_secret(journal, face, taken)
            _adopt(journal, face, new, author)
            return Rewritten(found, new, kept)
        else:  # saved in between, over what we had read: now the change is made to that
            _adopt(journal, face, taken.data, author)
            _known(journal, face, taken)
            kept += found != there and not _holds(taken.data, found)
            found, there = taken.data, new
            clock.pause(_PAUSE_S)
    raise Conflict(
        "something rewrites this file faster than it can be changed",
        file=face.path,
        remedy="Look at the file, and at `standfast journal kept`, which has every version of it.",
    )


def _late(
    journal: Journal, face: Face, there: bytes | None, author: Author
) -> tuple[bytes | None, int]:
    """What somebody wrote into a file that was swapped out, or that a crash left there.

    If nobody has touched the file since, that is the newest; else it is journalled only.
    """
    found, kept = there, 0
    is_ours = digest(there) == look.remembered(journal, face).digest
    for written in displaced_files.changed_since(journal, face):
        if written.data is not None and _adopt(journal, face, written.data, author):
            found = written.data if is_ours else found
            kept += not is_ours
        _known(journal, face, written)
    return found, kept


def _holds(later: bytes, earlier: bytes | None) -> bool:
    """Whether who saved later had read the words that we had displaced just before."""
    return not set((earlier or b"").splitlines()) - set(later.splitlines())


def _known(journal: Journal, face: Face, taken: Displaced) -> None:
    displaced_files.watch(journal, face, taken.at, base=taken.data, seen=digest(taken.data))
    displaced_files.drop_if_secret(journal, face, taken)


def _adopt(journal: Journal, face: Face, data: bytes, author: Author) -> bool:
    role = context_files.role_of(face.relative)
    if role is None:
        raise BadName(f"`{one_line(face.relative, 120)}` is not named after a role")
    return context_files.adopt(journal, role, data, author, path=face.relative)


def _face(root: str, relative: str) -> Face:
    """As much of a face as swapping needs: the file is the agent's, not a view of ours."""
    return Face(
        name=f"agent:{root}/{relative}",
        root=root,
        relative=relative,
        in_git=True,
        render=_never,
        read=_never,
        known=_never,
        record=_never,
        limit=context_files.LIMIT,
    )


def _never(*_: object) -> NoReturn:
    raise NotImplementedError("an agent's file is not rendered from the journal")

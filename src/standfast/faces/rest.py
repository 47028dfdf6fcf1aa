"""Whether a face is at rest, told without loading what keeps it: most commands change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal.chain import sha256

if TYPE_CHECKING:
    from standfast.journal.store import Journal


def says(journal: Journal, name: str, root: str, relative: str, rendered: bytes) -> bool:
    """Whether a face says what it should, as we published it, and nobody touched it."""
    known = journal.query(
        "SELECT digest FROM faces"
        " WHERE face = ? AND draft IS NULL AND refused IS NULL AND unsettled IS NULL",
        (name,),
    )
    if not known:
        return False
    try:
        present = disk.read_beneath(root, relative)
    except (OSError, StandfastError):
        return False
    is_published = present == rendered and sha256(present).hexdigest() == known[0][0]
    return is_published and is_untouched(journal, name)


def is_untouched(journal: Journal, name: str) -> bool:
    """Whether nobody wrote into what was swapped out since the journal last knew it."""
    watched = journal.query("SELECT at, seen FROM displaced WHERE face = ?", (name,))
    try:
        return all(
            sha256(disk.read_beneath(journal.folder, str(at))).hexdigest() == seen
            for at, seen in watched
        )
    except (OSError, StandfastError):
        return False

"""What a face is: a file that shows part of the journal and can be edited by hand.

A face declares how it is rendered, how its bytes are read back into records, and how records
that are new are recorded. Where it lives, how it is swapped in and what an edit means are the
same for all and stand in `publish`, `look` and `merge`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from standfast import disk

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.faces.merge import Changes, Known, Record
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

SIZE_LIMIT = 4 * 1024 * 1024


class Take(Protocol):
    """Journals what bytes say that it does not; they stand in the file, or were displaced."""

    def __call__(self, journal: Journal, data: bytes, became: str, *, in_place: bool) -> None:
        """*became* says how they came; what stands *in place* is known from then on."""


class Face(NamedTuple):
    """One file, in one place."""

    name: str  # what it is remembered under in the journal
    root: str  # the folder it may never leave
    relative: str  # its path below the root
    in_git: bool  # whether git can move it under our feet
    render: Callable[[Journal, bytes | None], bytes]  # and what stands there now
    read: Callable[[bytes, str], tuple[Record, ...]]
    known: Callable[[Journal], Known]
    record: Callable[[Writing, Changes, str], None]
    is_judged: bool = False  # whether it matters who wrote what is new in it
    judged_as: Callable[[str], str] = str  # without what we add to words when we publish them
    is_list: bool = False  # of words that have nothing but an id: what git brings is added to it
    limit: int = SIZE_LIMIT  # a longer file is refused
    is_whole: Callable[[bytes], bool] = lambda data: data.endswith(b"\n")  # or still being written
    # Where only a part of the file is ours: what has to stand there (None: as it is) if *theirs*
    # changed the rest since *base*. Given are *current*, *theirs* and *base*.
    carry: Callable[[bytes | None, bytes, bytes | None], bytes | None] | None = None
    take: Take | None = None  # where what is new in it is not judged record by record

    @property
    def path(self) -> str:
        """The file, for people and messages."""
        return os.path.join(self.root, self.relative)

    @property
    def mode(self) -> int:
        """Private beside the journal; an ordinary file in a work tree."""
        return disk.tree_mode() if self.in_git else disk.FILE_MODE

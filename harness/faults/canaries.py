"""Bugs that are planted on purpose: a harness that finds nothing looks like one that is broken.

Each is one change to the product, made in the processes that do its work, and must be caught by
the same trials that find nothing without it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.clients.hooks import fact_fallback
from standfast.journal import id_file
from standfast.journal.fallback import strays
from standfast.journal.tables import decision_records
from standfast.journal.transaction import Writing

if TYPE_CHECKING:
    from collections.abc import Callable


class Canary(NamedTuple):
    """One bug: how it is planted, and the acts whose trials must find it."""

    name: str
    plant: Callable[[], None]
    acts: tuple[str, ...]


def in_place_write() -> None:
    """A file is written where it stands: a crash leaves half of it."""

    def replace(path: str, data: bytes, *, mode: int = disk.FILE_MODE) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        disk.write_all(fd, data)
        disk.sync_fd(fd)
        os.close(fd)

    disk.replace = replace


def drafts_left() -> None:
    """What a crash left behind is never taken away."""
    disk.orphans = lambda folder, name: []  # noqa: ARG005  # as it is called


def silent_hook() -> None:
    """A hook whose journal fails forgets the call, and says that it is kept."""
    fact_fallback.keep = lambda *_: True


def merged_twice() -> None:
    """A stray is not remembered: a crash before its slot is freed takes it in again."""
    strays._is_new = lambda *_: True


def freed_first() -> None:
    """A slot of the spool is freed before its fact is in the journal."""
    look = strays.look

    def clear(*given: object, **named: object) -> strays.Found:
        found = look(*given, **named)  # type: ignore[arg-type]
        strays._free(given[0], found)  # type: ignore[arg-type]
        return found

    strays.look = clear


def unknown_commit() -> None:
    """A commit whose sync failed counts as one that never was."""
    strays._was_committed = lambda *_: False


def early_word() -> None:
    """A transaction is told as done before it is committed."""
    end = Writing._end

    def late(self: Writing, *, keep: bool) -> None:
        try:
            end(self, keep=keep)
        except BaseException:  # noqa: BLE001  # that is the bug
            self._journal.abandon()

    Writing._end = late  # type: ignore[method-assign]


def no_id() -> None:
    """A journal is made and nobody could tell that it was there."""
    id_file.settle = lambda *_: None


def gap_forgotten() -> None:
    """A new journal in the place of one that was taken away says nothing of it."""
    id_file._tell_gap = lambda *_: None


def unconfirmed() -> None:
    """A person is told that a repository's word binds, and it does not."""
    decision_records.confirm = lambda *_: None


# Caught by the sweep. The other parts bring their own.
SWEPT: tuple[Canary, ...] = (
    Canary("in-place write", in_place_write, ("off",)),
    Canary("drafts left", drafts_left, ("off",)),
    Canary("silent hook", silent_hook, ("PreToolUse",)),
    Canary("merged twice", merged_twice, ("status",)),
    Canary("freed first", freed_first, ("status",)),
    Canary("unknown commit", unknown_commit, ("PreToolUse",)),
    Canary("early word", early_word, ("note",)),
    Canary("no id", no_id, ("first-note",)),
    Canary("unconfirmed", unconfirmed, ("note-confirm",)),
    Canary("gap forgotten", gap_forgotten, ("note-gone",)),
)

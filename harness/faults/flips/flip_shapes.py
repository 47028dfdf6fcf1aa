"""Journals to flip bytes in, in the shapes that a machine may leave them in.

What a flip does depends on where the newest facts are: in the database file, in a log that was
brought into it or not, in a log that was begun anew over an older one, in the mirror, in the spool.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from standfast.journal import mirror, questions
from standfast.journal.author import Author
from standfast.journal.fallback import spool
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.transaction import Writing

MANY = 3_000
_SESSION = "8f2c0000-1111-4222-8333-444455556666"
_AGENT = Author("claude", session=_SESSION)


def make(name: str, folder: str) -> None:
    """Make the journal of that shape in *folder*, which is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    SHAPES[name](folder)


def _closed(folder: str) -> None:
    """Everything in the log, nothing in the database file; the mirror is complete."""
    journal = Journal(folder)
    _work(journal, 24)
    journal.close()


def _hooked(folder: str) -> None:
    """Hooks wrote last: the log is ahead of the mirror, and no checkpoint ever comes from them."""
    _closed(folder)
    journal = Journal(folder, checkpoint=False)
    _work(journal, 24)
    journal.let_go()
    assert mirror.last_seq(folder) < questions.last_seq(Journal(folder))


def _checkpointed(folder: str) -> None:
    """Everything in the database file, with free pages in it; the log still holds the same."""
    journal = Journal(folder)
    _work(journal, 12)
    _free_pages(journal)
    _work(journal, 12)
    journal.checkpoint()
    journal.close()


def _restarted(folder: str) -> None:
    """A log that was begun anew: behind its end are frames of the one before."""
    journal = Journal(folder)
    _work(journal, 24)
    length = os.path.getsize(f"{journal.path}-wal")
    journal.checkpoint()
    _work(journal, 6)
    journal.let_go()
    assert os.path.getsize(f"{journal.path}-wal") == length


def _emptied(folder: str) -> None:
    """Only the database file: the log has no frame."""
    _checkpointed(folder)
    journal = Journal(folder)
    journal.query("PRAGMA wal_checkpoint(TRUNCATE)")
    journal.let_go()


def _waiting(folder: str) -> None:
    """Facts in the spool, and a count of some that found no room."""
    _closed(folder)
    for number in range(5):
        spool.keep(folder, "tool.started", {"id": f"toolu_{number}", "tool": "Bash"}, _AGENT)
    spool.keep(folder, "tool.started", {"words": "x" * spool.SLOT_BYTES}, _AGENT)
    assert spool.gaps(folder) == 1


def _large(folder: str) -> None:
    """Thousands of events on hundreds of pages, half of them in the database file."""
    journal = Journal(folder)
    with journal.writing() as tx:
        for number in range(MANY):
            _turn(tx, number)
    journal.checkpoint()
    _work(journal, 48)
    journal.mirror()
    journal.let_go()
    _work(Journal(folder, checkpoint=False), 24)


def _work(journal: Journal, number: int) -> None:
    """Each a transaction of its own, as commands and hooks write."""
    first = questions.last_seq(journal) if journal.exists else 0
    if not first:
        journal.append("session.started", {"client": "claude", "source": "startup"}, _AGENT)
    for one in range(first, first + number):
        with journal.writing() as tx:
            _turn(tx, one)


def _turn(tx: Writing, number: int) -> None:
    """A little of everything that is folded into the state."""
    match number % 6:
        case 0:
            decision_records.note(tx, f"decision number {number} stands")
        case 1:
            tx.append("prompt", {"text": f"prompt {number} " + "words " * (number % 50)}, _AGENT)
        case 2:
            tx.append("tool.started", {"id": f"t{number}", "tool": "Bash"}, _AGENT)
        case 3:
            tx.append("tool.ended", {"id": f"t{number - 1}", "tool": "Bash"}, _AGENT)
        case 4:
            tx.set(f"cell-{number % 5}", {"number": number})
        case _:
            tx.take("lane", f"holder-{number}")


def _free_pages(journal: Journal) -> None:
    """A long value that is replaced by a short one leaves pages that nothing uses."""
    for words in ("x" * 20_000, "short"):
        with journal.writing() as tx:
            tx.set("long", {"words": words})


SHAPES: dict[str, Callable[[str], None]] = {
    "closed": _closed,
    "hooked": _hooked,
    "checkpointed": _checkpointed,
    "restarted": _restarted,
    "emptied": _emptied,
    "waiting": _waiting,
    "large": _large,
}


def files(folder: str) -> dict[str, bytes]:
    """Every file of a journal that holds facts, or tells where they are."""
    names = ["journal.db", "journal.db-wal", "journal.db-shm", spool.FILE]
    names += [os.path.relpath(path, folder) for path in mirror.segments(folder)]
    found = {}
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found

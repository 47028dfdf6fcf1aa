"""One writer of the storm: adds facts in its own way and acknowledges each, until it is killed.

A number goes out only after the journal said "recorded", or the spool "kept": whatever was told
must be found later. Every fact is a `tool.wrote` with its writer's session and a number.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from standfast import clock
from standfast.decisions import status_md
from standfast.errors.base import FencedOut, JournalBusy
from standfast.faces import publish
from standfast.journal.author import Author
from standfast.journal.fallback import spool, strays
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[int], None]  # record the fact of this number

KIND = "tool.wrote"  # of a family that a spool may hold
LEASE = "lane"
STOPPED = b"stopped"
BUSY = b"busy"
FAILED = b"failed "
_STOPS_EVERY = 40
_SPOOL_TRIES = 300  # as a hook does
_DECISIONS = 4


def live(folder: str, name: str, role: str, numbers: range, said: int) -> None:
    """Write the facts of these numbers; SIGTERM asks for an end after the present one."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    journal = Journal(folder)
    author = Author("writer", session=name)
    try:
        work = ROLES[role](journal, author, lambda word: _say(said, word))
        for number in numbers:
            if asked:
                break
            took = _in_turn(work, number, said)
            _say(said, b"%d %d" % (number, took))
        journal.close()
    except Exception as error:  # noqa: BLE001  # told to whoever counts
        words = f"{type(error).__name__}: {error}".replace("\n", " ")
        _say(said, FAILED + words.encode("utf-8", "replace")[:1000])


def _in_turn(work: Work, number: int, said: int) -> int:
    """Microseconds from asking to the answer; who is told that the journal is busy asks again."""
    began = clock.monotonic_ns()
    while True:
        try:
            work(number)
        except JournalBusy:
            _say(said, BUSY)
        else:
            return (clock.monotonic_ns() - began) // 1000


def _say(said: int, word: bytes) -> None:
    os.write(said, word + b"\n")


def plain(journal: Journal, author: Author, _say: Callable[[bytes], None]) -> Work:
    """One fact, one statement."""

    def work(number: int) -> None:
        journal.append(KIND, {"number": number}, author)

    return work


def numbered(journal: Journal, author: Author, _say: Callable[[bytes], None]) -> Work:
    """A fact with an id, and there must be no gap between ids."""

    def work(number: int) -> None:
        with journal.writing() as tx:
            tx.append(KIND, {"id": tx.allot("ST"), "number": number}, author)

    return work


def spooled(journal: Journal, author: Author, _say: Callable[[bytes], None]) -> Work:
    """As a hook that does not get the journal: into the spool; who finds it full merges it."""

    def work(number: int) -> None:
        for _ in range(_SPOOL_TRIES):
            try:
                if spool.keep(journal.folder, KIND, {"number": number}, author, count_gap=False):
                    return
            except JournalBusy:
                continue
            strays.merge(journal, [])
        raise JournalBusy("nobody gets the spool")

    with journal.writing():
        pass  # the spool is made with the journal
    return work


def leased(journal: Journal, author: Author, say: Callable[[bytes], None]) -> Work:
    """Under a lease that others take over, also while this process is stopped."""
    token = 0

    def work(number: int) -> None:
        nonlocal token
        if number % _STOPS_EVERY == 0:
            say(STOPPED)
            os.kill(os.getpid(), signal.SIGSTOP)  # and goes on later, knowing nothing of it
        try:
            if token:
                _write_under(journal, author, number, token)
                return
        except FencedOut:
            pass
        with journal.writing() as tx:
            token = tx.take(LEASE, str(author.session))
            tx.append(KIND, {"number": number, "token": token}, author)

    return work


def _write_under(journal: Journal, author: Author, number: int, token: int) -> None:
    with journal.writing() as tx:
        tx.fence(LEASE, token)
        tx.append(KIND, {"number": number, "token": token}, author)


def published(journal: Journal, author: Author, _say: Callable[[bytes], None]) -> Work:
    """A decision, and the face that shows it, put in place among others who do the same."""
    face = status_md.face(
        name=status_md.NAME, root=journal.folder, relative=status_md.FILE, in_git=False
    )
    mine: list[str] = []

    def work(number: int) -> None:
        words = f"{author.session} says {number}"
        with journal.writing() as tx:
            tx.append(KIND, {"number": number}, author)
            if len(mine) < _DECISIONS:
                mine.append(decision_records.note(tx, words))
            else:
                decision_records.amend(tx, mine[number % _DECISIONS], words, origin="storm")
        refused = publish.keep(journal, face).refused
        if refused is not None:
            raise refused

    return work


ROLES: dict[str, Callable[[Journal, Author, Callable[[bytes], None]], Work]] = {
    "plain": plain,
    "numbered": numbered,
    "spooled": spooled,
    "leased": leased,
    "published": published,
}

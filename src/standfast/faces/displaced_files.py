"""Displaced files: what publishes swapped out, watched for a while.

An editor may still have one open and write into it after the swap; what it writes is an edit
against the file as it was last known.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, open_writers
from standfast.faces import look
from standfast.faces.drafts import folders, read, without_secrets
from standfast.faces.look import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.faces.face import Face
    from standfast.journal.store import Journal

WATCHED = 8  # displaced files of a face that are looked at again
_SURPLUS = """
    SELECT at, seen FROM displaced WHERE face = ?1 AND seen IS NOT NULL AND number NOT IN
    (SELECT number FROM displaced WHERE face = ?1 ORDER BY number DESC LIMIT ?2)"""


class Displaced(NamedTuple):
    """What a publish swapped out: where it is kept, and its bytes (None: nothing was there)."""

    at: str
    data: bytes | None
    base: bytes | None = None  # what it was when it was last known: an edit is against that
    settled: bool = False  # unchanged since the last look, and at rest


def watch(
    journal: Journal,
    face: Face,
    at: str,
    *,
    base: bytes | None,
    seen: str | None = None,
    looked: str | None = None,
) -> None:
    """Keep an eye on a displaced file; *seen* is the digest of it that the journal knows.

    Only files whose words are known, and that nobody can write any more, make room for newer ones.
    """
    with journal.writing() as tx:
        tx.execute("DELETE FROM displaced WHERE face = ? AND at = ?", (face.name, at))
        tx.execute(
            "INSERT INTO displaced (face, at, base, seen, looked) VALUES (?, ?, ?, ?, ?)",
            (face.name, at, without_secrets(base), seen, looked),
        )
    for old, known in journal.query(_SURPLUS, (face.name, WATCHED)):
        if _is_final(journal, face, str(old), str(known)):
            forget(journal, face, str(old))


def _is_final(journal: Journal, face: Face, at: str, seen: str) -> bool:
    """Whether a file will stay as the journal knows it: an editor may be slow to write its words.

    Where no system tells who has it open, what it says now counts.
    """
    where, name = at.split("/")
    with folders(journal, face, where) as (_, drafts):
        try:
            fd = disk.open_regular(name, folder=drafts)
        except OSError:
            return True  # somebody tidied up
        try:
            return not open_writers.has_open(fd) and digest(read(face, drafts, name)) == seen
        finally:
            os.close(fd)


def changed_since(journal: Journal, face: Face) -> Iterator[Displaced]:
    """Displaced files that somebody wrote into after we had looked: an editor had them open."""
    rows = journal.query(
        "SELECT at, base, seen, looked FROM displaced WHERE face = ? ORDER BY number", (face.name,)
    )
    for at, base, seen, looked in rows:
        where, name = str(at).split("/")
        with folders(journal, face, where) as (_, drafts):
            data = read(face, drafts, name)
            at_rest = look.is_at_rest(name, drafts)
        if data is None:
            forget(journal, face, str(at))
        elif digest(data) != seen:
            make_durable(journal, face, str(at))
            yield Displaced(at, data, base, settled=at_rest and looked == digest(data))


def make_durable(journal: Journal, face: Face, at: str) -> None:
    """As `look.make_durable`: it must be tomorrow what the journal will say that it was."""
    where, name = at.split("/")
    with folders(journal, face, where) as (_, drafts):
        try:
            fd = disk.open_regular(name, folder=drafts)
        except FileNotFoundError:
            return
        disk.sync_and_close(fd)


def drop_if_secret(journal: Journal, face: Face, displaced: Displaced) -> None:
    """A displaced file with a secret in it is not kept: watching an editor is worth less."""
    if without_secrets(displaced.data) != displaced.data:
        where, name = displaced.at.split("/")
        with folders(journal, face, where) as (_, drafts):
            disk.forget(name, folder=drafts)
        forget(journal, face, displaced.at)


def forget(journal: Journal, face: Face, at: str) -> None:
    """Somebody tidied up: there is nothing left to watch."""
    with journal.writing() as tx:
        tx.execute("DELETE FROM displaced WHERE face = ? AND at = ?", (face.name, at))


def settle_crash(journal: Journal, face: Face) -> None:
    """An intent without an outcome: if the swap happened, what it displaced is in our hands.

    And what it put in place was published: an edit of it is against those bytes.
    """
    memory = look.remembered(journal, face)
    if memory.draft is None:
        return
    drafted = (memory.drafted or "").encode()
    where, name = memory.draft.split("/")
    with folders(journal, face, where) as (_, drafts):
        held = {candidate: read(face, drafts, candidate) for candidate in (name, f"{name}.aside")}
    theirs = [at for at, data in held.items() if data is not None and data != drafted]
    for candidate in theirs:
        is_known = digest(held[candidate]) == memory.digest  # nobody touched it before the swap
        base, seen = (held[candidate], memory.digest) if is_known else (memory.base, None)
        watch(journal, face, f"{where}/{candidate}", base=base, seen=seen)
    placed = held[name] != drafted or look.contents(face) == drafted
    if placed and drafted.endswith(b"\n"):  # an older version remembered no more than a digest
        look.remember_published(journal, face, drafted, draft=None, drafted=None)
    else:
        look.remember(journal, face, draft=None, drafted=None)

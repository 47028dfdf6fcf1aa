"""Putting a rendered face in place so that nobody's edit can fall between.

The order, once: draft written and synced → intent journalled → names swapped → folders synced
→ what was displaced is read → outcome journalled. Whatever stood there is in our hands after
the swap, so an edit made at the last instant is found; check-then-rename would lose it. The
last displaced files are watched for a while: an editor may still have one open. Drafts live
beside the journal where that is the same filesystem, so that a work tree never shows them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors import UnsafePath
from standfast.files import look
from standfast.files.look import digest
from standfast.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.files.face import Face
    from standfast.journal.store import Journal

DRAFTS = "drafts"
KEPT = "kept"
WATCHED = 8  # displaced files of a face that are looked at again
_BESIDE = "beside"
_PREFIX, _SUFFIX = ".standfast-", ".draft"


class Displaced(NamedTuple):
    """What a publish swapped out: where it is kept, and its bytes (None: nothing was there)."""

    at: str
    data: bytes | None
    base: bytes | None = None  # what it was when it was last known: an edit is against that
    settled: bool = False  # unchanged since the last look


def put_in_place(
    journal: Journal, face: Face, rendered: bytes, *, expected: bytes | None, exchange: bool
) -> Displaced | None:
    """Publish *rendered*; returns what it displaced, or None if a file appeared from nowhere."""
    before = look.remembered(journal, face).published
    where = _where(journal, face)
    name = f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"
    at = f"{where}/{name}"
    with _folders(journal, face, where) as (target, drafts):
        disk.create(name, rendered, mode=_mode(face, target), folder=drafts)
        disk.sync_fd(drafts)
        look.remember(journal, face, draft=at, drafted=digest(rendered))
        final = os.path.basename(face.relative)
        placed: bool | None
        if expected is None:
            placed = _place_new(drafts, name, target, final)
        else:
            placed = _trade(drafts, name, target, final, exchange=exchange)
        disk.sync_fd(target)
        disk.sync_fd(drafts)
        if placed is None:  # a file appeared while ours was on its way; theirs is watched
            watch(journal, face, at, base=before)
        elif not placed:
            disk.forget(name, folder=drafts)
        if not placed:
            look.remember(journal, face, draft=None, drafted=None)
            return None
        data = None if expected is None else _read(drafts, name)
    if data is not None and data == expected:
        watch(journal, face, at, base=data, seen=digest(data))
    elif data is not None:
        watch(journal, face, at, base=before)
    look.remember_published(journal, face, rendered, draft=None, drafted=None)
    return Displaced(at, data)


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

    Only files whose words are known make room for newer ones.
    """
    with journal.writing() as tx:
        tx.execute("DELETE FROM displaced WHERE face = ? AND at = ?", (face.name, at))
        tx.execute(
            "INSERT INTO displaced (face, at, base, seen, looked) VALUES (?, ?, ?, ?, ?)",
            (face.name, at, _without_secrets(base), seen, looked),
        )
        tx.execute(
            "DELETE FROM displaced WHERE face = ?1 AND seen IS NOT NULL AND number NOT IN"
            " (SELECT number FROM displaced WHERE face = ?1 ORDER BY number DESC LIMIT ?2)",
            (face.name, WATCHED),
        )


def _without_secrets(data: bytes | None) -> bytes | None:
    if data is None:
        return None
    return redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def changed_since(journal: Journal, face: Face) -> Iterator[Displaced]:
    """Displaced files that somebody wrote into after we had looked: an editor had them open."""
    rows = journal.query(
        "SELECT at, base, seen, looked FROM displaced WHERE face = ? ORDER BY number", (face.name,)
    )
    for at, base, seen, looked in rows:
        where, name = str(at).split("/")
        with _folders(journal, face, where) as (_, drafts):
            data = _read(drafts, name)
        if data is None:
            _forget_displaced(journal, face, str(at))
        elif digest(data) != seen:
            yield Displaced(at, data, base, settled=looked == digest(data))


def drop_if_secret(journal: Journal, face: Face, displaced: Displaced) -> None:
    """A displaced file with a secret in it is not kept: watching an editor is worth less."""
    if _without_secrets(displaced.data) != displaced.data:
        where, name = displaced.at.split("/")
        with _folders(journal, face, where) as (_, drafts):
            disk.forget(name, folder=drafts)
        _forget_displaced(journal, face, displaced.at)


def _forget_displaced(journal: Journal, face: Face, at: str) -> None:
    """Somebody tidied up: there is nothing left to watch."""
    with journal.writing() as tx:
        tx.execute("DELETE FROM displaced WHERE face = ? AND at = ?", (face.name, at))


def settle_crash(journal: Journal, face: Face) -> None:
    """An intent without an outcome: if the swap happened, what it displaced is in our hands."""
    memory = look.remembered(journal, face)
    if memory.draft is not None:
        where, name = memory.draft.split("/")
        with _folders(journal, face, where) as (_, drafts):
            for candidate in (name, f"{name}.aside"):
                data = _read(drafts, candidate)
                if data is not None and digest(data) != memory.drafted:
                    watch(journal, face, f"{where}/{candidate}", base=memory.published)
        look.remember(journal, face, draft=None, drafted=None)


def _place_new(drafts: int, name: str, target: int, final: str) -> bool:
    """Give the draft its final name if nothing has it; False if something does."""
    try:
        os.link(name, final, src_dir_fd=drafts, dst_dir_fd=target, follow_symlinks=False)
    except FileExistsError:
        return False
    disk.forget(name, folder=drafts)
    return True


def _trade(drafts: int, name: str, target: int, final: str, *, exchange: bool) -> bool | None:
    """Swap the draft with the file; False if the file is gone, None if there is a new one."""
    try:
        if exchange and disk.swap(drafts, name, target, final):
            return True
        return _trade_in_two_steps(drafts, name, target, final)
    except FileNotFoundError:
        return False


def _trade_in_two_steps(drafts: int, name: str, target: int, final: str) -> bool | None:
    """Without a swap: take the file aside, then link the draft in; nothing is ever written over.

    A reader may find no file for an instant, which loses nothing; a rename over it could.
    """
    aside = f"{name}.aside"
    os.rename(final, aside, src_dir_fd=target, dst_dir_fd=drafts)
    placed: bool | None = True
    try:
        os.link(name, final, src_dir_fd=drafts, dst_dir_fd=target, follow_symlinks=False)
    except FileExistsError:
        placed = None
    os.rename(aside, name, src_dir_fd=drafts, dst_dir_fd=drafts)
    return placed


def sweep(journal: Journal, face: Face) -> None:
    """Remove what is neither about to be swapped in nor still watched."""
    rows = journal.query(
        "SELECT draft FROM faces WHERE draft IS NOT NULL UNION SELECT at FROM displaced"
    )
    named = {str(row[0]).split("/")[1] for row in rows}
    where = _where(journal, face)
    with _folders(journal, face, where) as (_, drafts):
        for name in os.listdir(drafts):
            if name.startswith(_PREFIX) and _SUFFIX in name and name not in named:
                with suppress(OSError):  # not a file: not ours
                    disk.forget(name, folder=drafts)


def keep_aside(journal: Journal, face: Face, data: bytes | None) -> str:
    """Keep what can neither be adopted nor stay where it was, less its secrets; the file."""
    folder = os.path.join(journal.folder, KEPT)
    disk.make_folder(folder)
    path = os.path.join(folder, f"{digest(data)[:12]}-{os.path.basename(face.relative)}")
    disk.replace(path, _without_secrets(data) or b"")
    return path


def _where(journal: Journal, face: Face) -> str:
    """Drafts beside the journal if a rename from there can reach the face, else beside the face."""
    disk.make_folder(os.path.join(journal.folder, DRAFTS))
    here = os.stat(os.path.join(journal.folder, DRAFTS)).st_dev
    folder = disk.open_folder_beneath(face.root, face.relative)
    try:
        return DRAFTS if os.fstat(folder).st_dev == here else _BESIDE
    finally:
        os.close(folder)


@contextmanager
def _folders(journal: Journal, face: Face, where: str) -> Iterator[tuple[int, int]]:
    """The face's folder and the drafts' folder, open: no path is walked twice."""
    target = disk.open_folder_beneath(face.root, face.relative)
    drafts = target
    try:
        if where != _BESIDE:
            path = os.path.join(journal.folder, DRAFTS)
            drafts = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        yield target, drafts
    finally:
        if drafts != target:
            os.close(drafts)
        os.close(target)


def _mode(face: Face, target: int) -> int:
    """The mode that the file has, if it has one."""
    try:
        mode = os.stat(os.path.basename(face.relative), dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        return face.mode
    return mode.st_mode & 0o777


def _read(folder: int, name: str) -> bytes | None:
    try:
        return disk.read_regular(name, limit=look.SIZE_LIMIT, folder=folder)
    except FileNotFoundError:
        return None
    except UnsafePath:
        return None  # a link was swapped in at the last instant; it holds nobody's words

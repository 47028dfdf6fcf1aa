"""Putting a rendered face in place so that nobody's edit can fall between.

The order, once: draft written and synced → intent journalled → names swapped → folders synced
→ what was displaced is read → outcome journalled. Whatever stood there is in our hands after
the swap, so an edit made at the last instant is found; check-then-rename would lose it. The
displaced file stays until the next publish: an editor may still have it open. Drafts live
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.files.face import Face
    from standfast.files.look import Remembered
    from standfast.journal.store import Journal

DRAFTS = "drafts"
KEPT = "kept"
_BESIDE = "beside"
_PREFIX, _SUFFIX = ".standfast-", ".draft"


class Displaced(NamedTuple):
    """What stood in the face's place: nothing (None) or these bytes."""

    data: bytes | None


def put_in_place(
    journal: Journal, face: Face, rendered: bytes, *, expected: bytes | None, exchange: bool
) -> Displaced | None:
    """Publish *rendered*; returns what it displaced, or None if a file appeared from nowhere."""
    where = _where(journal, face)
    name = f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"
    with _folders(journal, face, where) as (target, drafts):
        disk.create(name, rendered, mode=_mode(face, target), folder=drafts)
        disk.sync_fd(drafts)
        _drop(journal, face, look.remembered(journal, face).displaced)
        look.remember(
            journal, face, draft=f"{where}/{name}", drafted=digest(rendered), displaced=None
        )
        final = os.path.basename(face.relative)
        if expected is None:
            placed = _place_new(drafts, name, target, final)
        else:
            placed = _trade(drafts, name, target, final, exchange=exchange)
        disk.sync_fd(target)
        disk.sync_fd(drafts)
        if not placed:
            disk.forget(name, folder=drafts)
            look.remember(journal, face, draft=None, drafted=None)
            return None
        displaced = None if expected is None else _read(drafts, name)
    _outcome(journal, face, rendered, displaced, expected=expected, at=f"{where}/{name}")
    return Displaced(data=displaced)


def _outcome(
    journal: Journal,
    face: Face,
    rendered: bytes,
    displaced: bytes | None,
    *,
    expected: bytes | None,
    at: str,
) -> None:
    known = displaced is not None and displaced == expected
    look.remember_published(
        journal,
        face,
        rendered,
        draft=None,
        drafted=None,
        displaced=None if displaced is None else at,
        seen=digest(displaced) if known and displaced is not None else None,
    )


def _place_new(drafts: int, name: str, target: int, final: str) -> bool:
    """Give the draft its final name if nothing has it; False if something does."""
    try:
        os.link(name, final, src_dir_fd=drafts, dst_dir_fd=target, follow_symlinks=False)
    except FileExistsError:
        return False
    disk.forget(name, folder=drafts)
    return True


def _trade(drafts: int, name: str, target: int, final: str, *, exchange: bool) -> bool:
    """Swap the draft with the file; False if the file is gone, so that the caller looks again."""
    try:
        if exchange and disk.swap(drafts, name, target, final):
            return True
        return _trade_in_two_steps(drafts, name, target, final)
    except FileNotFoundError:
        return False


def _trade_in_two_steps(drafts: int, name: str, target: int, final: str) -> bool:
    """Without a swap: take the file aside, then link the draft in; nothing is ever written over.

    A reader may find no file for an instant, which loses nothing; a rename over it could.
    """
    aside = f"{name}.aside"
    os.rename(final, aside, src_dir_fd=target, dst_dir_fd=drafts)
    with suppress(FileExistsError):  # somebody wrote a new one: the next look takes it in
        os.link(name, final, src_dir_fd=drafts, dst_dir_fd=target, follow_symlinks=False)
    os.rename(aside, name, src_dir_fd=drafts, dst_dir_fd=drafts)
    return True


def leftovers(journal: Journal, face: Face, memory: Remembered) -> Iterator[Displaced]:
    """What a crash or the last publish left in our hands, if it is not a draft of our own."""
    for at in dict.fromkeys((memory.draft, memory.displaced)):
        if at is None:
            continue
        where, name = at.split("/")
        with _folders(journal, face, where) as (_, drafts):
            for candidate in (name, f"{name}.aside"):
                data = _read(drafts, candidate)
                if data is not None and digest(data) != memory.drafted:
                    yield Displaced(data=data)


def sweep(journal: Journal, face: Face) -> None:
    """Remove drafts that no intent and no memory names: a crash before the intent left them."""
    rows = journal.connection.execute("SELECT draft, displaced FROM faces").fetchall()
    named = {str(at).split("/")[1] for row in rows for at in row if at is not None}
    where = _where(journal, face)
    with _folders(journal, face, where) as (_, drafts):
        for name in os.listdir(drafts):
            if name.startswith(_PREFIX) and _SUFFIX in name and name not in named:
                with suppress(OSError):  # not a file: not ours
                    disk.forget(name, folder=drafts)


def keep_aside(journal: Journal, face: Face, data: bytes | None) -> str:
    """Keep bytes that can neither be adopted nor stay where they were; returns the file."""
    folder = os.path.join(journal.folder, KEPT)
    disk.make_folder(folder)
    data = data or b""
    path = os.path.join(folder, f"{digest(data)[:12]}-{os.path.basename(face.relative)}")
    disk.replace(path, data)
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


def _drop(journal: Journal, face: Face, at: str | None) -> None:
    if at is None:
        return
    where, name = at.split("/")
    with _folders(journal, face, where) as (_, drafts):
        disk.forget(name, folder=drafts)

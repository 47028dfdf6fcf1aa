"""Putting a rendered face in place so that nobody's edit can fall between.

The order, once: draft written and synced → intent journalled → names swapped → folders synced
→ what was displaced is read → outcome journalled. Whatever stood there is in our hands after
the swap, so an edit made at the last instant is found; check-then-rename would lose it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from standfast import disk
from standfast.faces import look
from standfast.faces.displaced_files import Displaced, watch
from standfast.faces.drafts import folders, new_name, read, where_for, without_secrets
from standfast.faces.look import digest

if TYPE_CHECKING:
    from standfast.faces.face import Face
    from standfast.journal.store import Journal


def put_in_place(
    journal: Journal, face: Face, rendered: bytes, *, expected: bytes | None, exchange: bool
) -> Displaced | None:
    """Publish *rendered*; returns what it displaced, or None if a file appeared from nowhere."""
    before = look.remembered(journal, face).base
    where = where_for(journal, face)
    name = new_name()
    at = f"{where}/{name}"
    with folders(journal, face, where) as (target, drafts):
        disk.create(name, rendered, mode=_mode(face, target), folder=drafts)
        _give_to_owner(face, target, drafts, name)
        disk.sync_fd(drafts)
        look.remember(journal, face, draft=at, drafted=_text(rendered))
        final = os.path.basename(face.relative)
        placed: bool | None
        if expected is None:
            placed = _place_new(drafts, name, target, final)
        else:
            placed = _trade(drafts, name, target, final, exchange=exchange)
        if drafts != target:
            _make_private(drafts, name)
        disk.sync_fd(target)
        disk.sync_fd(drafts)
        if placed is None:  # a file appeared while ours was on its way; theirs is watched
            watch(journal, face, at, base=before)
        if not placed:
            look.remember(journal, face, draft=None, drafted=None)
        if placed is False:  # only now: a draft that is gone and still intended was put in place
            disk.forget(name, folder=drafts)
        if not placed:
            return None
        data = None if expected is None else read(face, drafts, name)
    if data is not None and data == expected:
        watch(journal, face, at, base=data, seen=digest(data))
    elif data is not None:
        watch(journal, face, at, base=before)
    base = without_secrets(rendered)
    look.remember_published(journal, face, rendered, base=base, draft=None, drafted=None)
    return Displaced(at, data)


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


def _make_private(drafts: int, name: str) -> None:
    """What was displaced has the rights of a work tree; whoever has it open writes on all the same.

    One with another name somewhere is no copy of ours alone: it keeps them.
    """
    with suppress(OSError):
        fd = disk.open_regular(name, folder=drafts)
        try:
            if os.fstat(fd).st_nlink == 1:
                os.fchmod(fd, disk.FILE_MODE)
        finally:
            os.close(fd)


def _text(rendered: bytes) -> str:
    return (without_secrets(rendered) or b"").decode()


def _give_to_owner(face: Face, target: int, drafts: int, name: str) -> None:
    """Root writes for whoever has the file: it stays theirs."""
    if os.geteuid() != 0:
        return
    try:
        owner = os.stat(os.path.basename(face.relative), dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        return
    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=drafts, follow_symlinks=False)


def _mode(face: Face, target: int) -> int:
    """The mode that the file has, if it has one."""
    try:
        mode = os.stat(os.path.basename(face.relative), dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        return face.mode
    return mode.st_mode & 0o777

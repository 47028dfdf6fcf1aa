"""Which journal was at which path, in the user's state directory: a note for who begins anew there.

The id beside a journal may go with it. Then nothing here is damage, since nobody can tell it from
a fresh clone; that there was one is said all the same. Nothing rests on this: where it cannot be
read or written, nothing is said.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors import StandfastError

if TYPE_CHECKING:
    from standfast.journal.store import Journal

FOLDER = "standfast/journals"
_LIMIT = 16 * 1024


def remember(state_home: str, journal: Journal) -> str:
    """Write down which journal is here; what to say of another that was, or nothing."""
    home = os.path.dirname(journal.folder)
    known = journal.identity
    if not known.name or known.home != home:
        return ""
    path = _note_of(state_home, home)
    told = _told(known.name, home)
    try:
        before = _read(path)
        if before != told:
            _write(path, told)
    except (OSError, StandfastError):
        return ""
    return _words(before, told, known.lost)


def missing(state_home: str, folder: str) -> str:
    """What to say where nothing is recorded, and something was; nothing else tells of it."""
    home = os.path.dirname(folder)
    try:
        before = _read(_note_of(state_home, home)).split(b"\n")
    except (OSError, StandfastError):
        return ""
    _, inode = disk.identity(home) or (0, 0)  # devices have other numbers after a reboot
    if before[1:] == [] or before[1].rpartition(b" ")[2] != b"%d" % inode:
        return ""  # of a folder that was here before this one
    name = before[0].removeprefix(b"journal ").decode("ascii", "replace")
    return (
        f"journal {name} was here before, and was taken away with its id: what it knew of runs is"
        " lost. `git worktree list` and `git branch --list 'lane/*'` show what they left"
    )


def _note_of(state_home: str, home: str) -> str:
    return os.path.join(state_home, FOLDER, sha256(os.fsencode(home)).hexdigest()[:32])


def _told(name: str, home: str) -> bytes:
    device, inode = disk.identity(home) or (0, 0)
    return b"journal %b\nfolder %d %d\npath %b\n" % (
        *(name.encode(), device, inode, os.fsencode(home)),
    )


def _read(path: str) -> bytes:
    try:
        return disk.read_regular(path, limit=_LIMIT)
    except FileNotFoundError:
        return b""


def _write(path: str, data: bytes) -> None:
    if os.path.lexists(path):
        os.unlink(path)  # and no draft of another: whoever dies here has lost a note
    disk.make_folder(os.path.dirname(path))
    disk.create(path, data)  # no draft; not synced as a name: nothing rests on it


def _words(before: bytes, told: bytes, lost: tuple[str, ...]) -> str:
    was, now = before.split(b"\n"), told.split(b"\n")
    name = was[0].removeprefix(b"journal ").decode("ascii", "replace")
    if not before or was[0] == now[0] or name in lost:
        return ""
    if was[1:2] == now[1:2]:
        return (
            f"journal {name} was here before: it was taken away, or its id file was; this one is"
            " another"
        )
    return f"journal {name} of another repository was kept at this path before: this one is new"

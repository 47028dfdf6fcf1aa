"""Which journal was at which path, in the user's state directory: a note for who begins anew there.

The id beside a journal may go with it. Then nothing here is damage, since nobody can tell it from
a fresh clone; that there was one is said all the same. Nothing rests on this: where it cannot be
read or written, nothing is said. Whose a journal is, `own_journals` says.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal.chain import sha256

if TYPE_CHECKING:
    from standfast.journal.store import Journal

FOLDER = "standfast/journals"
_LIMIT = 16 * 1024
_OURS = "standfast"  # how the names of what we put there begin


def remember(state_home: str, journal: Journal) -> str:
    """Write down which journal is here; what to say of another that was, or nothing."""
    from standfast.journal import id_file  # which asks this module

    home = os.path.dirname(journal.folder)
    known = id_file.read(journal.folder)  # what it says, and not what it will: a copy gets another
    if known is None or not known.name or known.home != home:
        return ""
    path = _note_of(state_home, home)
    try:
        told = _told(known.name, home)
        before = _read(path)
        if before != told:
            _write(path, told)
    except (OSError, StandfastError):
        return ""
    return _words(before, told, (*known.lost, *known.before))


def missing(state_home: str, folder: str) -> str:
    """What to say where nothing is recorded, and something was; nothing else tells of it."""
    home = os.path.dirname(folder)
    try:
        before = _read(_note_of(state_home, home)).split(b"\n")
        is_same = before[1:2] == [_folder(home)]
    except (OSError, StandfastError):
        return ""
    if not is_same:
        return ""  # of a folder that was here before this one
    name = before[0].removeprefix(b"journal ").decode("ascii", "replace")
    return (
        f"journal {name} was here before, and was taken away with its id: what it knew of runs is"
        " lost. `git worktree list` and `git branch --list 'lane/*'` show what they left"
    )


def _note_of(state_home: str, home: str) -> str:
    return os.path.join(state_home, FOLDER, sha256(os.fsencode(home)).hexdigest()[:32])


def _told(name: str, home: str) -> bytes:
    return b"journal %b\n%b\npath %b\n" % (name.encode(), _folder(home), os.fsencode(home))


def _folder(home: str) -> bytes:
    """Which folder this is. A new one may get the number of one that is gone, but is younger.

    How old it is, its oldest entry tells: git writes some of them once. The device is left out,
    since it has another number after a reboot.
    """
    _, inode = disk.identity(home) or (0, 0)
    with os.scandir(home) as entries:
        theirs = [each for each in entries if not each.name.startswith(_OURS)]
        born = min((each.stat(follow_symlinks=False).st_mtime_ns for each in theirs), default=0)
    return b"folder %d %d" % (inode, born)


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


def _words(before: bytes, told: bytes, known: tuple[str, ...]) -> str:
    was, now = before.split(b"\n"), told.split(b"\n")
    name = was[0].removeprefix(b"journal ").decode("ascii", "replace")
    if not before or was[0] == now[0] or name in known:
        return ""
    if was[1:2] == now[1:2]:
        return (
            f"journal {name} was here before: it was taken away, or its id file was; this one is"
            " another"
        )
    return f"journal {name} of another repository was kept at this path before: this one is new"

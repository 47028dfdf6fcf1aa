"""Damage that SQLite would pass over, and the mark that keeps everybody out until it is repaired.

SQLite reads its write-ahead log up to the first frame that does not check and takes that for
its end: one flipped byte, and what was committed after it is gone without an error. The index of
the log (`journal.db-shm`) is written after the log was synced, so it never counts a frame that
was not on disk: whoever opens the journal first asks the index before SQLite makes it anew, and
compares. Where the index says nothing for sure, nothing is claimed. Hook path.
"""

from __future__ import annotations

import os
from sys import byteorder

import apsw

from standfast import disk
from standfast.errors.base import JournalDamaged, StandfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MARK = "damaged"  # a file of this name beside the journal: nobody opens it but a repair
LOG_HEADER = 32
_INDEX_HEADER = 48  # twice, and then how far the log was brought into the database
_SALTS = slice(32, 40)
_FRAMES = slice(16, 20)
_IS_READY = 12
_MOST_OPEN = 32
_NO_SALTS = bytes(8)
_LOST = "pages in the write-ahead log: "

_indexes: dict[tuple[int, int], int] = {}


class Log:
    """What the index of a log said before SQLite looked: so many frames."""

    __slots__ = ("frames", "is_copied", "salts")

    def __init__(self, frames: int, *salts: bytes, is_copied: bool = False) -> None:
        self.frames = frames
        self.is_copied = is_copied  # all of it is in the database too
        self.salts = salts  # one of them is the index's, if SQLite makes it from this same log


def refuse(folder: str) -> None:
    """Nobody opens a journal that waits for its repair."""
    path = os.path.join(folder, MARK)
    if os.path.lexists(path):
        raise JournalDamaged(_words(path), file=folder)


def _words(path: str) -> str:
    try:
        text = disk.read_regular(path, limit=4096).decode("utf-8", "replace")
    except (OSError, StandfastError):
        text = ""
    quarantined = text.partition("\n")[2]
    if quarantined:
        return "a repair was begun and not finished"
    return text.strip() or "the journal was found to be damaged"


def log_of(path: str) -> Log | None:
    """What the index knows to be in the log and nowhere else; None where it cannot tell."""
    if os.path.getsize(path) <= 1 and _log_header(f"{path}-wal") is not None:
        _tell(
            os.path.dirname(path), "the database is empty, its log is not"
        )  # SQLite drops the log
    index = _index(path)
    if index is None:
        return None
    frames = int.from_bytes(index[_FRAMES], byteorder)
    in_database = int.from_bytes(index[96:100], byteorder)
    header = _log_header(f"{path}-wal")
    if header is None:  # cut off or taken away: after a loss of power that can be right
        return None
    is_copied = frames <= in_database
    if not is_log_header(header):  # SQLite will ignore all of it
        return None if is_copied else Log(frames, header[16:24], _NO_SALTS)
    if header[16:24] != index[_SALTS]:  # begun anew
        return None
    return Log(frames, header[16:24], is_copied=is_copied)


def compare(path: str, log: Log | None) -> None:
    """After SQLite has read the log: fewer frames of the same log are a loss."""
    index = None if log is None else _index(path)
    if log is None or index is None or index[_SALTS] not in log.salts:
        return
    frames = int.from_bytes(index[_FRAMES], byteorder)
    if log.is_copied and not frames:
        return  # nothing of it is read, so nothing older hides what the database has
    if frames < log.frames:
        _tell(os.path.dirname(path), f"{_LOST}{log.frames}, and {frames} can be read")


def _tell(folder: str, words: str) -> NoReturn:
    """The index is made anew by now: only the mark remembers."""
    try:
        disk.replace(os.path.join(folder, MARK), words.encode())
    except (OSError, StandfastError):
        pass  # where nothing can be written nobody goes on writing either
    raise JournalDamaged(words, file=folder)


def frames_told(words: str) -> int:
    """How many frames were committed, if that is what was found; 0 for anything else."""
    number = words.removeprefix(_LOST).partition(",")[0]
    is_number = words.startswith(_LOST) and number.isascii() and number.isdigit()
    return int(number) if is_number else 0


def _index(path: str) -> bytes | None:
    """The index's header, if both copies of it agree: then nobody is writing it.

    The file is never closed: SQLite's locks lie on it, and the system takes all of a process's
    locks on a file away when it closes any handle of it.
    """
    name = f"{path}-shm"
    key = disk.identity(name)
    if key is None:
        return None
    try:
        fd = _indexes.get(key)
        if fd is None:
            _close_unused()
            fd = _indexes[key] = disk.open_regular(name)
        data = os.pread(fd, 100, 0)
    except OSError:
        return None
    agree = len(data) == 100 and data[:_INDEX_HEADER] == data[_INDEX_HEADER : 2 * _INDEX_HEADER]  # noqa: PLR2004  # two headers and a number
    return data if agree and data[_IS_READY] == 1 else None


def _close_unused() -> None:
    """A process that opens many journals must not run out of files."""
    if len(_indexes) < _MOST_OPEN:
        return
    try:
        used = {disk.identity(f"{open_one.filename}-shm") for open_one in apsw.connections()}
    except apsw.ThreadingViolationError:
        return  # one is at work in another thread and says nothing: another time
    for key in _indexes.keys() - used:
        os.close(_indexes.pop(key))


def _log_header(path: str) -> bytes | None:
    try:
        fd = disk.open_regular(path)  # no locks lie on this one
    except OSError:
        return None
    try:
        header = os.pread(fd, LOG_HEADER + 1, 0)
    finally:
        os.close(fd)
    return header[:LOG_HEADER] if len(header) > LOG_HEADER else None


def is_log_header(header: bytes) -> bool:
    """Whether these 32 bytes begin a log: its magic number, and the checksum of the rest."""
    if header[:3] != b"\x37\x7f\x06" or header[3] not in {0x82, 0x83}:
        return False
    step = 1 if header[3] & 1 else -1  # the last bit says in which order the sum takes the bytes
    first = second = 0
    for at in range(0, 24, 8):
        one, other = header[at : at + 4][::step], header[at + 4 : at + 8][::step]
        first = first + int.from_bytes(one, "big") + second & 0xFFFFFFFF
        second = second + int.from_bytes(other, "big") + first & 0xFFFFFFFF
    return header[24:32] == first.to_bytes(4, "big") + second.to_bytes(4, "big")

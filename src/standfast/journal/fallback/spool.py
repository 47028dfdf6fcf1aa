"""The spool: where a fact goes when the journal cannot be had in time.

A file of 64 slots of 16 KiB, allocated when the journal is made, so that a full disk still
has room for it. A slot is a header of 16 bytes (magic, length, CRC-32, all big-endian) and
ten lines: stray id, time in microseconds, boot id, nanoseconds since that boot, run, session,
actor, subdirectory, kind, payload. The header is written last and cleared first, so a slot is
whole or empty; whatever else begins one is damage. With the boot id stands a mark of this very
folder: a spool that came along with a directory has another. The first slot counts, twice and each
time with a CRC-32, what found no room: a gap that the journal will tell of.
Hook path: nothing heavy is imported.
"""

from __future__ import annotations

import os

from standfast import clock, disk
from standfast.errors.base import JournalBusy
from standfast.journal import journal_file
from standfast.journal.author import USER, Author, check
from standfast.journal.locks import try_lock
from standfast.journal.payload import encode
from standfast.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE = "spool"
SLOTS = 64
SLOT_BYTES = 16 * 1024
BODY_LIMIT = SLOT_BYTES - 16
CUT_OFF = 0  # stands for the slots that a shorter file no longer has
_MAGIC = b"SFSPOOL1"
_COUNTS = (0, 512)  # where the two counts stand: what spoils one sector leaves the other
_TRIES, _PAUSE_S = 20, 0.005
_LONGEST_WAIT_US = 300 * clock.MICROSECONDS


class Stray:
    """A fact that waits to be merged."""

    __slots__ = ("at", "author", "boot", "id", "is_foreign", "kind", "payload", "since_boot")

    def __init__(
        self,
        stray_id: str,
        kind: str,
        payload: str,
        author: Author,
        *,
        at: int,
        boot: str,
        since_boot: int,
        is_foreign: bool = False,
    ) -> None:
        self.id = stray_id
        self.is_foreign = is_foreign  # nobody knows who wrote it, nor where
        self.kind = kind
        self.payload = payload
        self.author = author
        self.at = at
        self.boot = boot
        self.since_boot = since_boot


def prepare(folder: str) -> None:
    """Allocate the spool once, every block of it, beside the journal."""
    path = os.path.join(folder, FILE)
    if not os.path.lexists(path):
        data = bytearray(SLOTS * SLOT_BYTES)
        for at in _COUNTS:
            data[at : at + 12] = _count_of(0)
        disk.replace(path, bytes(data))


def keep(
    folder: str,
    kind: str,
    payload: Mapping[str, object] | str,
    author: Author = USER,
    *,
    at: int | None = None,
    count_gap: bool = True,
) -> bool:
    """Put a fact into a free slot, synced; False when there is none, and the gap is counted.

    *at* is when it was told: a writer that waited long for the journal comes here late. Who will
    try again counts no gap.
    """
    check(author, kind)
    stray = os.urandom(8).hex()
    now = clock.now_us()
    at = now if at is None else at
    waited = now - at if 0 <= now - at < _LONGEST_WAIT_US else 0  # else the clock was set meanwhile
    fields = (
        stray,
        str(at),
        f"{boot_id()} {journal_file.mark_of(folder)}",
        str(clock.monotonic_ns() - waited * 1000),
        author.run or "",
        author.session or "",
        author.actor,
        printable(author.subdir),
        kind,
        encode(payload),
    )
    body = "\n".join(fields).encode("utf-8", "backslashreplace")
    fd = _open(folder)
    try:
        _lock(fd)
        slot = next((n for n in range(1, SLOTS) if not _is_taken(fd, n)), 0)
        if not slot or len(body) > BODY_LIMIT:
            if count_gap:
                _count_gap(fd)
            return False
        os.pwrite(fd, body, slot * SLOT_BYTES + 16)
        disk.sync_fd(fd)  # the body first: a header must never speak of bytes that are not there
        os.pwrite(fd, _header(body), slot * SLOT_BYTES)
        disk.sync_fd(fd)
    finally:
        os.close(fd)
    return True


def _lock(fd: int) -> None:
    """A writer is quick; one that is not has been stopped, and is not waited for."""
    for _ in range(_TRIES):
        if try_lock(fd):
            return
        clock.pause(_PAUSE_S)
    raise JournalBusy("somebody holds the spool")


def boot_id() -> str:
    """This boot of this machine, where the system can tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return "unknown"


def strays(folder: str) -> Iterator[tuple[int, Stray | str]]:
    """Every taken slot; its header in hex where the bytes do not check."""
    try:
        fd = _open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return
    mark = journal_file.mark_of(folder)
    try:  # no lock: a slot is whole or empty at every instant, and its CRC says so
        for slot in range(1, SLOTS):
            if _is_taken(fd, slot):
                yield slot, _read(fd, slot, mark)
        if _is_short(fd):
            yield CUT_OFF, f"the spool was cut off at byte {os.fstat(fd).st_size:,}"
    finally:
        os.close(fd)


def origin(stray: Stray) -> str:
    """What the event of a stray says of where it came from: no two strays say the same."""
    boot = stray.boot if not stray.boot.strip("0123456789abcdef-") else "unknown"
    return f"spool {boot} {stray.since_boot}"


def is_used(folder: str) -> bool:
    """Whether any slot is taken: one read of each header."""
    try:
        fd = _open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return _is_short(fd) or any(_is_taken(fd, slot) for slot in range(1, SLOTS))
    finally:
        os.close(fd)


def gaps(folder: str) -> int:
    """How many facts have ever found no room: a count that only goes up."""
    try:
        fd = _open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return 0
    try:
        return _counted(fd)
    finally:
        os.close(fd)


def clear(folder: str, slots: Mapping[int, str]) -> None:
    """Free the slots that are in the journal now, if each still holds what was read from it.

    Somebody who writes there right now is not waited for: what stays is known and freed later.
    """
    fd = _open(folder)
    try:
        if not try_lock(fd):
            return
        if CUT_OFF in slots and _is_short(fd):
            _make_whole(fd)
        for slot, mark in slots.items():
            held = _read(fd, slot)
            if (held if isinstance(held, str) else held.id) == mark:
                os.pwrite(fd, bytes(16), slot * SLOT_BYTES)
        disk.sync_fd(fd)
    finally:
        os.close(fd)


def _open(folder: str, flags: int = os.O_RDWR) -> int:
    path = os.path.join(folder, FILE)
    try:
        return disk.open_regular(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        act = "read" if flags == os.O_RDONLY else "write"
        raise disk.disk_error(error, path, act) from error


def _header(body: bytes) -> bytes:
    from zlib import crc32  # a hook whose journal answers needs none

    return _MAGIC + len(body).to_bytes(4, "big") + crc32(body).to_bytes(4, "big")


def _make_whole(fd: int) -> None:
    """Take the room back, every block of it."""
    size = os.fstat(fd).st_size
    os.pwrite(fd, bytes(SLOTS * SLOT_BYTES - size), size)


def _is_short(fd: int) -> bool:
    """Whether somebody cut it off: what was in the slots behind is gone, and so is their room."""
    return os.fstat(fd).st_size < SLOTS * SLOT_BYTES


def _is_taken(fd: int, slot: int) -> bool:
    return any(os.pread(fd, 16, slot * SLOT_BYTES))


def _count_gap(fd: int) -> None:
    """One after the other: whenever this is cut short, one of them is whole."""
    count = _count_of(_counted(fd) + 1)
    for at in _COUNTS:
        os.pwrite(fd, count, at)
        disk.sync_fd(fd)


def _count_of(number: int) -> bytes:
    from zlib import crc32

    count = number.to_bytes(8, "big")
    return count + crc32(count).to_bytes(4, "big")


def _counted(fd: int) -> int:
    """The higher of the counts that check; a spool of before there were two has a bare one."""
    bare, other = (os.pread(fd, 12, at) for at in _COUNTS)
    numbers = [int.from_bytes(count[:8], "big") for count in (bare, other)]
    whole = [n for n, count in zip(numbers, (bare, other), strict=True) if count == _count_of(n)]
    return max(whole, default=numbers[0])


def _is_time(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18  # noqa: PLR2004  # fits 64 bits


def _read(fd: int, slot: int, mark: str = "") -> Stray | str:
    header = os.pread(fd, 16, slot * SLOT_BYTES)
    length = int.from_bytes(header[8:12], "big")
    body = os.pread(fd, min(length, BODY_LIMIT), slot * SLOT_BYTES + 16)
    if _header(body) != header:
        return header.hex()
    fields = body.decode("utf-8", "replace").split("\n", 9)
    if len(fields) != 10 or not (_is_time(fields[1]) and _is_time(fields[3])):  # noqa: PLR2004  # as above
        return header.hex()
    stray_id, at, boot, since_boot, run, session, actor, subdir, kind, payload = fields
    boot, _, kept_at = boot.partition(" ")
    author = Author(actor, run=run or None, session=session or None, subdir=subdir)
    return Stray(stray_id, kind, payload, author, at=int(at), boot=boot, since_boot=int(since_boot),
                 is_foreign=not mark or kept_at != mark)  # fmt: skip

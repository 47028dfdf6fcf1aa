"""What the pieces of a damaged journal claim to have been recorded: pages, log, mirror.

A claim is an event as one piece or several tell it; nothing here says that it is true.
`verdicts` weighs claims against each other and against the hashes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal import chain, damage, mirror
from standfast.journal.repair.pages import Pages
from standfast.journal.retention import event_drop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.repair.pages import Check, Record
    from standfast.journal.tables.folds import Row

_COLUMNS = 11
_HASH_BYTES = 32
_LARGEST_SEQ = 10**15


class Claim:
    """One event, and what speaks for it besides its hash."""

    __slots__ = ("file", "is_sound", "mirrored", "pages", "row")

    def __init__(self, row: Row) -> None:
        self.row = row
        self.mirrored = False
        self.file = ""  # of the mirror, where a line there says so
        self.pages: list[Check] = []
        self.is_sound = False  # whether SQLite would read a page that says so

    @property
    def is_likely(self) -> bool:
        """Whether a line's or a page's own checksum says that these are the bytes once written."""
        return self.mirrored or any(checks() for checks in self.pages)

    @property
    def is_only_mirrored(self) -> bool:
        """Whether nothing of the database, in whatever version, says the same."""
        return self.mirrored and not self.pages


class Claims:
    """All claims by number, and the numbers that are known to have been given out."""

    def __init__(self) -> None:
        self.by_seq: dict[int, list[Claim]] = {}
        self.known = 0
        self.end: int | None = None  # the newest number in the table, if the way to it checks
        self.bases: list[bytes] = []
        self.damaged: list[str] = []

    def add(self, row: Row) -> Claim:
        """The claim for exactly this event, made if it is new."""
        told = self.by_seq.setdefault(row[0], [])
        for claim in told:
            if claim.row == row:
                return claim
        claim = Claim(row)
        told.append(claim)
        return claim


class Pieces(NamedTuple):
    """What there is to read from: a folder with copies that nobody writes to."""

    folder: str

    def file(self, name: str) -> bytes:
        """The bytes of a file; none where there is no such file, or no regular one."""
        path = os.path.join(self.folder, name)
        try:
            return disk.read_regular(path, limit=1 << 40)
        except (OSError, StandfastError):
            return b""


def pages_of(pieces: Pieces, found: list[str]) -> Pages:
    """The database and its log, as far as that is known to go."""
    known = max(map(damage.frames_told, found), default=0)
    return Pages(pieces.file("journal.db"), pieces.file("journal.db-wal"), known)


def gather(pieces: Pieces, pages: Pages) -> Claims:
    """Read everything once."""
    claims = Claims()
    _from_pages(pages, claims)
    claims.end = pages.newest_key("events")
    if pages.frames.sound < len(pages.frames.frames):
        claims.damaged.append("the write-ahead log")
    _from_mirror(pieces.folder, claims)
    return claims


def _from_pages(pages: Pages, claims: Claims) -> None:
    behind: list[tuple[Row, Record]] = []
    known = 0
    for record in pages.records():
        seq = _indexed(record)
        if seq > (claims.known if record.sound else known) and record.checks():
            known = max(known, seq)
            claims.known = known if record.sound else claims.known
        claims.bases += _base(record)
        row = as_row(record)
        if row is not None and record.sound:
            claim = claims.add(row)
            claim.pages.append(record.checks)
            claim.is_sound = True
        elif row is not None:
            behind.append((row, record))
    if not _is_left_over(behind, claims):
        claims.known = known
        for row, record in behind:
            claims.add(row).pages.append(record.checks)


def _is_left_over(behind: list[tuple[Row, Record]], claims: Claims) -> bool:
    """Whether what stands behind a break in the log was never committed.

    A writer that was killed before its commit was known leaves frames; a shorter transaction
    that takes their place takes their numbers too, for other events.
    """
    return any(
        claim.row != row and claim.is_likely and record.checks()
        for row, record in behind
        for claim in claims.by_seq.get(row[0], ())
    )


def _indexed(record: Record) -> int:
    """The number that a row of the index by stream tells of; 0 for any other row."""
    if record.key or len(record.values) != 2:  # noqa: PLR2004  # the stream and the number
        return 0
    stream, seq = record.values
    if isinstance(stream, str) and isinstance(seq, int):
        return seq if stream == "repo" or stream.startswith(("run:", "session:")) else 0
    return 0


def _base(record: Record) -> list[bytes]:
    """A row of the table `base`; whether its checksum is right is seen when it is needed."""
    if len(record.values) != 2 or not record.key:  # noqa: PLR2004  # the last event, the line
        return []
    document = record.values[1]
    if isinstance(document, str) and document.startswith('{"base":'):
        return [document.encode()]
    return []


def as_row(record: Record) -> Row | None:
    """A row of the table of events, if it has the shape of one."""
    if not 0 < record.key < _LARGEST_SEQ or len(record.values) != _COLUMNS:
        return None
    return _shaped(record.key, *record.values[1:])


def _shaped(seq: int, *values: object) -> Row | None:
    at, stream, run, session, actor, subdir, kind, origin, payload, link = values
    texts = (stream, actor, subdir, kind, payload)
    options = (run, session, origin)
    if not isinstance(at, int) or not all(isinstance(text, str) for text in texts):
        return None
    if not all(text is None or isinstance(text, str) for text in options):
        return None
    if not isinstance(link, bytes) or len(link) != _HASH_BYTES:
        return None
    if stream != chain.stream_of(run, session):  # type: ignore[arg-type]  # checked above
        return None
    return (seq, at, stream, run, session, actor, subdir, kind, origin, payload, link)  # type: ignore[return-value]  # checked above


def _from_mirror(folder: str, claims: Claims) -> None:
    for path in event_drop.base_files(folder):
        try:
            claims.bases.append(disk.read_regular(path, limit=1 << 40))
        except (OSError, StandfastError):
            claims.damaged.append(f"mirror {os.path.basename(path)}")
    for path, line in _lines(folder, claims):
        row = _mirrored(line)
        if row is None:
            words = f"mirror {os.path.basename(path)}"
            if words not in claims.damaged:
                claims.damaged.append(words)
            continue
        claim = claims.add(row)
        claim.mirrored, claim.file = True, os.path.join(mirror.FOLDER, os.path.basename(path))


def _lines(folder: str, claims: Claims) -> Iterator[tuple[str, bytes]]:
    """Whole lines of every file that can be read; what follows the last line end is not one."""
    try:
        paths = mirror.segments(folder)
    except StandfastError as error:
        claims.damaged.append(f"the mirror ({error.problem})")
        return
    for path in paths:
        try:
            data = disk.read_regular(path, limit=mirror.LARGEST)
        except (OSError, StandfastError):
            claims.damaged.append(f"mirror {os.path.basename(path)}")
            continue
        for line in data.split(b"\n")[:-1]:
            yield path, line + b"\n"


def _mirrored(line: bytes) -> Row | None:
    """The event of a line whose checksum is right, its payload byte for byte."""
    event = mirror.parse(line)
    if event is None:
        return None
    payload = line.rpartition(b',"crc":"')[0].partition(b',"payload":')[2]
    seq, run, session = event["seq"], event.get("run"), event.get("session")
    try:
        link = bytes.fromhex(str(event.get("hash")))
        text = payload.decode()
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(seq, int) or not 0 < seq < _LARGEST_SEQ:
        return None
    names = [event.get(name) for name in ("actor", "subdir", "kind", "origin")]
    stream = chain.stream_of(
        run if isinstance(run, str) else None, session if isinstance(session, str) else None
    )
    return _shaped(seq, event.get("at_us"), stream, run, session, *names, text, link)

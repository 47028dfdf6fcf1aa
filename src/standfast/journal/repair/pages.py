"""The pages of a journal's database, read without SQLite, so that one bad page hides no other.

Events are only ever added and are proved by their hashes, so every version of every page may
hold one: those in the database file, and those in its write-ahead log. What is read here is a
claim, not yet a fact. See https://sqlite.org/fileformat.html for the format.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from standfast.journal import database
from standfast.journal.repair.log_frames import Frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TABLE_LEAF, _INDEX_LEAF, _TABLE_INNER = 0x0D, 0x0A, 0x05
_DEEPEST = 20  # steps from the root of a table to its leaves
_SCHEMA_COLUMNS = 5
_FIRST_HEADER = 100
_LARGEST = 256 * 1024 * 1024  # a record; the base of dropped events may be large
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_WORDS = 0xFFFFFFFF

Value = int | str | bytes | None


class Check:
    """A question about one page that is answered once, and only if somebody asks."""

    __slots__ = ("_answer", "_ask")

    def __init__(self, ask: Callable[[], bool]) -> None:
        self._ask = ask
        self._answer: bool | None = None

    def __call__(self) -> bool:
        """Ask, or remember."""
        if self._answer is None:
            self._answer = self._ask()
        return self._answer


class Record(NamedTuple):
    """One row of some table or index; *key* is its rowid, 0 in an index."""

    key: int
    values: tuple[Value, ...]
    checks: Check  # whether the page that it stands on is what was written
    sound: bool  # whether SQLite would read this page too, as far as its log goes


class Pages:
    """A database file and its log, of which so many frames are known to be committed."""

    def __init__(self, file: bytes, log: bytes, known: int = 0) -> None:
        self._file = file
        self._log = log
        self.size, self._usable = _sizes(file)
        self.frames = Frames(log, self.size, known)
        self._newest = {frame.page: at for at, frame in enumerate(self.frames.frames)}

    def records(self) -> Iterator[Record]:
        """Every row of every leaf page, in all versions there are."""
        for number in range(1, len(self._file) // self.size + 1):
            start = (number - 1) * self.size
            page = self._file[start : start + self.size]
            checks = Check(partial(page_checks, page))
            for key, values in self._rows(page, number):
                yield Record(key, values, checks, sound=True)
        for at, frame in enumerate(self.frames.frames):
            page = self._log[frame.start : frame.start + self.size]
            checks = Check(partial(self.frames.checks, at))
            for key, values in self._rows(page, frame.page):
                yield Record(key, values, checks, sound=at < self.frames.sound)

    def first(self) -> tuple[bytes, bool]:
        """The first page as it was last committed, and whether its checksum is right."""
        for at in range(len(self.frames.frames) - 1, -1, -1):
            frame = self.frames.frames[at]
            if frame.page == 1:
                return self._log[frame.start : frame.start + self.size], self.frames.checks(at)
        page = self._file[: self.size]
        return page, len(page) == self.size and page_checks(page)

    def newest_key(self, table: str) -> int | None:
        """The highest rowid of a table, 0 if it is empty; None unless every step to it checks."""
        number = self._root(table) if self.frames.is_whole else None
        for _ in range(_DEEPEST):
            if number is None or not self._checks(number):
                return None
            page = self._page(number)
            if page[0] != _TABLE_INNER:
                return _last_key(page)
            (number,) = struct.unpack_from(">I", page, 8)
        return None

    def _root(self, table: str) -> int | None:
        """Where a table begins, by the newest word of the schema that checks."""
        root: int | None = None
        for record in self.records():
            if len(record.values) == _SCHEMA_COLUMNS and record.values[:2] == ("table", table):
                found = record.values[3]
                root = found if isinstance(found, int) and record.checks() else root
        return root

    def _checks(self, number: int) -> bool:
        """Whether a page is what the newest transaction left, and all there."""
        at = self._newest.get(number)
        if at is not None:
            return self.frames.checks(at)
        page = self._file[(number - 1) * self.size : number * self.size]
        return number > 1 and len(page) == self.size and page_checks(page)

    def _rows(self, page: bytes, number: int) -> Iterator[tuple[int, tuple[Value, ...]]]:
        at = _FIRST_HEADER if number == 1 else 0
        kind = page[at]
        if kind not in {_TABLE_LEAF, _INDEX_LEAF}:
            return
        (count,) = struct.unpack_from(">H", page, at + 3)
        for cell in range(min(count, (self.size - at - 8) // 2)):
            (start,) = struct.unpack_from(">H", page, at + 8 + 2 * cell)
            try:
                row = self._cell(page, start, is_table=kind == _TABLE_LEAF)
            except (ValueError, IndexError, struct.error):  # damaged: it is no row
                continue
            yield row

    def _cell(self, page: bytes, at: int, *, is_table: bool) -> tuple[int, tuple[Value, ...]]:
        length, at = _varint(page, at)
        key = 0
        if is_table:
            key, at = _varint(page, at)
        if length > _LARGEST:
            raise ValueError("no record is as long as that")
        local = self._local(length, is_table=is_table)
        data = page[at : at + local]
        if local < length:
            (following,) = struct.unpack_from(">I", page, at + local)
            data += self._overflow(following, length - local)
        return key, _values(data)

    def _local(self, length: int, *, is_table: bool) -> int:
        """How much of a record stands on its own page."""
        usable = self._usable
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (usable - 12) * 32 // 255 - 23
        some = least + (length - least) % (usable - 4)
        return some if some <= most else least

    def _overflow(self, number: int, length: int) -> bytes:
        parts: list[bytes] = []
        room = self._usable - 4
        while length > 0:
            page = self._page(number)
            parts.append(page[4 : 4 + min(length, room)])
            (number,) = struct.unpack_from(">I", page)
            length -= room
        return b"".join(parts)

    def _page(self, number: int) -> bytes:
        """A page as the newest transaction left it."""
        if number in self._newest:
            start = self.frames.frames[self._newest[number]].start
            return self._log[start : start + self.size]
        start = (number - 1) * self.size
        if number < 1 or start + self.size > len(self._file):
            raise ValueError("there is no such page")
        return self._file[start : start + self.size]


def _sizes(file: bytes) -> tuple[int, int]:
    """The size of a page and what of it is used; ours where the header cannot be believed."""
    if file[:16] == b"SQLite format 3\0":
        size = int.from_bytes(file[16:18], "big")
        if size in {512, 1024, 2048, 4096, 8192, 16384, 32768} and file[20] in {
            0,
            database.PAGE_CHECKSUM_BYTES,
        }:
            return size, size - file[20]
    return database.PAGE_BYTES, database.PAGE_BYTES - database.PAGE_CHECKSUM_BYTES


def page_checks(page: bytes) -> bool:
    """Whether a page of the database file ends in its own checksum, as cksumvfs makes it."""
    first = second = 0
    for one, other in struct.iter_unpack("<II", page[:-8]):
        first = first + one + second & _WORDS
        second = second + other + first & _WORDS
    return struct.pack("<II", first, second) == page[-8:]


def _last_key(page: bytes) -> int | None:
    """The key of the last row on a leaf of a table."""
    (count,) = struct.unpack_from(">H", page, 3)
    if page[0] != _TABLE_LEAF:
        return None
    if count == 0:
        return 0
    (start,) = struct.unpack_from(">H", page, 8 + 2 * (count - 1))
    _, at = _varint(page, start)
    return _varint(page, at)[0]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for position in range(at, at + 8):
        byte = data[position]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004  # the last byte of a number
            return value, position + 1
    return value << 8 | data[at + 8], at + 9


def _values(data: bytes) -> tuple[Value, ...]:
    """A record: the types of its columns, then their bytes."""
    body, at = _varint(data, 0)
    end = body
    values: list[Value] = []
    while at < end:
        kind, at = _varint(data, at)
        value, body = _value(data, kind, body)
        values.append(value)
    return tuple(values)


def _value(data: bytes, kind: int, at: int) -> tuple[Value, int]:
    if kind in {0, 8, 9}:
        return (None, 0, 1)[0 if kind == 0 else kind - 7], at
    length = _INTEGERS.get(kind, 8) if kind < 12 else (kind - 12) // 2  # noqa: PLR2004  # the format's numbers
    if at + length > len(data):
        raise ValueError("the record is cut off")
    part = data[at : at + length]
    if kind < 12:  # noqa: PLR2004  # as above
        return int.from_bytes(part, "big", signed=True), at + length
    return part.decode() if kind % 2 else part, at + length

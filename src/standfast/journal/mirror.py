"""The mirror: the same events as lines of JSON, to read with `less` and to rebuild from.

`mirror/<first seq>.jsonl`, a new file past 8 MiB. Each line is one event with a `crc` over
the bytes before it. Written in batches behind the journal: the journal is the truth, and an
unfinished last line was never promised. What is mirrored is told by the files alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from standfast import disk
from standfast.clock import rfc3339
from standfast.errors.base import TooLarge
from standfast.journal import questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from standfast.journal.questions import Event
    from standfast.journal.store import Journal
    from standfast.journal.tables.folds import Row

FOLDER = "mirror"
SEGMENT_BYTES = 8 * 1024 * 1024
LARGEST = SEGMENT_BYTES * 4
_BATCH_BYTES = 64 * 1024  # all that one sync covers, unless it is a single line
_WINDOW = 8 * 1024
_NAME = re.compile(r"\d{12}\.jsonl", re.ASCII)


def line_of(event: Event) -> bytes:
    """One event as its line: names need no escapes, the payload is JSON as it stands."""
    seq, at, run, session, actor, subdir, kind, origin, payload, link = event
    body = (
        f'{{"seq":{seq},"at":"{rfc3339(at)}","at_us":{at},"run":{_name(run)},'
        f'"session":{_name(session)},"actor":"{actor}","subdir":{_text(subdir)},"kind":"{kind}",'
        f'"origin":{_text(origin)},"hash":"{link.hex()}","payload":{payload}'
    ).encode()
    return body + b',"crc":"%08x"}\n' % zlib.crc32(body)


def line_of_row(row: Row) -> bytes:
    """The same for a row of the table, which has the stream among its columns."""
    return line_of(questions.Event._make((*row[:2], *row[3:])))


def _name(name: str | None) -> str:
    return f'"{name}"' if name else "null"


def _text(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False) if text else ('""' if text == "" else "null")


def parse(line: bytes) -> dict[str, object] | None:
    """The event of a whole line, or None for one that is torn, damaged or nothing of ours."""
    body, separator, crc = line.rpartition(b',"crc":"')
    if not separator or crc != b'%08x"}\n' % zlib.crc32(body):
        return None
    try:
        event = json.loads(body + b"}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or type(event.get("seq")) is not int:
        return None
    return event


def segments(folder: str) -> list[str]:
    """The mirror's files, oldest first."""
    mirror = os.path.join(folder, FOLDER)
    disk.refuse_link(mirror)
    try:
        names = os.listdir(mirror)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise disk.disk_error(error, mirror, "read") from error
    return sorted(os.path.join(mirror, name) for name in names if _NAME.fullmatch(name))


def size(folder: str) -> int:
    """Bytes of all segments; one that is being taken away counts nothing."""
    total = 0
    for path in segments(folder):
        with suppress(FileNotFoundError):
            total += os.path.getsize(path)
    return total


def first_seq(path: str) -> int:
    """The first event of a segment, as its name says."""
    return int(os.path.basename(path)[:12])


def lines(folder: str) -> Iterator[tuple[str, int, bytes]]:
    """Every line with its file and number; each segment is read as a regular file only."""
    for path in segments(folder):
        data = disk.read_regular(path, limit=LARGEST)
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            yield path, number, line


def last_seq(folder: str) -> int:
    """The newest event that the mirror holds; 0 when it holds none."""
    return _tail(folder)[2]


def newest(folder: str) -> tuple[int, str]:
    """The same, with its hash: whether it is the journal's own event is another question."""
    path, length, last = _tail(folder)
    if path is None:
        return 0, ""
    fd = _open(path, os.O_RDONLY)
    try:
        start = max(0, length - _WINDOW)
        line = os.pread(fd, length - start, start).splitlines(keepends=True)[-1]
    finally:
        os.close(fd)
    found = parse(line)
    return last, str(found.get("hash", "")) if found else ""


def catch_up(journal: Journal) -> None:
    """Append what the mirror lacks; skipped if another is at it."""
    with alone(journal.folder) as is_mine:
        if is_mine:
            append(journal)


@contextmanager
def alone(journal_folder: str) -> Iterator[bool]:
    """Be the only one to change the mirror, if nobody else is."""
    folder = os.path.join(journal_folder, FOLDER)
    disk.refuse_link(folder)
    try:
        disk.make_folder(folder)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise disk.disk_error(error, folder) from error
    try:
        yield _is_locked(lock)
    except OSError as error:
        raise disk.disk_error(error, folder) from error
    finally:
        os.close(lock)


def _is_locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _tail(folder: str) -> tuple[str | None, int, int]:
    """The newest file with a whole line, its length up to there, and that line's number."""
    for path in reversed(segments(folder)):
        fd = _open(path, os.O_RDONLY)
        try:
            found = _last_whole_line(fd)
        finally:
            os.close(fd)
        if found is not None:
            return path, *found
    return None, 0, 0


def _mended(folder: str) -> tuple[str | None, int, int]:
    """The tail, behind lines that are all whole.

    A power cut in mid-batch may keep its end and not its middle: what follows damage is written
    again. Batches before the last one were synced.
    """
    while True:
        path, length, last = _tail(folder)
        fd = None if path is None else _open(path, os.O_RDWR)
        if fd is None:
            return path, length, last
        try:
            sound = _sound_length(fd, length)
            if sound == length:
                return path, length, last
            os.ftruncate(fd, sound)
        finally:
            os.close(fd)


def _sound_length(fd: int, length: int) -> int:
    """Up to where the last batch is whole, given where its last whole line ends."""
    start = max(0, length - _BATCH_BYTES - 1)
    data = os.pread(fd, length - start, start)
    at = data.find(b"\n") + 1 if start else 0  # the line before is from another batch
    before = None
    for line in data[at:].splitlines(keepends=True):
        event = parse(line)
        if event is None or before not in (None, int(str(event["seq"])) - 1):
            break
        before = int(str(event["seq"]))
        at += len(line)
    return start + at


def _last_whole_line(fd: int) -> tuple[int, int] | None:
    """Where the last whole line ends and its number, looking back only as far as it must."""
    size = os.fstat(fd).st_size
    if size > LARGEST:
        raise TooLarge(f"a mirror file is never over {LARGEST:,} bytes; this one has {size:,}")
    window = _WINDOW
    while True:
        start = max(0, size - window)
        data = os.pread(fd, size - start, start)
        end = data.rfind(b"\n") + 1
        while end:
            begin = data.rfind(b"\n", 0, end - 1) + 1
            event = parse(data[begin:end]) if begin or not start else None
            if event is not None:
                return start + end, int(str(event["seq"]))
            end = begin
        if not start:
            return None
        window *= 16


def _open(path: str, flags: int) -> int:
    try:
        return disk.open_regular(path, flags)
    except OSError as error:
        act = "read" if flags == os.O_RDONLY else "write"
        raise disk.disk_error(error, path, act) from error


def append(journal: Journal) -> None:
    """Between `alone` and its end: append what is lacking, in one synced write per batch."""
    tail = _mended(journal.folder)
    _extend(journal.folder, tail, questions.events(journal, questions.Filter(after=tail[2])))


def write_anew(folder: str, events: Iterable[Event]) -> None:
    """Everything from the beginning, into a mirror without a line."""
    _extend(folder, (None, 0, 0), events)


def _extend(folder: str, tail: tuple[str | None, int, int], events: Iterable[Event]) -> None:
    path, length, _ = tail
    batch: list[bytes] = []
    size = 0
    for event in events:
        line = line_of(event)
        is_full = path is None or length + size > SEGMENT_BYTES
        if is_full or size + len(line) > _BATCH_BYTES:
            _write(path, length, batch)
            length, batch, size = length + size, [], 0
        if is_full:
            path, length = _segment(folder, event.seq), 0
        batch.append(line)
        size += len(line)
    _write(path, length, batch)


def _segment(folder: str, seq: int) -> str:
    return os.path.join(folder, FOLDER, f"{seq:012d}.jsonl")


def _write(path: str | None, length: int, batch: list[bytes]) -> None:
    if path is None or not batch:
        return
    new = not os.path.exists(path)
    fd = _open(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.ftruncate(fd, length)  # a torn last line goes before anything follows it
        os.lseek(fd, length, os.SEEK_SET)
        disk.write_all(fd, b"".join(batch))
        disk.sync_fd(fd)
    finally:
        os.close(fd)
    if new:
        disk.sync_folder(os.path.dirname(path))

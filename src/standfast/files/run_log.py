"""The run log: one JSON object a line, appended and never rewritten.

A writer that died in mid-line leaves a torn one. Readers pass over it, and the next writer begins
a new line first, so that nothing is ever glued to it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors import BadCheckpoint, StandfastError, UnsafePath
from standfast.protocol.json_text import read_json, write_json
from standfast.redact import redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.protocol.documents import Value

STATUSES = ("ok", "error", "blocked", "skipped")
NEEDED = ("ts", "run_id", "phase", "lane", "task", "event", "status")  # `-` where there is none
_TAIL = 256 * 1024


class Tail(NamedTuple):
    """The last entries of a log, and how many lines among them could not be read."""

    entries: tuple[dict[str, Value], ...] = ()
    torn: int = 0


def append(path: str, entry: Mapping[str, object]) -> None:
    """Add one entry, durably, in one write: other writers' lines stand whole beside it."""
    line = f"{_line(entry)}\n".encode()
    try:
        _append(path, line)
    except OSError as error:
        raise disk.disk_error(error, path) from error


def _append(path: str, line: bytes) -> None:
    new = not os.path.lexists(path)
    disk.make_folder(os.path.dirname(path))
    fd = _open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        disk.write_all(fd, line if _ends_whole(fd) else b"\n" + line)
        disk.sync_fd(fd)
    finally:
        os.close(fd)
    if new:
        disk.sync_folder(os.path.dirname(path))


def _open(path: str, flags: int = os.O_RDONLY) -> int:
    try:
        return disk.open_regular(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnsafePath(f"the run log cannot be opened: {error.strerror}", file=path) from error


def missing_in(entry: Mapping[str, object]) -> list[str]:
    """What every entry has and this one has not: the log lies where anybody can write to it."""
    return [name for name in NEEDED if not isinstance(entry.get(name), str)]


def _line(entry: Mapping[str, object]) -> str:
    missing = missing_in(entry)
    if missing:
        raise BadCheckpoint(f"an entry of the run log needs {', '.join(missing)}")
    if entry["status"] not in STATUSES:
        raise BadCheckpoint(f"the status of an entry is one of {', '.join(STATUSES)}")
    return write_json(redact_value(dict(entry)))  # type: ignore[arg-type]  # checked by writing it


def _ends_whole(fd: int) -> bool:
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"


def tail(path: str, count: int) -> Tail:
    """The last entries; no log is an empty one. Only the end of a long log is looked at."""
    try:
        fd = _open(path)
    except FileNotFoundError:
        return Tail()
    try:
        start = max(0, os.fstat(fd).st_size - _TAIL)
        data = os.pread(fd, _TAIL, start)
    finally:
        os.close(fd)
    return read_tail(data.partition(b"\n")[2] if start else data, count)


def read_tail(data: bytes, count: int) -> Tail:
    """The last *count* entries in these bytes; a line that is none is counted, not refused."""
    entries: list[dict[str, Value]] = []
    torn = 0
    for line in reversed(data.splitlines()):
        if len(entries) == count:
            break
        entry = _entry(line) if line.strip() else None
        if entry is not None:
            entries.append(entry)
        elif line.strip():
            torn += 1
    return Tail(tuple(reversed(entries)), torn)


def _entry(line: bytes) -> dict[str, Value] | None:
    try:
        entry = read_json(line, name="run log")
    except StandfastError:
        return None
    return entry if isinstance(entry, dict) else None

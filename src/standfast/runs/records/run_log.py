"""The run log: one JSON object a line, appended and never rewritten.

A writer that died in mid-line leaves a torn one. Readers pass over it, and the next writer begins
a new line first, so that nothing is ever glued to it.

The log lies where every agent can write. So each line of ours ends with a proof, made with a key
that is kept beside the journal: whoever reads with the key sees lines of ours alone, each once.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import BadCheckpoint, StandfastError, UnsafePath
from standfast.formats.json_text import read_json, write_json
from standfast.redaction.redactor import redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.formats.document_limits import Value

STATUSES = ("ok", "error", "blocked", "skipped")
NEEDED = ("ts", "run_id", "phase", "lane", "task", "event", "status")  # `-` where there is none
_TAIL = 256 * 1024
_KEY, _KEY_BYTES, _NONCE_DIGITS = "log.key", 32, 16
PROOF = "proof"


class Tail(NamedTuple):
    """The last entries of a log, and how many lines among them could not be read or are others'."""

    entries: tuple[dict[str, Value], ...] = ()
    torn: int = 0
    foreign: int = 0


def key(folder: str, *, may_make: bool = False) -> bytes:
    """The key of the journal in a folder; b"" where there is none, which proves nothing."""
    path = os.path.join(folder, _KEY)
    try:
        found = disk.read_regular(path, limit=_KEY_BYTES)
    except FileNotFoundError:
        found = b""
    if len(found) == _KEY_BYTES or not may_make:
        return found if len(found) == _KEY_BYTES else b""
    disk.make_folder(folder)
    try:
        disk.create(path, os.urandom(_KEY_BYTES))
    except FileExistsError:
        if not disk.read_regular(path, limit=_KEY_BYTES):
            disk.replace(path, os.urandom(_KEY_BYTES))  # a power cut left it empty
    return key(folder)


def _proof(entry: Mapping[str, object], key: bytes, nonce: str) -> str:
    said = write_json({name: entry[name] for name in sorted(entry) if name != PROOF})  # type: ignore[misc]  # as it was read or is written
    return nonce + hmac.new(key, f"{nonce}{said}".encode(), hashlib.sha256).hexdigest()


def unproved(entry: Mapping[str, Value]) -> dict[str, Value]:
    """What an entry says, without the proof that we said it."""
    return {name: value for name, value in entry.items() if name != PROOF}


def _is_ours(entry: Mapping[str, object], key: bytes) -> bool:
    proof = entry.get(PROOF)
    if not key or not isinstance(proof, str):
        return False
    return hmac.compare_digest(proof.encode(), _proof(entry, key, proof[:_NONCE_DIGITS]).encode())


def append(path: str, entry: Mapping[str, object], key: bytes = b"") -> None:
    """Add one entry, durably, in one write: other writers' lines stand whole beside it."""
    line = f"{_line(entry, key)}\n".encode()
    try:
        _append(path, line)
    except OSError as error:
        raise disk.disk_error(error, path, "write") from error


def _append(path: str, line: bytes) -> None:
    new = not os.path.lexists(path)
    disk.make_folder(os.path.dirname(path), mode=disk.TREE_FOLDER_MODE)
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
        return disk.open_regular(path, flags, disk.TREE_FILE_MODE)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnsafePath(f"the run log cannot be opened: {error.strerror}", file=path) from error


def missing_in(entry: Mapping[str, object]) -> list[str]:
    """What every entry has and this one has not: the log lies where anybody can write to it."""
    return [name for name in NEEDED if not isinstance(entry.get(name), str)]


def _line(entry: Mapping[str, object], key: bytes) -> str:
    missing = missing_in(entry)
    if missing:
        raise BadCheckpoint(f"an entry of the run log needs {', '.join(missing)}")
    if entry["status"] not in STATUSES:
        raise BadCheckpoint(f"the status of an entry is one of {', '.join(STATUSES)}")
    said: dict[str, Value] = redact_value(dict(entry))  # type: ignore[assignment]  # checked by writing it
    if key:
        said[PROOF] = _proof(said, key, os.urandom(_NONCE_DIGITS // 2).hex())
    return write_json(said)


def _ends_whole(fd: int) -> bool:
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"


def tail(path: str, count: int, key: bytes | None = None) -> Tail:
    """The last entries; no log is an empty one. Only the end of a long log is looked at.

    With a *key* those that it proves; without one all, whoever wrote them.
    """
    try:
        fd = _open(path)
    except FileNotFoundError:
        return Tail()
    return _end_of(fd, count, key)


def tail_beneath(roots: Sequence[str], path: str, count: int, key: bytes | None = None) -> Tail:
    """The same of a log that a record names: below one of *roots*, by no link from there on."""
    for root in roots:
        relative = disk.path_below(root, path)
        if relative:
            try:
                return _end_of(disk.open_beneath(root, relative), count, key)
            except FileNotFoundError:
                return Tail()
    raise UnsafePath("the run log is not opened: it is outside of the repository", file=path)


def _end_of(fd: int, count: int, key: bytes | None) -> Tail:
    try:
        start = max(0, os.fstat(fd).st_size - _TAIL)
        data = os.pread(fd, _TAIL, start)
    finally:
        os.close(fd)
    return read_tail(data.partition(b"\n")[2] if start else data, count, key)


def read_tail(data: bytes, count: int, key: bytes | None = None) -> Tail:
    """The last *count* entries in these bytes; a line that is none is counted, not refused."""
    entries: dict[object, dict[str, Value]] = {}
    torn = foreign = 0
    for line in reversed(data.splitlines()):
        if len(entries) == count:
            break
        entry = _entry(line) if line.strip() else None
        if entry is None:
            torn += bool(line.strip())
        elif key is None:
            entries[len(entries)] = entry
        elif _is_ours(entry, key):
            foreign += entry[PROOF] in entries  # one of ours that somebody wrote again
            entries.setdefault(entry[PROOF], entry)
        else:
            foreign += 1
    return Tail(tuple(reversed(entries.values())), torn, foreign)


def _entry(line: bytes) -> dict[str, Value] | None:
    try:
        entry = read_json(line, name="run log")
    except StandfastError:
        return None
    return entry if isinstance(entry, dict) else None

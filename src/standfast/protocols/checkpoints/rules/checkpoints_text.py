"""checkpoints.json as text: an array of records, each with the line that it begins on.

Ours has one record a line, so that a line number, a diff and grep each show one record.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadDocument, StandfastError
from standfast.formats import json_spans
from standfast.formats.document_limits import LIMIT, decode, line_at
from standfast.formats.json_text import read_json
from standfast.protocols.checkpoints.rules import checkpoint, checkpoint_fields
from standfast.protocols.checkpoints.rules.checkpoint import HINTS, KEY, Key
from standfast.protocols.checkpoints.rules.checkpoint_hints import hints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from standfast.formats.document_limits import Value
    from standfast.protocols.checkpoints.rules.checkpoint import Record

_BETWEEN = " \t\r\n,"
_DECODER = json.JSONDecoder()
_NEEDED = (*KEY, "status")
_SOUND = {"run_id": "r", "phase": "p", "lane": "-", "stage": checkpoint.BEFORE}


class Entry(NamedTuple):
    """A record of the file, without its hints."""

    key: Key
    record: Record
    line: int


def read(data: bytes, name: str) -> tuple[Entry, ...]:
    """The records of a file; BadDocument with its line for the first thing that cannot be."""
    text = decode(data, name=name)
    if not isinstance(read_json(text, name=name), list):
        raise BadDocument("not an array of records: it must begin with `[`", file=name, line=1)
    found: dict[Key, Entry] = {}
    for element in _elements(text):
        entry = _entry(element, name)
        first = found.setdefault(entry.key, entry)
        if first is not entry:
            problem = f"a second record of {entry.key}; the first is in line {first.line}"
            raise BadDocument(problem, file=name, line=entry.line)
    return tuple(found.values())


class _Element(NamedTuple):
    value: Value
    text: str
    line: int


def _elements(text: str) -> Iterator[_Element]:
    """Each element of an array that was read before, with its place."""
    at, line = text.index("["), 1 + text.count("\n", 0, text.index("["))
    while True:
        start = at + 1
        while text[start] in _BETWEEN:
            start += 1
        if text[start] == "]":
            return
        line += text.count("\n", at, start)
        value, at = _DECODER.raw_decode(text, start)
        yield _Element(value, text[start:at], line)
        line += text.count("\n", start, at)
        at -= 1


def _entry(element: _Element, name: str) -> Entry:
    value, _, line = element
    if not isinstance(value, dict):
        raise BadDocument("a record is an object: it begins with `{`", file=name, line=line)
    try:
        key = checkpoint.key(value)
        checkpoint.status(value)
        for field, said in value.items():
            checkpoint_fields.refuse_kind(field, said)
    except StandfastError as error:
        raise _fault(element, value, error, name) from error
    kept = {field: said for field, said in value.items() if field not in HINTS}
    return Entry(key, kept, line)


def _fault(element: _Element, record: Record, error: StandfastError, name: str) -> BadDocument:
    """The first field that is wrong, with its line."""
    for field in (*_NEEDED, *record):
        try:
            _refuse(record, field)
        except StandfastError as found:
            return BadDocument(found.problem, file=name, line=_line_of(element, field))
    return BadDocument(error.problem, file=name, line=element.line)


def _refuse(record: Record, field: str) -> None:
    """Check one field by itself: which of several is wrong is not told by checking them all."""
    if field not in record:
        raise BadDocument(f"a record without `{field}`")
    checkpoint_fields.refuse_kind(field, record[field])
    if field in KEY:
        checkpoint.key({**_SOUND, field: record[field]})
    elif field == "status":
        checkpoint.status(record)


def _line_of(element: _Element, field: str) -> int:
    """The line of a field, or of its record where it has none."""
    node = json_spans.read(element.text, name="").at((field,))
    return element.line + (line_at(element.text, node.start) - 1 if node else 0)


def line(value: str, key: Key, root: str) -> str:
    """A record as the file shows it: its JSON text with the hints put in at the end."""
    resume, rollback = map(encode_basestring, hints(key, root))
    return f'{value[:-1]},"{HINTS[0]}":{resume},"{HINTS[1]}":{rollback}}}'


def write(lines: Iterable[str], *, limit: int = LIMIT) -> bytes:
    """The file of these records, which come newest first and stand oldest first.

    Where all of them would be too much to be read back, the file shows the newest.
    """
    size, shown = 8, list[bytes]()
    for each in lines:
        data = each.encode()
        size += len(data) + 2
        if size > limit:
            break
        shown.append(data)
    return b"[\n" + b",\n".join(reversed(shown)) + b"\n]\n" if shown else b"[]\n"

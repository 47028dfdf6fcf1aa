"""What others write around our section of a file, while we write the section.

It is in no journal, so it must not be written over: a save that falls between our look and our
swap is put back around the new section, together with whatever else was written there meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

from standfast.errors.base import BadDocument, FaceInvalid
from standfast.formats import text_merge, yaml_sections
from standfast.protocols.resumption.rules import orchestration
from standfast.redaction.redactor import redact

_SECTION = "\0"  # no line of a file that can be read


def text_of(data: bytes, path: str) -> str:
    """The text of a file; what is none is refused with its line."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FaceInvalid("not UTF-8 text", file=path, line=line) from error


def carry(current: bytes | None, theirs: bytes, base: bytes | None, path: str) -> bytes | None:
    """What is to stand there where somebody changed the file around the section; None: as it is.

    Where it was changed there meanwhile as well, both changes are made, line by line; only where
    they meet is one of them kept for a person to see.
    """
    before, mine, other = (_outside(data, path) for data in (base, current, theirs))
    if (
        current is None
        or other is None
        or other.shown in (mine and mine.shown, before and before.shown)
    ):
        return None
    if mine is not None and before is not None and mine.shown == before.shown:
        return theirs
    merged = _merged(before, mine, other)
    if merged is None:
        raise FaceInvalid("the file was changed around the section twice at once", file=path)
    return merged


class _Outside(NamedTuple):
    """The text around the section, which stands for one line of its own; and less its secrets."""

    lines: tuple[str, ...]
    section: str
    shown: tuple[str, ...]  # what the journal remembers has no secrets


def _outside(data: bytes | None, path: str) -> _Outside | None:
    """None where it cannot be told: then nobody can say that it is the same."""
    if data is None:
        return None
    try:
        text = text_of(data, path)
        span = yaml_sections.find(text, orchestration.KEY, path)
    except (BadDocument, FaceInvalid):
        return None
    start, end = (len(text), len(text)) if span is None else (span.start, span.end)
    lines = (*_lines(text[:start]), _SECTION, *_lines(text[end:]))
    shown = (*_lines(redact(text[:start])), _SECTION, *_lines(redact(text[end:])))
    return _Outside(lines, text[start:end], shown)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _merged(before: _Outside | None, mine: _Outside | None, other: _Outside) -> bytes | None:
    """Both edits around the section as it stands; the journal has what is in it."""
    if before is None or mine is None:
        return None
    lines = text_merge.merge(before.lines, mine.lines, other.lines)
    if lines is None or lines.count(_SECTION) != 1:
        return None
    at = lines.index(_SECTION)
    ends = "" if not lines[:at] or lines[at - 1].endswith(("\n", "\r")) else "\n"
    return "".join([*lines[:at], ends, mine.section, *lines[at + 1 :]]).encode()

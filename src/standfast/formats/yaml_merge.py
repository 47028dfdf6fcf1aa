"""A section written anew, sub-section by sub-section.

What says the same stays as it stands, with the comments in it; those in what changes are carried
over by yaml_comments.py, and those between stay wherever they are. Pure text work on what the
parser marked: yaml_sections.py reads the outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.formats import yaml_outline
from standfast.formats.json_edits import new_line
from standfast.formats.yaml_comments import carried
from standfast.formats.yaml_events import Kind
from standfast.formats.yaml_outline import BREAKS
from standfast.formats.yaml_writer import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.formats.document_limits import Value
    from standfast.formats.yaml_outline import Outline


class Version(NamedTuple):
    """A section as it stands in a document, with its value."""

    outline: Outline
    value: Value


class _Piece(NamedTuple):
    """The lines of a sub-section, and what stands between the one before and it."""

    key: str
    before: str
    lines: str
    start: int

    @property
    def indent(self) -> int:
        return len(self.lines) - len(self.lines.lstrip(" "))


def merged(old: Version, new: Version, *, comments: bool = True) -> str | None:
    """Give the lines of *old* with what *new* changes; None where that cannot be told by keys.

    The *comments* in what changes are put to what they spoke of.
    """
    had = {piece.key: piece for piece in _pieces(old.outline)}
    wanted = {piece.key: piece for piece in _pieces(new.outline)}
    common = [key for key in had if key in wanted]
    if not common or common != [key for key in wanted if key in had]:
        return None
    stays = {key for key in _same_in(old.value, new.value) if had[key].lines[-1] in BREAKS}
    by = had[common[0]].indent - wanted[common[0]].indent
    out = [old.outline.text[old.outline.start : _first_line_end(old.outline)]]
    for key in _woven(list(had), list(wanted)):
        out.append(had[key].before if key in had else "")
        if key in stays:
            out.append(had[key].lines)
        elif key in wanted:
            lines = shifted(wanted[key].lines, by, new_line(old.outline.text))
            is_carried = comments and key in had
            out.append(_carried(old.outline, had[key], lines) if is_carried else lines)
    return "".join(out)


def _carried(outline: Outline, had: _Piece, lines: str) -> str:
    inside = [
        each for each in outline.places if had.start <= each.start < had.start + len(had.lines)
    ]
    return carried(had.lines, had.start, inside, lines)


def is_same(one: Value, other: Value) -> bool:
    """Whether two values are written alike; `==` takes 1 for True, and any order of keys."""
    return write(one) == write(other)


def shifted(lines: str, by: int, end: str) -> str:
    """Move lines to the right, or to the left if *by* is below zero."""
    each = lines.removesuffix("\n").split("\n")
    return "".join((line[-by:] if by < 0 else line and " " * by + line) + end for line in each)


def _pieces(outline: Outline) -> Iterator[_Piece]:
    """The sub-sections, if the section has any."""
    found, entry, at = outline.places, outline.entry, _first_line_end(outline)
    if entry is None or found[entry.value].kind is not Kind.MAPPING or found[entry.value].style:
        return
    for each in yaml_outline.entries(found, entry.value):
        start, end = yaml_outline.span(outline.text, found, each)
        yield _Piece(found[each.key].text, outline.text[at:start], outline.text[start:end], start)
        at = end


def _first_line_end(outline: Outline) -> int:
    return yaml_outline.past_line(outline.text, outline.start)


def _same_in(one: Value, other: Value) -> list[str]:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return []
    return [key for key in one if key in other and is_same(one[key], other[key])]


def _woven(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Both in one, in the order of both: what is new comes behind what it follows."""
    known, rest = set(old), iter(old)
    for key in new:
        if key in known:
            yield from iter(lambda: next(rest), key)  # those that go, up to it
        yield key
    yield from rest

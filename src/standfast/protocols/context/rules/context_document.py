"""A context file taken apart: title, metadata, sections, entries. Any text will do. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.formats import markdown, stated_times
from standfast.protocols.context.rules.context_schema import BY_PREFIX, HEAD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from standfast.formats.markdown import Heading, Outline, Section

_SECTION, _ENTRY = 2, 3  # levels of headings
_WELL_FORMED = re.compile(r"\*\*(Updated|Role|Pane)\*\*:(.*)", re.DOTALL)
# What people write instead: in a list or a quotation, the colon in the bold, another case.
_NEARLY = re.compile(
    r"[ \t>*+-]{0,8}[*_`]{0,3}(?:last[ _-])?(updated|role|pane)[*_`]{0,3}"
    r"[ \t]{0,8}[:=][*_`]{0,3}(.*)",
    re.DOTALL | re.IGNORECASE | re.ASCII,
)
_NUMBERED = re.compile(r" {0,3}[0-9]{1,9}[.)][ \t]+(\S.*)", re.DOTALL)
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(\S.*)", re.DOTALL)
_TASK = re.compile(r"Task [0-9]{1,9}:")
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LONGEST = 1_000  # characters of a value in which a date is looked for


class Field(NamedTuple):
    """A line of metadata; *is_formed* where it is `**Key**: value`."""

    key: str
    value: str
    line: int
    is_formed: bool


class Entry(NamedTuple):
    """A piece of completed work; *is_formed* where it is a task or a numbered item."""

    line: int
    words: str
    is_formed: bool


class Document(NamedTuple):
    """A context file taken apart."""

    outline: Outline
    title: Heading | None  # the heading on line 1, of whatever level
    fields: dict[str, Field]  # the best line for each key, if there is one
    sections: list[Section]

    def named(self, name: str) -> list[Section]:
        """The sections of a name, which some names only begin."""
        return [found for found in self.sections if found.name and _is(found.name, name)]


def parse(text: str) -> Document:
    """Take any text apart."""
    outline = markdown.outline(text)
    first = outline.headings[0] if outline.headings else None
    title = first if first is not None and first.line == 1 else None
    fields: dict[str, Field] = {}
    for found in _fields(outline):
        best = fields.get(found.key)
        if best is None or _rank(found) < _rank(best):
            fields[found.key] = found
    return Document(outline, title, fields, outline.sections())


def _is(heading: str, name: str) -> bool:
    return heading.startswith(name) if name in BY_PREFIX else heading == name


def _fields(outline: Outline) -> Iterator[Field]:
    """Well-formed lines anywhere; other forms only above the first section."""
    below = next((each.line for each in outline.headings if each.level == _SECTION), None)
    for number, line in enumerate(outline.lines, 1):
        if number in outline.fenced or (":" not in line and "=" not in line):
            continue
        if (formed := _WELL_FORMED.fullmatch(line)) is not None:
            yield Field(formed[1], formed[2].strip(), number, is_formed=True)
        elif (below is None or number < below) and (nearly := _NEARLY.fullmatch(line)) is not None:
            yield Field(nearly[1].capitalize(), nearly[2].strip(), number, is_formed=False)


def _rank(field: Field) -> tuple[bool, int]:
    """In its place and form, then anywhere else; the first of equals."""
    return not (field.is_formed and field.line <= HEAD), field.line


def role_in(value: str) -> str:
    """The role in a field's value, which a description in parentheses may follow."""
    return value.partition("(")[0].strip()


def moment(value: str) -> date | datetime | None:
    """The first date like 2026-02-03 in a value, with the time in UTC that may follow it."""
    text = value[:_LONGEST]
    for each in stated_times.stated(text):
        if _ISO_DAY.match(text, each.start):
            return each.when.date() if each.is_day else each.when
    return None


def nearest(document: Document, name: str) -> Heading | None:
    """A heading that was meant to be this section: its first word, or the name on another level."""
    word = name.lower().partition(" ")[0]
    for heading in document.outline.headings:
        text = heading.text.lower()
        if text == name.lower() or (heading.level == _SECTION and text.startswith(word)):
            return heading
    return None


def steps(sections: list[Section]) -> list[tuple[int, str]]:
    """The numbered items of sections: line and words."""
    items = (
        (number, _NUMBERED.fullmatch(line)) for section in sections for number, line in section.body
    )
    return [(number, item[1]) for number, item in items if item is not None]


def entries(section: Section) -> Iterator[Entry]:
    """The entries of completed work.

    What is listed below an entry are its details; only a bullet with none above it is one itself.
    """
    is_below_heading = is_below_any = False
    for number, line in section.body:
        heading = markdown.heading(line, number)
        if heading is not None and heading.level == _ENTRY:
            is_below_heading = is_below_any = True
            yield Entry(number, heading.text, is_formed=_TASK.match(heading.text) is not None)
        elif is_below_heading:
            continue
        elif (item := _NUMBERED.fullmatch(line)) is not None:
            is_below_any = True
            yield Entry(number, item[1], is_formed=True)
        elif not is_below_any and (item := _BULLET.fullmatch(line)) is not None:
            yield Entry(number, item[1], is_formed=False)

"""Where the headings of a Markdown text are: what stands in a code fence is none. Pure.

Only line feeds end a line, as in every editor; a byte order mark and the CR of CRLF are no part of
one. Every function takes time in proportion to the text, whatever the text is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

BOM = "\ufeff"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_BLANK = " \t"
_MARKS = ("#", "`", "~")
_SECTION = 2


class Heading(NamedTuple):
    """A heading in `#` form; lines are counted from 1."""

    line: int
    level: int
    text: str


class Section(NamedTuple):
    """A heading of level 1 or 2 and what stands below it, down to the next of them."""

    heading: Heading
    last: int  # line
    outline: Outline

    @property
    def body(self) -> list[tuple[int, str]]:
        """Its lines with their numbers, those in code fences left out."""
        lines, fenced = self.outline.lines, self.outline.fenced
        numbers = range(self.heading.line + 1, self.last + 1)
        return [(number, lines[number - 1]) for number in numbers if number not in fenced]

    @property
    def name(self) -> str | None:
        """What a section of level 2 is called."""
        return self.heading.text if self.heading.level == _SECTION else None


class Outline(NamedTuple):
    """A text taken apart."""

    lines: list[str]
    fenced: frozenset[int]  # the lines of code fences, their first and last included
    headings: list[Heading]
    open_fence: str | None  # what would close the last fence, if nothing does

    def sections(self) -> list[Section]:
        """Every section; what stands before the first heading belongs to none."""
        begun = [heading for heading in self.headings if heading.level <= _SECTION]
        ends = [heading.line - 1 for heading in begun[1:]] + [len(self.lines)]
        return [
            Section(heading, last, self)
            for heading, last in zip(begun, ends, strict=False)  # without headings one end too many
        ]


def outline(text: str) -> Outline:
    """Take a text apart; no text is refused."""
    ended = text.removeprefix(BOM).split("\n")
    if ended[-1] == "":
        ended.pop()
    lines = [line.removesuffix("\r") for line in ended]
    fenced: set[int] = set()
    headings: list[Heading] = []
    fence: str | None = None
    for number, line in enumerate(lines, 1):
        if fence is not None:
            fenced.add(number)
            fence = None if closes(line, fence) else fence
        elif not line.lstrip(" ").startswith(_MARKS):
            continue  # most lines: this is quicker than asking for each mark
        elif (opened := opens(line)) is not None:
            fenced.add(number)
            fence = opened
        elif (found := heading(line, number)) is not None:
            headings.append(found)
    return Outline(lines, frozenset(fenced), headings, fence)


def heading(line: str, number: int) -> Heading | None:
    """The heading that a line is, if it is one; `#` at its end are decoration."""
    found = _HEADING.match(line)
    if found is None:
        return None
    text = line[found.end(1) :].strip(_BLANK)
    bare = text.rstrip("#")
    if not bare or bare[-1] in _BLANK:
        text = bare.rstrip(_BLANK)
    return Heading(number, len(found[1]), text)


def opens(line: str) -> str | None:
    """The fence that a line opens; what follows backticks may hold none, or it is inline code."""
    found = _FENCE.match(line)
    if found is None or (found[1][0] == "`" and "`" in line[found.end() :]):
        return None
    return found[1]


def closes(line: str, fence: str) -> bool:
    """Whether a line closes that fence."""
    found = _FENCE.match(line)
    if found is None or line[found.end() :].strip(_BLANK):
        return False
    return found[1].startswith(fence)

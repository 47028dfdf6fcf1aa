"""An index that is drawn: `SL-1 --> SL-2`, plain or for Mermaid. Pure.

Arrows in one line can be followed. Lines that are joined above and below each other cannot: of such
a drawing nothing is read, because half of it would be wrong.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from standfast.plans.readers.markdown_plan import Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHAFT = r"[-=─═.\u2013—]"
_ARROW = re.compile(
    rf"(?<!{_SHAFT})(?:{_SHAFT}++>++|{_SHAFT}*+[►▶→⇒➜]++)(?:\|[^|\n]{{0,200}}\|)?"
)  # possessive: a long line is looked at once
_JOINED = frozenset("│┃└┗├┣┌┏┬┳┴┻┐┓┘┛┤┫╰╭╮╯▼▲↓↑")
_LABEL = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|\"[^\"]*\"")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MERMAID = "mermaid"


class Drawing:
    """The arrows of an index."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.arrows: list[tuple[str, str, int]] = []  # who comes first, who waits, line
        self.unread = 0  # the line that could not be followed
        self._names = names

    def take(self, lines: Sequence[Line]) -> list[Line]:
        """The lines that are no drawing, those of a fence without its marks."""
        left: list[Line] = []
        for fence in _fences(lines):
            if not fence[0].fenced:
                left += [line for line in fence if not self._follows(line)]
                continue
            inside = [Line(line.number, line.text) for line in fence if not _is_mark(line.text)]
            is_drawn = _MERMAID in fence[0].text or any(_looks_drawn(each) for each in inside)
            rest = [line for line in inside if not self._follows(line)]
            left += [] if is_drawn else rest
            if is_drawn:
                self._doubt(rest)
        return left

    def _doubt(self, lines: list[Line]) -> None:
        """Lines of a drawing that have arrows, or lines of their own, and lead nowhere."""
        wrong = [line for line in lines if _looks_drawn(line) or _ARROW.search(line.text)]
        if wrong and not self.unread:
            self.unread = wrong[0].number

    def _follows(self, line: Line) -> bool:
        """Take the arrows of a line, if each of its ends is a lane."""
        if _looks_drawn(line) or line.text.lstrip().startswith("|"):
            return False
        ends = [self._lanes(each) for each in _ARROW.split(line.text)]
        if len(ends) == 1 or not all(ends):
            return False
        for before, after in pairwise(ends):
            self.arrows += [(one, other, line.number) for one in before for other in after]
        return True

    def _lanes(self, text: str) -> list[str]:
        bare = _LABEL.sub(" ", text)
        words = (each.rstrip(".-_") for each in _WORD.findall(bare) or _WORD.findall(text))
        return [self._names[each.lower()] for each in words if each.lower() in self._names]


def _looks_drawn(line: Line) -> bool:
    return not _JOINED.isdisjoint(line.text)


def _is_mark(text: str) -> bool:
    return text.strip().startswith(("```", "~~~"))


def _fences(lines: Sequence[Line]) -> list[list[Line]]:
    """Runs of lines inside and outside of fences; one that ends and one that begins are two."""
    made: list[list[Line]] = []
    is_open = False
    for line in lines:
        begins = line.fenced and not is_open
        if not made or begins or line.fenced != made[-1][0].fenced:
            made.append([])
        made[-1].append(line)
        is_mark = line.fenced and _is_mark(line.text)
        is_open = line.fenced and (begins or not (is_mark and len(made[-1]) > 1))
    return made

"""Two edits of one text, made at once, in one: by lines, where they do not meet. Pure.

What both did alike is done once; what both added at the same place stands there twice, ours first.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LINES = 50_000  # more would keep everybody waiting


class _Change(NamedTuple):
    """Lines *start* to *end* of the base became these."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """The base with the changes of both; None where they changed the same lines otherwise."""
    if max(len(base), len(ours), len(theirs)) > MOST_LINES:
        return None
    mine, other = _changes(base, ours), _changes(base, theirs)
    both = [*mine, *(change for change in other if change not in mine)]
    both.sort(key=lambda change: (change.start, change.end))
    merged, at = list[str](), 0
    for change in both:
        if change.start < at:
            return None
        merged += [*base[at : change.start], *change.lines]
        at = change.end
    return [*merged, *base[at:]]


def _changes(base: Sequence[str], edited: Sequence[str]) -> list[_Change]:
    matcher = SequenceMatcher(None, base, edited, autojunk=False)
    return [
        _Change(start, end, tuple(edited[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]

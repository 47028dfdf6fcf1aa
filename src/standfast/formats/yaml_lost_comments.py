"""The comments of a YAML text, and which of them another version of it has no more. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from standfast.formats.yaml_events import Kind, places
from standfast.formats.yaml_outline import BOM

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMENT = re.compile(r"(?:(?<=[ \t\r\n])|\A)#[^\r\n]*")


def comments(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Each comment with its line; a `#` inside of a value is none."""
    text = text.removeprefix(BOM)
    values = [
        (each.start, each.end) for each in places(text, name=name) if each.kind is Kind.SCALAR
    ]
    starts = [start for start, _ in values]
    line = done = 0
    for found in _COMMENT.finditer(text):
        at = bisect_right(starts, found.start()) - 1
        if at < 0 or found.start() >= values[at][1]:
            line, done = line + text.count("\n", done, found.start()), found.start()
            yield line + 1, found[0].rstrip()


def lost(before: str, after: str) -> list[tuple[int, str]]:
    """The comments of one version that the other lacks."""
    left = Counter(words for _, words in comments(after, "the new version"))
    found = []
    for line, words in comments(before, "the version before"):
        if left[words]:
            left[words] -= 1
        else:
            found.append((line, words))
    return found

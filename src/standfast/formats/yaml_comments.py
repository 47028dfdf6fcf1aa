"""The comments of lines that are written anew, put to what they spoke of. Pure.

A comment belongs to its line, one on a line of its own to the line that follows. A line is known by
the keys that lead to it, and in a list by its words. What a comment spoke of may be gone: then it
stands below. Whoever asks reads the outcome before it is given away.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from standfast.formats.yaml_events import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.formats.yaml_events import Place

    Label = tuple[str, ...]

_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s'"#][^#]*?)\s*:(?:\s|$)""")


class _Comments(NamedTuple):
    """What stands above each line and behind it, by its label."""

    above: dict[tuple[Label, int], list[str]]
    behind: dict[tuple[Label, int], str]
    last: list[str]  # above nothing


def carried(lines: str, start: int, found: Sequence[Place], new: str) -> str:
    """*new* with the comments in *lines*, which stand at *start* of the text of these places."""
    if "#" not in lines:
        return new
    comments = _read(lines, start, found)
    end = "\r\n" if "\r\n" in new else "\n"
    written = new.removesuffix(end).split(end)
    labels = _labels(written)
    out = list[str]()
    for line, label in zip(written, labels, strict=True):
        pad = line[: len(line) - len(line.lstrip(" "))]
        out += [pad + each for each in comments.above.pop(label, [])]
        out.append(line + comments.behind.pop(label, ""))
    pad = written[0][: len(written[0]) - len(written[0].lstrip(" "))]
    lost = [each for some in comments.above.values() for each in some] + comments.last
    lost += [each.strip() for each in comments.behind.values()]
    return "".join(line + end for line in (*out, *(f"{pad}{each}" for each in lost)))


def _read(lines: str, start: int, found: Sequence[Place]) -> _Comments:
    scalars = [(each.start, each.end) for each in found if each.kind is Kind.SCALAR]
    content, said, at = list[str](), list[str](), start
    for line in lines.splitlines(keepends=True):
        cut = _cut(line, at, scalars)
        content.append(line[:cut].rstrip())
        said.append(line[cut:].rstrip("\r\n") if cut < len(line) else "")
        at += len(line)
    above, behind, waiting = {}, {}, list[str]()
    for words, comment, label in zip(content, said, _labels(content), strict=True):
        if not words:
            waiting += [comment.strip()] if comment else []
            continue
        if waiting:
            above[label], waiting = waiting, []
        if comment:
            behind[label] = comment
    return _Comments(above, behind, waiting)


def _cut(line: str, at: int, scalars: Sequence[tuple[int, int]]) -> int:
    """Where the comment of a line begins, with the blanks before it; its end where it has none."""
    for found in re.finditer("#", line):
        place = found.start()
        blank = place == 0 or line[place - 1] in " \t"
        before = bisect_right(scalars, (at + place, 1 << 62)) - 1
        inside = before >= 0 and scalars[before][0] <= at + place < scalars[before][1]
        if blank and not inside:
            return len(line[:place].rstrip(" \t"))
    return len(line)


def _labels(lines: Sequence[str]) -> list[tuple[Label, int]]:
    """By what each line is known, and which of several it is."""
    stack, times, found = list[tuple[int, str]](), Counter[tuple[str, ...]](), []
    for line in lines:
        words = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        while words and stack and stack[-1][0] >= indent:
            stack.pop()
        name = _name(words)
        label = (*(each for _, each in stack), name)
        times[label] += 1
        found.append((label, times[label]))
        if words:
            stack.append((indent, name))
    return found


def _name(words: str) -> str:
    """A key stands for its line; an entry of a list is known by all of its words."""
    if words.startswith("-"):
        return "- " + re.sub(r"[\"']", "", words[1:].strip())
    key = _KEY.match(words)
    return key[1].strip("\"'") if key else words

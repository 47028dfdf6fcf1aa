"""The lines of a Markdown plan: what stands in a code fence, and what is commented out. Pure.

A fence inside a list stands further in than one of its own; it is a fence all the same. What is
between `<!--` and `-->` nobody sees on the page, so nobody who reads the plan means it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.formats import markdown
from standfast.plans.findings import Finding, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

_FRONT = "---"
_OPENS, _CLOSES = "<!--", "-->"


class Lines(NamedTuple):
    """A text by its lines, and what is to be said of them."""

    texts: list[str]  # those that nobody sees are empty
    fenced: set[int]  # counted from 1; the marks of a fence included
    findings: list[Finding]


def lines(text: str) -> Lines:
    """Take a text apart into lines; no text is refused here."""
    texts = [line.removesuffix("\r") for line in text.removeprefix(markdown.BOM).split("\n")]
    texts = texts[:-1] if texts[-1] == "" else texts
    made = Lines(texts, set(), [])
    front = _front(texts)
    if front:
        made.findings.append(warning(1, f"the head of the file, down to line {front}, is not read"))
        texts[:front] = [""] * front
    _walk(made, front)
    return made


def _front(texts: list[str]) -> int:
    """How many lines a head between `---` takes."""
    if not texts or texts[0].rstrip() != _FRONT:
        return 0
    return next((at for at, line in enumerate(texts[1:], 2) if line.rstrip() in (_FRONT, "...")), 0)


def _walk(made: Lines, front: int) -> None:
    fence, opened = "", 0
    hidden = 0
    for number in range(front + 1, len(made.texts) + 1):
        line = made.texts[number - 1]
        if fence:
            made.fenced.add(number)
            fence = "" if markdown.closes(line.lstrip(" \t"), fence) else fence
        elif hidden:
            hidden = _hide(made, number, hidden)
        elif (found := markdown.opens(line.lstrip(" \t"))) is not None:
            made.fenced.add(number)
            fence, opened = found, number
        elif _OPENS in line:
            hidden = _begin(made, number)
    made.findings.extend(_unclosed(opened if fence else 0, hidden))


def _begin(made: Lines, number: int) -> int:
    """Take comments out of a line; the line where one begins that does not end in it, or 0."""
    line = made.texts[number - 1]
    kept, start = "", line.find(_OPENS)
    while start >= 0 and line.count("`", 0, start) % 2 == 0:
        kept += line[:start]
        end = line.find(_CLOSES, start)
        if end < 0:
            made.texts[number - 1] = kept
            return number
        line = line[end + len(_CLOSES) :]
        start = line.find(_OPENS)
    made.texts[number - 1] = kept + line
    return 0


def _hide(made: Lines, number: int, since: int) -> int:
    line = made.texts[number - 1]
    end = line.find(_CLOSES)
    made.texts[number - 1] = line[end + len(_CLOSES) :] if end >= 0 else ""
    if end >= 0:
        problem = f"a comment, down to line {number}, is not read"
        made.findings.append(warning(since, problem))
    return since if end < 0 else 0


def _unclosed(fence: int, comment: int) -> Iterator[Finding]:
    if fence:
        problem = "a code fence is never closed: nothing after this line is read"
        yield Finding(fence, problem, "Close it with the marks that opened it.")
    if comment:
        problem = "a comment is never closed: nothing after this line is read"
        yield Finding(comment, problem, f"Close it with `{_CLOSES}`.")

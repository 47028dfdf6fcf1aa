"""The numbers of tasks, in headings and in what is said of others: `3`, `1.2`, `B`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBER = r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}(?-i:[a-h])?(?![A-Za-z0-9])"
HEADED = re.compile(
    rf"(?:(?:tasks?|steps?)?\s*#?({_NUMBER})\s*(?:[.):—\u2013-]+\s*|\s+|$)"
    r"|(?:tasks?|steps?)\s+#?([a-z])\s*(?:[.):—\u2013-]+\s*|$)|([a-z])[.)]\s+)",
    re.IGNORECASE,
)
_MEANT = re.compile(rf"(?:tasks?|steps?)?\s*#?({_NUMBER}|[a-z](?![\w-]))", re.IGNORECASE)
_RANGE = re.compile(
    rf"(?:tasks?|steps?)?\s*#?({_NUMBER})\s*(?:-|\u2013|to|through)\s*#?({_NUMBER})", re.IGNORECASE
)
_TO = re.compile(r"\s*(?:\.\.\.?|…|\u2013|—|-|\bto\b|\bthrough\b)\s*", re.IGNORECASE)
_LONGEST_RANGE = 160
_TWO = 2


def of(name: str) -> str:
    """The number of a heading, in the form in which numbers are compared; empty if none."""
    said = HEADED.match(name)
    return "" if said is None else (said[1] or said[2] or said[3]).lower()


def first(said: str) -> str:
    """The number with which something begins that is said of a task; empty if none."""
    number = _MEANT.match(said)
    return "" if number is None else number[1].lower()


def whole(said: str) -> str:
    """The number that something said of a task is as a whole; empty if it is none."""
    return first(said) if _MEANT.fullmatch(said) else ""


def span(said: str) -> tuple[str, str]:
    """From which number to which; empty if it is no range."""
    found = _RANGE.fullmatch(said) if len(said) <= _LONGEST_RANGE else None
    return ("", "") if found is None else (first(found[1]), first(found[_TWO]))


def ends(said: str) -> Iterator[tuple[str, str]]:
    """What stands on both sides of each word or mark that could make a range."""
    for mark in _TO.finditer(said) if len(said) <= _LONGEST_RANGE else ():
        yield said[: mark.start()], said[mark.end() :]

"""Strings between quotes, and what is joined to them; a quote may carry backslashes."""

import re
from typing import NamedTuple

from standfast.redaction.secret_names import is_placeholder
from standfast.redaction.value_heads import BREAK, PREFIX
from standfast.redaction.value_heads import QUOTE as _QUOTE

QUOTE = re.compile(_QUOTE)
_LINE = re.compile(r"(?:[^\r\n\\\"]|\\(?!\\*[nr\"])){0,8192}")
_LONGEST = 4096
# `"a" + "b"`, `'a' . 'b'`, `"a" \` with the rest on the next line.
_CONTINUED = r"\\{1,8}\r?\n|\\{2,8}n"
_OPERATOR = re.compile(
    rf"[ \t]{{0,8}}(?:(?:{BREAK}[ \t]{{0,40}})?[+.][ \t]{{0,8}}(?:{_CONTINUED}|{BREAK})?"
    rf"|{_CONTINUED})"
    rf"[ \t]{{0,40}}{PREFIX}"
)
_BESIDE = re.compile(rf"[ \t]{{1,8}}{PREFIX}")


class Value(NamedTuple):
    """Where the value of a head stands, without its quotes; *quote* is what it began with."""

    start: int
    end: int
    quote: str = ""


def quoted(text: str, quote: re.Match[str]) -> Value:
    """What stands between *quote* and its like."""
    start = quote.end()
    triple = quote.group() * 3
    if text.startswith(triple, quote.start()):
        start = quote.start() + len(triple)
        until = text.find(triple, start, start + _LONGEST)
        until = until if until >= 0 else min(len(text), start + _LONGEST)
        return Value(start, until, triple)
    end = _closing_quote(text, start, quote.group())
    if end is None:  # cut off in the middle: the rest of the line is the secret
        return Value(start, rest_of_line(text, start))
    return Value(start, end, quote.group())


def rest_of_line(text: str, start: int) -> int:
    """Where the line ends, plain or escaped."""
    line = _LINE.match(text, start)
    return line.end() if line else start


def joined(text: str, value: Value, *, is_code: bool) -> list[Value]:
    """The strings that belong to *value*: joined by an operator, or in code right beside it."""
    found: list[Value] = []
    while value.quote:
        after = value.end + len(value.quote)
        tie = _OPERATOR.match(text, after)
        beside = None if tie or not is_code else _BESIDE.match(text, after)
        at = tie or beside
        quote = QUOTE.match(text, at.end()) if at else None
        if quote is None or (beside and quote.group() != value.quote[: len(quote.group())]):
            break
        value = quoted(text, quote)
        if not is_placeholder(text[value.start : value.end]):
            found.append(value)
    return found


def _closing_quote(text: str, start: int, quote: str) -> int | None:
    """Where *quote* closes: as many backslashes as it opened with, those of its level doubled."""
    limit = text.find("\n", start, start + _LONGEST)
    limit = min(len(text), start + _LONGEST) if limit < 0 else limit
    level = len(quote)  # backslashes and the quote itself
    at = text.find(quote[-1], start, limit)
    while at >= 0:
        before = text[start:at]
        weight = len(before) - len(before.rstrip("\\")) + 1
        if weight < level or weight // level % 2 == 1:
            return at - (min(weight, level) - 1)
        at = text.find(quote[-1], at + 1, limit)
    return None

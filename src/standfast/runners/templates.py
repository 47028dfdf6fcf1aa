"""What the modules of all clients share: templates filled in, and output read line by line.

A client's output is not trusted and may be cut off anywhere: a line that is no JSON object, or
is too long to be one of interest, is passed over. Nothing here raises.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING

from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.formats.document_limits import Value
    from standfast.runners.registry import Call

LONGEST_LINE = 1024 * 1024
LONGEST_WORDS = 500
LONGEST_NAME = 100
MOST_TOKENS = 10**15
MOST_DOLLARS = 10**9
SOONEST_S, LATEST_S = 10**9, 4 * 10**9  # from 2001 to 2096: anything else is no moment

_END = 64 * 1024
_GONE = re.compile(
    r"No conversation found with session|no rollout found for thread"
    r"|thread/resume failed: failed to read"  # killed before it wrote any of it
    r"|No previous sessions found|Invalid session identifier|Session not found"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
_LIMIT = re.compile(
    r"(?i)\b(?:usage|rate|session|weekly|daily|hourly)[ _-]?limit"  # but not a limit of tokens
    r"|\btoo many requests\b|(?<!disk )\bquota\b|resource_exhausted|\b429\b"
)


def filled(template: Sequence[str], call: Call) -> list[str]:
    """The words of a command with the prompt's file and the session's id in their places."""
    return [
        word.replace("{prompt}", call.prompt).replace("{session}", call.session)
        for word in template
    ]


def objects(out: bytes) -> Iterator[dict[str, Value]]:
    """The JSON objects that stand in lines of their own."""
    for start, end in _lines(out):
        if end - start <= LONGEST_LINE and out[start : start + 1] == b"{":
            said = _value(out[start:end])
            if isinstance(said, dict):
                yield said


def last_line(out: bytes) -> str:
    """The last words of who speaks plain text."""
    end = len(out)
    while end > 0:
        start = out.rfind(b"\n", 0, end) + 1
        said = out[max(start, end - 4 * LONGEST_WORDS) : end].decode("utf-8", "replace")
        if said.strip():
            return words(said)
        end = start - 1
    return ""


def complaint(err: bytes) -> str:
    """The line of what was said as an error that names one, else the last."""
    end = err[-_END:]
    named = [line for line in end.splitlines() if b"rror" in line]
    return last_line(named[-1] if named else end)


def _lines(out: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(out):
        end = out.find(b"\n", start)
        end = len(out) if end < 0 else end
        yield start, end
        start = end + 1


def _value(line: bytes) -> Value:
    try:
        value: Value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value


def get(said: Value, *path: str) -> Value:
    """What stands at *path*, or None."""
    for key in path:
        said = said.get(key) if isinstance(said, dict) else None
    return said


def text(said: Value, *path: str) -> str:
    """The text that stands at *path*, or none."""
    found = get(said, *path)
    return found if isinstance(found, str) else ""


def count(said: Value, *path: str) -> int:
    """The number that stands at *path*, or 0: no client counts below that."""
    found = get(said, *path)
    is_number = isinstance(found, int) and not isinstance(found, bool)
    return found if is_number and 0 < found < MOST_TOKENS else 0  # type: ignore[operator, return-value]  # narrowed by is_number


def words(said: str) -> str:
    """What a person is shown of it: one line."""
    return one_line(_COLOUR.sub("", said[: 8 * LONGEST_WORDS]), LONGEST_WORDS)


def name(said: str) -> str:
    """The id of a session, if it can be one: it goes into a command line again."""
    is_plain = said.isascii() and said.replace("-", "").replace("_", "").isalnum()
    return said if is_plain and len(said) <= LONGEST_NAME and not said.startswith("-") else ""


def dollars(*said: Value) -> str:
    """What was said to be paid, together, as a decimal; empty where nothing was said."""
    paid = [
        Decimal(str(each))
        for each in said
        if isinstance(each, int | float) and not isinstance(each, bool)
        if 0 <= each < MOST_DOLLARS  # which NaN is not
    ]
    return f"{sum(paid, Decimal()).normalize():f}" if paid else ""


def moment(said: object) -> int:
    """Seconds since 1970, if *said* can be that; else 0."""
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    return int(said) if is_number and SOONEST_S <= said < LATEST_S else 0  # type: ignore[call-overload, operator]  # narrowed by is_number


def is_gone(error: str) -> bool:
    """Whether a client says that it knows nothing of the session it was to go on with."""
    return bool(_GONE.search(error))


def is_limit(said: str) -> bool:
    """Whether the error of a client speaks of a limit that time takes away."""
    return bool(_LIMIT.search(said[: 8 * LONGEST_WORDS]))

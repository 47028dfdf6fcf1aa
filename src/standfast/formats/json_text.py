"""JSON from outside, read strictly, and JSON of our own, written so that it reads back the same.

Stricter than the standard library: no key twice, no NaN or infinity, bounded depth, bounded
numbers, and no string that cannot be written as UTF-8.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import NoReturn, cast

from standfast.errors.base import BadDocument
from standfast.formats.document_limits import DEEPEST, LIMIT, LONGEST_NUMBER, Value, decode, line_at
from standfast.text import one_line

# An unterminated string runs to the end, so that no text is scanned twice.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*"?'
_BRACKETS = re.compile(rf"{_STRING}|[][{{}}]", re.DOTALL)
_PIECES = re.compile(rf'{_STRING}|[][{{}}:,]|[^][{{}}:,"\s]++', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# What the library would take or choke on; a hit inside a string is harmless, the walk sees that.
_SUSPECT = re.compile(rf"{_SURROGATE.pattern}|[0-9.eE+-]{{{LONGEST_NUMBER + 1}}}")


class _RefusedError(Exception):
    """The library read something that we do not take; it does not say where."""


def read_json(data: bytes | str, *, name: str, limit: int = LIMIT) -> Value:
    """Read one JSON value, or say what is wrong with it in which line."""
    text = decode(data, name=name, limit=limit)
    _check(text, name)
    try:
        return cast(
            "Value",
            json.loads(
                text,
                object_pairs_hook=_object,
                parse_float=_finite,
                parse_constant=_refuse,
            ),
        )
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} (column {error.colno})"
        raise BadDocument(problem, file=name, line=error.lineno) from error
    except _RefusedError as error:
        raise _first_fault(text, name) or BadDocument(str(error), file=name) from error


def write_json(value: Value) -> str:
    """Write *value* compactly, keys in the order they stand; what comes out can be read back."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise BadDocument(f"cannot be written as JSON: {error}") from error
    _check(text, None)
    return text


def _check(text: str, name: str | None) -> None:
    """Refuse what must not even reach the library, which recurses and converts in C."""
    deep = _too_deep(text)
    if deep is not None:
        raise BadDocument(
            f"nested deeper than {DEEPEST} levels", file=name, line=line_at(text, deep)
        )
    fault = _first_fault(text, name) if _SUSPECT.search(text) else None
    if fault is not None:
        raise fault


def _too_deep(text: str) -> int | None:
    """Where the nesting first goes too deep."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return None
    depth = 0
    for match in _BRACKETS.finditer(text):
        piece = match[0]
        if piece in "[{":
            depth += 1
        elif piece in "]}":
            depth -= 1
        if depth > DEEPEST:
            return match.start()
    return None


def _first_fault(text: str, name: str | None) -> BadDocument | None:
    """Walk the pieces to the first one that is JSON but not for us."""
    for piece, position, keys in _walk(text):
        problem = _piece_fault(piece)
        if keys is not None and problem is None:
            problem = _key_fault(text, piece, position, keys)
        if problem is not None:
            return BadDocument(problem, file=name, line=line_at(text, position))
    return None


def _walk(text: str) -> Iterator[tuple[str, int, dict[str, int] | None]]:
    """Yield each piece and its place; a key comes with the keys seen before it in its object."""
    opened: list[dict[str, int] | None] = [None]
    before = ""
    for match in _PIECES.finditer(text):
        piece = match[0]
        if piece in "[{":
            opened.append({} if piece == "{" else None)
        elif piece in "]}" and len(opened) > 1:
            opened.pop()
        is_key = piece[0] == '"' and before in ("{", ",")
        yield piece, match.start(), opened[-1] if is_key else None
        before = piece


def _piece_fault(piece: str) -> str | None:
    if piece[0] == '"':
        return _string_fault(piece)
    if piece in ("NaN", "Infinity", "-Infinity"):
        return f"{piece} is not a JSON number"
    if piece[0] not in "-0123456789":
        return None
    if len(piece) > LONGEST_NUMBER:
        return f"a number of {len(piece)} characters; at most {LONGEST_NUMBER} are read"
    return _number_fault(piece)


def _string_fault(piece: str) -> str | None:
    if not _SURROGATE.search(piece):
        return None
    try:
        cast("str", json.loads(piece)).encode()
    except json.JSONDecodeError:
        return None  # the library says it better
    except UnicodeEncodeError:
        return "half of a surrogate pair is no character"
    return None


def _number_fault(piece: str) -> str | None:
    try:
        return None if math.isfinite(float(piece)) else f"the number {piece} is too large"
    except ValueError:
        return None  # the library says it better


def _key_fault(text: str, piece: str, position: int, keys: dict[str, int]) -> str | None:
    try:
        key = cast("str", json.loads(piece))
    except json.JSONDecodeError:
        return None  # the library says it better
    first = keys.setdefault(key, position)
    if first == position:
        return None
    return f"the key `{one_line(key, 60)}` stands twice; first in line {line_at(text, first)}"


def _object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError("a key stands twice")
    return value


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise _RefusedError("a number is too large")
    return value


def _refuse(constant: str) -> NoReturn:
    raise _RefusedError(f"{constant} is not a JSON number")

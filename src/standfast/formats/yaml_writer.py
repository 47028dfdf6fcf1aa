"""Values of our own as YAML that every reader takes for the same values.

YAML 1.1 and 1.2 differ in what a bare word means, so only words that no version knows stand bare:
every other text is in double quotes, on one line, with what hides itself as an escape.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from standfast.errors.base import BadDocument
from standfast.formats.document_limits import DEEPEST, LONGEST_NUMBER
from standfast.text import is_hidden, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.formats.document_limits import Value

_STEP = "  "
_LONGEST_KEY = 1_000  # parsers give a key 1,024 characters to its colon
_BARE = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./ -]*[A-Za-z0-9_/])?")
_KNOWN = {"y", "yes", "on", "true", "n", "no", "off", "false", "null"}  # in any mix of cases
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "\\": r"\\"}
_BREAKS = "\x85\xa0\u2028\u2029"  # line ends to YAML 1.1, and a blank that looks like another
_LAST_IN_FOUR_DIGITS = 0xFFFF


def write(value: Value, indent: int = 0) -> str:
    """Write *value* as lines of block YAML, each *indent* blanks in; all end in a line feed."""
    pad = " " * indent
    return "".join(f"{pad}{line}\n" for line in _lines(value, 1))


def write_flow(value: Value) -> str:
    """Write *value* on one line that is JSON too, for the inside of braces."""
    return _flow(value, 1)


def _lines(value: Value, depth: int) -> Iterator[str]:
    _refuse_depth(value, depth)
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _member(_key(key), each, depth)
    elif isinstance(value, list) and value:
        for each in value:
            yield from _hung("- ", _lines(each, depth + 1))
    else:
        yield _flow(value, depth) if isinstance(value, dict | list) else _scalar(value)


def _member(key: str, value: Value, depth: int) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield f"{key}:"
        yield from (_STEP + line for line in _lines(value, depth + 1))
    else:
        yield from _hung(f"{key}: ", _lines(value, depth + 1))


def _hung(first: str, lines: Iterator[str]) -> Iterator[str]:
    """Put *first* before the first line, and as many blanks before the others."""
    lead = first
    for line in lines:
        yield lead + line
        lead = " " * len(first)


def _flow(value: Value, depth: int) -> str:
    _refuse_depth(value, depth)
    if isinstance(value, dict):
        members = (f"{_quoted(_checked(key))}: {_flow(value[key], depth + 1)}" for key in value)
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_flow(each, depth + 1) for each in value)}]"
    return _quoted(value) if isinstance(value, str) else _scalar(value)


def _refuse_depth(value: Value, depth: int) -> None:
    if isinstance(value, dict | list) and depth > DEEPEST:
        raise BadDocument(f"nested deeper than {DEEPEST} levels")


def _key(key: str) -> str:
    return _text(_checked(key))


def _checked(key: object) -> str:
    if not isinstance(key, str) or len(_quoted(key)) > _LONGEST_KEY:
        raise BadDocument(f"no key that YAML can hold: `{one_line(str(key), 60)}`")
    return key


def _scalar(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    raise BadDocument(f"no value that YAML can hold: {type(value).__name__}")


def _text(text: str) -> str:
    is_bare = _BARE.fullmatch(text) and text.lower() not in _KNOWN
    return text if is_bare else _quoted(text)


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable():
        return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadDocument("half of a surrogate pair is no character") from error
    special = {each for each in set(text) if each in _ESCAPES or _must_not_show(each)}
    return f'"{text.translate({ord(each): _escape(each) for each in special})}"'


def _must_not_show(character: str) -> bool:
    return is_hidden(character) or character in _BREAKS or "\ufffe" <= character <= "\uffff"


def _escape(character: str) -> str:
    number = ord(character)
    wide = f"\\U{number:08x}" if number > _LAST_IN_FOUR_DIGITS else f"\\u{number:04x}"
    return _ESCAPES.get(character, wide)


def _number(number: float) -> str:
    if isinstance(number, int):
        return _digits(number)
    if not math.isfinite(number):
        raise BadDocument(f"`{number}` is no finite number")
    digits, e, power = repr(number).partition("e")
    point = "" if "." in digits else ".0"  # without one, YAML 1.1 reads text
    return f"{digits}{point}{e}{power}"


def _digits(number: int) -> str:
    if not -(10 ** (LONGEST_NUMBER - 1)) < number < 10**LONGEST_NUMBER:
        raise BadDocument(f"a number of more than {LONGEST_NUMBER} characters")
    return str(number)

"""Values in brackets and in lists: each is looked at by itself, and what holds brackets ends it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from standfast.redaction.secret_names import holds_many, is_placeholder, kind_of_name, looks_random
from standfast.redaction.strings import QUOTE, Value, quoted
from standfast.redaction.value_heads import BREAK, PREFIX

_BETWEEN = re.compile(r"(?:[\s,+]|\\+[nrt]|\\+\r?\n){0,200}")
_KEY = re.compile(
    r"(?:(?P<quote>\\{0,7}[\"'])[\w.\- ]{1,100}(?P=quote)|[\w.\-]{1,100})"
    r"[ \t]{0,4}(?:=>|:|=(?!=))[ \t]{0,4}",
    re.ASCII,
)
_PREFIX = re.compile(PREFIX)
_WORD = re.compile(r"[^\s,\[\](){}\"'`\\=:;]{1,512}(?=[\s,\]\\])")
_LINE = re.compile(r"[^\s\"'`\\{\[]{1,512}(?=[ \t]{0,8}(?:#|\\|\r|\n|\"|$))")
_NEXT_DASH = re.compile(rf"[ \t]{{0,8}}(?:#[^\r\n\\]{{0,200}})?{BREAK}[ \t]{{0,40}}-[ \t]{{1,8}}")
_PLAIN = re.compile(r"[A-Za-z_.]*|[-+]?\.?\d[\d.,_]*")
_MOST = 1000  # and no longer list is looked at


class _Item(NamedTuple):
    value: Value
    has_key: bool


def several(text: str, found: re.Match[str], kind: str) -> tuple[list[Value], int]:
    """The values that a head with a bracket or a dash announces, and where the last item ends."""
    is_list = text[found.end() - 1] in " \t"
    items = list(_below(text, found.end()) if is_list else _inside(text, found.end()))
    if not items:
        return [], 0
    meant = [item.value for item in items if _is_meant(text, found, kind, item)]
    return meant, items[-1].value.end


def _inside(text: str, at: int) -> Iterator[_Item]:
    """What stands between brackets, up to one that opens or closes or to something unknown."""
    for _ in range(_MOST):
        between = _BETWEEN.match(text, at)
        at = between.end() if between else at
        key = _KEY.match(text, at)
        at = key.end() if key else at
        value = _item(text, at, _WORD)
        if value is None:
            return
        yield _Item(value, has_key=key is not None)
        at = value.end + len(value.quote)


def _below(text: str, at: int) -> Iterator[_Item]:
    """The items of a list of YAML, each on its line."""
    for _ in range(_MOST):
        value = _item(text, at, _LINE)
        if value is None:
            return
        yield _Item(value, has_key=False)
        dash = _NEXT_DASH.match(text, value.end + len(value.quote))
        if dash is None:
            return
        at = dash.end()


def _item(text: str, at: int, bare: re.Pattern[str]) -> Value | None:
    prefix = _PREFIX.match(text, at)
    quote = QUOTE.match(text, prefix.end()) if prefix else None
    if quote:
        value = quoted(text, quote)
        return value if value.quote else None
    word = bare.match(text, at)
    return Value(at, word.end()) if word else None


def _is_meant(text: str, found: re.Match[str], kind: str, item: _Item) -> bool:
    """Whether an item can be what the name of all says: mere words are no secrets of a list."""
    content = text[item.value.start : item.value.end]
    is_word = found["name"].strip("_-.").lower() == "pass" and content.isalpha()
    if is_placeholder(content) or is_word or not any(map(str.isalnum, content)):
        return False
    if kind == "cookie":
        return item.has_key or "=" in content
    if item.has_key:
        return holds_many(found["name"]) and looks_random(content)
    if not item.value.quote and _is_plain(found, content):
        return False
    return kind == "password" or _is_only_wrapped(text, found) or looks_random(content)


def _is_plain(found: re.Match[str], content: str) -> bool:
    """Whether an item without quotes is a word, a number or, in code, a variable."""
    in_code = found["gap"].lstrip()[:1] not in {"", "-"} and ":" not in found[0]
    return bool(_PLAIN.fullmatch(content)) or (in_code and not looks_random(content))


def _is_only_wrapped(text: str, found: re.Match[str]) -> bool:
    """Whether the bracket is one of a single value: `secret = ("a" "b")`."""
    return text[found.end() - 1] == "(" and kind_of_name(found["name"]) is not None

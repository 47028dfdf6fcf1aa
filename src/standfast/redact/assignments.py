r"""Secrets that only their name gives away: `DB_PASSWORD=...`, `--token ...`, `"secret": "..."`.

A head (the name, and what ties a value to it) is found by an expression; the value behind it
is then taken as a whole, quoted or bare, and left alone if it is a reference, a placeholder
or plainly code. A quote may carry backslashes, since the text may be JSON inside JSON.
"""

import re
from typing import NamedTuple

from standfast.redact.names import CLOSERS, is_placeholder, kind_of_name, looks_random

_QUOTED_END = r"(?:\\{0,7}[\"'`])?"
# A type between the name and its value, as in `password: str | None = "..."`.
_TYPE = (
    r"(?::[ \t]{0,4}(?:[A-Za-z]{1,20}\[)?(?:str|string|String|bytes|SecretStr|Final|Any)\b\]?"
    r"(?:[ ]?\|[ ]?\w{1,20})?[ \t]{0,4}(?==))?"
)
_TWO_WORDS = r"(?:(?i:api|access|private|account|auth|signing|encryption|connection)[ ])?"

_ASSIGNED = re.compile(
    r"(?<![\w.$\-])(?P<name>" + _TWO_WORDS + r"[\w.$\-]++)(?:\\{0,7}[\"'`]\]?)?[ \t]{0,8}"
    rf"{_TYPE}(?::=|=>|\?=|[:=])(?!=)(?P<gap>[ \t]{{0,8}}(?:[|>][+\-]?[ \t]{{0,4}}"
    r"(?:\r?\n|\\+n)[ \t]{0,16})?)",
    re.ASCII,
)
_FLAG = re.compile(
    rf"(?<![\w\-])(?P<name>--?[A-Za-z][\w\-]*+){_QUOTED_END}(?P<gap>[ \t,]{{1,8}})(?!-)", re.ASCII
)
_SPACED = re.compile(
    r"(?:#define|\bENV|\bsetx?(?:[ \t]-\w{1,3})?)[ \t]{1,4}(?P<name>[\w.\-]++)"
    r"(?P<gap>[ \t]{1,8})(?![=:])",
    re.ASCII,
)
_PAIR = re.compile(
    rf"\bname{_QUOTED_END}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTED_END}(?P<name>[\w.\-]++){_QUOTED_END}"
    rf"(?:[\s,]|\\+[nrt]){{1,24}}{_QUOTED_END}value{_QUOTED_END}"
    r"[ \t]{0,4}[:=](?P<gap>[ \t]{0,4})",
    re.ASCII,
)
# `password:` and below it the value, as YAML has it: each alone on its line.
_BELOW = re.compile(
    rf"(?:^|\\n|[\"'])[ \t]{{0,40}}(?:-[ \t])?{_QUOTED_END}(?P<name>[\w.\-]++){_QUOTED_END}"
    r":[ \t]{0,4}(?P<gap>(?:\r?\n|\\n)[ \t]{1,40})(?=[^\s:(\[{#\\]+(?:\s|\\|$))",
    re.ASCII | re.MULTILINE,
)
# A list of one.
_LISTED = re.compile(
    rf"(?<![\w.$\-])(?P<name>[\w.\-]++){_QUOTED_END}[ \t]{{0,4}}[:=]"
    r"(?P<gap>[ \t]{0,4}\[[ \t]{0,4})(?!redacted:)(?=[^\s,\[\]]{1,512}[ \t]{0,4}\])",
    re.ASCII,
)
_ELEMENT = re.compile(r"<(?P<name>[\w.:\-]++)[^<>]{0,80}>(?P<gap>)(?=[^<>\r\n]{1,400}</)", re.ASCII)
_HEADS = (_LISTED, _BELOW, _ASSIGNED, _FLAG, _SPACED, _PAIR, _ELEMENT)

_QUOTE = re.compile(r"\\{0,7}[\"'`]")
_BARE = re.compile(
    r"(?:[^\s\"'`\\;,&<>]|\\\\|\\[^nrtbfu\"'`\\]|[\"'](?=[A-Za-z0-9])"
    r"|&(?![\w.\-]{1,64}=|[&\s]|$)|,(?![\s\"'\\]|$|[\w.\-]{1,64}[=:])|[<>](?![/\s&]|$))*",
    re.ASCII,
)
_LINE = re.compile(r"(?:[^\r\n\\\"]|\\(?!\\*[nr\"])){0,8192}")
_COOKIE = re.compile(
    r"[^\s=;,\"'\\]{1,100}=(?:[^\"'\r\n\\]|(?P<q>\\{0,7}\")[^\"\\\r\n]{0,4096}(?P=q)){0,8192}"
)
_SCHEME = re.compile(
    r"(?:Bearer|Basic|Token|Digest|ApiKey|Negotiate|AWS4-HMAC-SHA256)[ \t]{1,4}", re.IGNORECASE
)
_CODE = re.compile(
    r"(?:await|new|lambda|function|async|typeof|not)\b"
    r"|[A-Za-z_$][\w$]*+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*[(\[]",
    re.ASCII,
)
_DOTTED = re.compile(r"[A-Za-z_]++(?:\.[A-Za-z_]++)+", re.ASCII)
_ANGLED = re.compile(r"<[A-Za-z_ .\-]{1,60}>")
_NEXT_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*+=(?=\S)")
_NUMBER = re.compile(r"[-+]?\.?\d[\d.,_]*+(?:[eE][-+]?\d{1,4})?")
_CLOSED = re.compile(r"[ \t]?[),;+%.\]}:]|[ \t]*(?:\\?$|[\r\n])")
_OPENING = re.compile(r"\(|[\[{](?:\\*[\"'\s\[{]|\\+[nrt]|$)|[:=|]")

_LONGEST_QUOTED = 4096
_LONG_WORD = 16
_OWN_WORDS = ("pass", "pwd", "token", "secret", "cred", "key", "cookie", "auth", "dsn")


class Value(NamedTuple):
    """Where the value of a head stands, without its quotes."""

    start: int
    end: int
    is_quoted: bool


def assignments(text: str) -> str:
    """*text* with the values under secret-looking names replaced."""
    for head in _HEADS:
        text = _sweep(text, head)
    return text


def _sweep(text: str, head: re.Pattern[str]) -> str:
    pieces: list[str] = []
    done = 0
    for found in head.finditer(text):
        kind = _kind_of(text, found)
        if kind is None or found.start() < done:
            continue
        value = _value_of(text, found, kind)
        if value is None:
            continue
        pieces += (text[done : value.start], f"[redacted:{kind}]")
        done = value.end
    return "".join((*pieces, text[done:]))


def _kind_of(text: str, found: re.Match[str]) -> str | None:
    name = found["name"]
    kind = kind_of_name(name)
    if kind is None and found.re is _LISTED and name[-1] in "sS":
        kind = kind_of_name(name[:-1])
    if kind is None and text[found.start() - 1 : found.start()] == "\\":
        kind = kind_of_name(name[1:])  # its first letter belongs to an escape such as \n
    return None if kind == "auth" else kind


def _value_of(text: str, found: re.Match[str], kind: str) -> Value | None:
    """The value behind a head, or None if there is nothing to hide."""
    start = found.end()
    quote = _QUOTE.match(text, start)
    if quote is not None:
        if _closes(text, quote):
            return None
        value = _quoted(text, quote)
        if not _is_meant(found, kind, text[value.start : value.end]):
            return None
    elif kind == "cookie":
        cookie = _COOKIE.match(text, start)
        value = Value(start, cookie.end() if cookie else start, is_quoted=True)
    elif kind == "authorization":
        value = _header(text, start)
    elif found["gap"].lstrip()[:1] in {"|", ">"}:  # a block: its whole line
        line = _LINE.match(text, start)
        value = Value(start, line.end() if line else start, is_quoted=True)
    else:
        return _bare(text, found, kind)
    if kind == "authorization":
        value = _without_scheme(text, value)
    content = text[value.start : value.end]
    return None if is_placeholder(content) or _is_directory(found["name"], content) else value


def _closes(text: str, quote: re.Match[str]) -> bool:
    """Whether the quote ends a string that began before the name: `input('Password: ')`."""
    if not _CLOSED.match(text, quote.end()):
        return False
    line = text[max(text.rfind("\n", 0, quote.start()) + 1, quote.start() - 400) : quote.start()]
    return line.count(quote.group()) % 2 == 1


def _is_meant(found: re.Match[str], kind: str, content: str) -> bool:
    """Whether a quoted value can be what its name says: a cookie is a pair, a grade is no word."""
    if kind == "cookie":
        return "=" in content
    if found["name"].strip("_-.").lower() == "pass":
        return not content.isalpha()
    return found.re is not _LISTED or kind == "password" or looks_random(content)


def _quoted(text: str, quote: re.Match[str]) -> Value:
    start = quote.end()
    triple = quote.group() * 3
    if text.startswith(triple, quote.start()):
        start = quote.start() + len(triple)
        until = text.find(triple, start, start + _LONGEST_QUOTED)
        until = until if until >= 0 else min(len(text), start + _LONGEST_QUOTED)
        return Value(start, until, is_quoted=True)
    end = _closing_quote(text, start, quote.group())
    if end is None:  # cut off in the middle: the rest of the line is the secret
        line = _LINE.match(text, start)
        end = line.end() if line else start
    return Value(start, end, is_quoted=True)


def _closing_quote(text: str, start: int, quote: str) -> int | None:
    """Where *quote* closes: as many backslashes as it opened with, those of its level doubled."""
    limit = text.find("\n", start, start + _LONGEST_QUOTED)
    limit = min(len(text), start + _LONGEST_QUOTED) if limit < 0 else limit
    level = len(quote)  # backslashes and the quote itself
    at = text.find(quote[-1], start, limit)
    while at >= 0:
        before = text[start:at]
        weight = len(before) - len(before.rstrip("\\")) + 1
        if weight < level or weight // level % 2 == 1:
            return at - (min(weight, level) - 1)
        at = text.find(quote[-1], at + 1, limit)
    return None


def _header(text: str, start: int) -> Value:
    """A header's value: its scheme if it is a known one, and the word or list behind it."""
    scheme = _SCHEME.match(text, start)
    line = _LINE.match(text, start) if scheme and scheme.group()[0] in "AaDd" else None
    after = scheme.end() if scheme else start
    word = _ANGLED.match(text, after) or _BARE.match(text, after)
    end = line.end() if line else word.end() if word else start
    if scheme is None and not looks_random(text[start:end]):
        end = start
    return Value(start, end, is_quoted=False)


def _without_scheme(text: str, value: Value) -> Value:
    scheme = _SCHEME.match(text, value.start, value.end)
    return value._replace(start=scheme.end()) if scheme else value


def _bare(text: str, found: re.Match[str], kind: str) -> Value | None:
    start = found.end()
    is_variable = found["name"].isupper() and not found["gap"]
    is_code = _OPENING.match(text, start) or _CODE.match(text, start)
    if _ANGLED.match(text, start) or (is_code and not is_variable):
        return None
    if found["gap"] and _NEXT_VARIABLE.match(text, start):  # `A= B=x`: nothing stands in A
        return None
    bare = _BARE.match(text, start)
    content = bare.group() if bare else ""
    if is_placeholder(content) or is_placeholder(content.rstrip(CLOSERS)):
        return None
    content = content.rstrip(CLOSERS)
    end = start + len(content)
    if _is_directory(found["name"], content) or _is_harmless(
        found, content, kind, text[end : end + 1]
    ):
        return None
    return Value(start, end, is_quoted=False)


def _is_directory(name: str, content: str) -> bool:
    """`PWD` is where a shell stands, unless what it holds is no path."""
    return name.lower().endswith("pwd") and content[:1] in {"/", "~", "."}


def _is_harmless(found: re.Match[str], content: str, kind: str, after: str) -> bool:
    """Whether a bare value reads as a number, a word of prose, a variable or a type."""
    name = found["name"]
    if _NUMBER.fullmatch(content):
        return kind != "password" or name.lower().endswith("pass")
    is_word = content.replace("_", "").isalpha()
    if is_word and (found.re in {_BELOW, _LISTED} or name.strip("_-.").lower() == "pass"):
        return True
    if name.isupper() and not found["gap"]:
        return False
    if _DOTTED.fullmatch(content):
        return bool(found["gap"]) or after in {",", ")", ";"}
    return is_word and _is_variable(found, content, kind, after)


def _is_variable(found: re.Match[str], content: str, kind: str, after: str) -> bool:
    """Whether one variable is given another, or a word follows in prose."""
    name = found["name"]
    if content == name.rpartition(".")[2] or (name.islower() and after in {",", ")"}):
        return True
    if found["gap"] and name.islower() and any(word in content for word in _OWN_WORDS):
        return True
    return kind != "password" and bool(found["gap"]) and len(content) < _LONG_WORD

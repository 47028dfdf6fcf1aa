r"""Secrets that only their name gives away: `DB_PASSWORD=...`, `--token ...`, `"secret": "..."`.

A head (the name, and what ties a value to it) is found by an expression; the value behind it
is then taken as a whole, quoted or bare, and left alone if it is a reference, a placeholder
or plainly code. A quote may carry backslashes, since the text may be JSON inside JSON.
"""

import re

from standfast.redaction.secret_names import CLOSERS, is_placeholder, kind_of_name, looks_random
from standfast.redaction.strings import QUOTE, Value, joined, quoted, rest_of_line
from standfast.redaction.value_heads import ASSIGNED, BELOW, HEADS, SEVERAL, WRAPPED, name_of
from standfast.redaction.value_lists import several

_BARE = re.compile(
    r"(?:[^\s\"'`\\;,&<>]|\\\\|\\[^nrtbfu\"'`\\]|[\"'](?=[A-Za-z0-9])"
    r"|&(?![\w.\-]{1,64}=|[&\s]|$)|,(?![\s\"'\\]|$|[\w.\-]{1,64}[=:])|[<>](?![/\s&]|$))*",
    re.ASCII,
)
_COOKIE = re.compile(
    r"[^\s=;,\"'\\]{1,100}=(?:[^\"'\r\n\\]|(?P<q>\\{0,7}\")[^\"\\\r\n]{0,4096}(?P=q)){0,8192}"
)
# Which way somebody shows who they are; one that we do not know only before what looks random.
_SCHEME = re.compile(
    r"(?:Bearer|Basic|Token|Digest|ApiKey|Negotiate|AWS4-HMAC-SHA256)[ \t]{1,4}", re.IGNORECASE
)
_OTHER_SCHEME = re.compile(r"[A-Za-z][\w\-]{1,30}[ \t]{1,4}", re.ASCII)
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

_LONG_WORD = 16
_OWN_WORDS = ("pass", "pwd", "token", "secret", "cred", "key", "cookie", "auth", "dsn")


def assignments(text: str) -> str:
    """*text* with the values under secret-looking names replaced."""
    for head in HEADS:
        text = _sweep(text, head)
    return text


def _sweep(text: str, head: re.Pattern[str]) -> str:
    pieces: list[str] = []
    done = seen = 0
    for found in head.finditer(text):
        kind = _kind_of(text, found)
        if kind is None or found.start() < seen:
            continue
        values, seen = _values_of(text, found, kind)
        for value in values:
            pieces += (text[done : value.start], f"[redacted:{kind}]")
            done = value.end
    return "".join((*pieces, text[done:]))


def _kind_of(text: str, found: re.Match[str]) -> str | None:
    name = name_of(found)
    kind = kind_of_name(name)
    if kind is None and found.re is SEVERAL and name[-1] in "sS":
        kind = kind_of_name(name[:-1])
    if kind is None and text[found.start() - 1 : found.start()] == "\\":
        kind = kind_of_name(name[1:])  # its first letter belongs to an escape such as \n
    return None if kind == "auth" else kind


def _values_of(text: str, found: re.Match[str], kind: str) -> tuple[list[Value], int]:
    """The values behind a head, and how far it was looked for them."""
    if found.re is SEVERAL:
        return several(text, found, kind)
    value = _value_of(text, found, kind)
    if value is None:
        return [], 0
    values = [value]
    if value.quote:
        is_code = found.re is WRAPPED or (found.re is ASSIGNED and bool(found["gap"]))
        values += joined(text, value, is_code=is_code)
    return values, values[-1].end


def _value_of(text: str, found: re.Match[str], kind: str) -> Value | None:
    """The value behind a head, or None if there is nothing to hide."""
    start = found.end()
    quote = QUOTE.match(text, start)
    if quote is not None:
        if _closes(text, quote):
            return None
        value = quoted(text, quote)
        if not _is_meant(found, kind, text[value.start : value.end]):
            return None
    elif kind == "cookie":
        cookie = _COOKIE.match(text, start)
        value = Value(start, cookie.end() if cookie else start)
    elif kind == "authorization":
        value = _header(text, start)
    elif found.re is ASSIGNED and found["block"]:  # its whole line
        value = Value(start, rest_of_line(text, start))
    else:
        return _bare(text, found, kind)
    if kind == "authorization":
        value = _without_scheme(text, value)
    content = text[value.start : value.end]
    return None if is_placeholder(content) or _is_directory(name_of(found), content) else value


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
    if name_of(found).strip("_-.").lower() == "pass":
        return not content.isalpha()
    return True


def _header(text: str, start: int) -> Value:
    """A header's value: its scheme if it is a known one, and the word or list behind it."""
    scheme = _SCHEME.match(text, start)
    if scheme and scheme.group()[0] in "AaDd":
        return Value(start, rest_of_line(text, start))
    known = scheme or _OTHER_SCHEME.match(text, start)
    after = known.end() if known else start
    word = _ANGLED.match(text, after) or _BARE.match(text, after)
    end = word.end() if word else start
    if scheme is None and not looks_random(text[after:end]):
        end = start
    return Value(start, end)


def _without_scheme(text: str, value: Value) -> Value:
    scheme = _SCHEME.match(text, value.start, value.end) or _OTHER_SCHEME.match(
        text, value.start, value.end
    )
    return value._replace(start=scheme.end()) if scheme else value


def _bare(text: str, found: re.Match[str], kind: str) -> Value | None:
    start = found.end()
    is_variable = name_of(found).isupper() and not found["gap"]
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
    if _is_directory(name_of(found), content) or _is_harmless(
        found, content, kind, text[end : end + 1]
    ):
        return None
    return Value(start, end)


def _is_directory(name: str, content: str) -> bool:
    """`PWD` is where a shell stands, unless what it holds is no path."""
    return name.lower().endswith("pwd") and content[:1] in {"/", "~", "."}


def _is_harmless(found: re.Match[str], content: str, kind: str, after: str) -> bool:
    """Whether a bare value reads as a number, a word of prose, a variable or a type."""
    name = name_of(found)
    if (
        found.re is BELOW
        and not found["gap"].endswith((" ", "\t"))
        and not _is_alone(kind, content, after)
    ):
        return True
    if _NUMBER.fullmatch(content):
        return kind != "password" or name.lower().endswith("pass")
    is_word = content.replace("_", "").isalpha()
    if is_word and (found.re is BELOW or name.strip("_-.").lower() == "pass"):
        return True
    if name.isupper() and not found["gap"]:
        return False
    if _DOTTED.fullmatch(content):
        return bool(found["gap"]) or after in {",", ")", ";"}
    return is_word and _is_variable(found, content, kind, after)


def _is_alone(kind: str, content: str, after: str) -> bool:
    """Whether a word right at the start of a line, below its label, is all that stands there."""
    return after in {"", "\r", "\n", "\\", '"'} and (kind == "password" or looks_random(content))


def _is_variable(found: re.Match[str], content: str, kind: str, after: str) -> bool:
    """Whether one variable is given another, or a word follows in prose."""
    name = name_of(found)
    if content == name.rpartition(".")[2] or (name.islower() and after in {",", ")"}):
        return True
    if found["gap"] and name.islower() and any(word in content for word in _OWN_WORDS):
        return True
    return kind != "password" and bool(found["gap"]) and len(content) < _LONG_WORD

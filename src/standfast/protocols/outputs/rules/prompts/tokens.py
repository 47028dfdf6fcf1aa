"""The words and the paths of one line of a prompt, as a person tells them apart. Hook path.

A path is one word that ends in `.md`, or several in quotes; what is a pattern, a URL, a variable
or a placeholder that nobody filled in is none. A sentence in quotes is somebody else's.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts import placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SUFFIX = ".md"
_CLOSING = {"`": "`", '"': '"', "'": "'", "“": "”", "\u2018": "\u2019", "«": "»"}
_OPENS_BEHIND = " \t([{,:=>|*"
_BEFORE = "([{<`\"'“\u2018«*_"
_BEHIND = ")]}>`\"'”\u2019»*"
_ENDS, _COLONS = ".!?;", (":", "=", "|", ">", "→")
_NO_PATH = frozenset('{}<>[]$*?|%#\\"`…\0') | {chr(code) for code in range(32)}
_BARS = frozenset("|-\u2013—=>→")
_QUOTED = 1_024  # characters: what is longer is no quotation
_CODE = ("<code>", "</code>", "``")
_LABELS = frozenset({"to", "file", "path", "into", "in", "at"})


class Token:
    """One word, or a path; what stands right behind it, and whether it opens a bracket."""

    __slots__ = ("asks", "colon", "comma", "ends", "opens", "path", "raw", "word")

    def __init__(self, raw: str, path: str = "", behind: str = "", before: str = "") -> None:
        self.raw = raw
        self.opens = "(" in before
        self.path = path
        self.word = "" if path else raw.lower().replace("\u2019", "'")
        self.comma = "," in behind
        self.colon = any(mark in behind for mark in _COLONS)
        self.ends = any(mark in behind for mark in _ENDS)
        self.asks = "?" in behind


def tokens(line: str) -> list[Token]:
    """The line, taken apart."""
    return list(_tokens(_without_markup(line)))


def _tokens(line: str) -> Iterator[Token]:
    at = 0
    while at < len(line):
        char = line[at]
        if char.isspace():
            at += 1
            continue
        end = _quoted(line, at)
        if end:
            inside, at = line[at + 1 : end], end + 1
            behind = line[at:].partition(" ")[0].partition('"')[0]
            behind = behind[: len(behind) - len(behind.lstrip(_BEHIND + ",:;.!?=|"))]
            at += len(behind)
            yield Token(inside, as_path(inside.rstrip(".,")), behind)
            continue
        whole = _to_the_end(line, at)
        if whole:
            yield Token(whole, whole)
            return
        end = at
        while end < len(line) and not line[end].isspace() and not _quoted(line, end):
            end += 1
        yield from _plain(line[at:end])
        at = end


def _quoted(line: str, at: int) -> int:
    """Where the quotation that begins here ends; 0 where none does."""
    closing = _CLOSING.get(line[at])
    if closing is None or (at and line[at - 1] not in _OPENS_BEHIND):
        return 0
    far = at + _QUOTED
    end = line.find(closing, at + 1, far)
    while end > 0 and closing in "'\u2019" and line[end + 1 : end + 2].isalnum():
        end = line.find(closing, end + 1, far)
    return max(end, 0)


def _to_the_end(line: str, at: int) -> str:
    """A path from the root with blanks in it, where nothing else stands behind a colon."""
    if line[at] not in "/~" or not line[:at].rstrip(" *_").endswith(":"):
        return ""
    said = line[at:].rstrip(" .")
    is_one = " " in said and said.count(_SUFFIX) == 1 and said.endswith(_SUFFIX)
    return as_path(said) if is_one and not any(char in said for char in ",;()'“”") else ""


def _plain(raw: str) -> Iterator[Token]:
    """A word without quotes; what stands before a colon in it is a word of its own."""
    if set(raw) == {">"}:  # where a shell writes to
        yield Token(raw)
        return
    if set(raw) <= _BARS:
        yield Token(raw, behind=raw[-1:])
        return
    word = raw.lstrip(_BEFORE)
    core = word.rstrip(_BEHIND + ".,:;!?=|")
    behind = word[len(core) :]
    if core.endswith(_SUFFIX) and "://" not in core:
        cut = max(core.rfind(":"), core.rfind("="))
        left, right = core[:cut], core[cut + 1 :]
        if cut > 0 and as_path(right) and (left.isupper() or left.lower() in _LABELS):
            yield Token(left, behind=":")
            core = right
        parts = core.split(",")
        if len(parts) > 1 and all(as_path(part) for part in parts):
            for part in parts[:-1]:
                yield Token(part, part, ",")
            core = parts[-1]
    yield Token(core, as_path(core), behind, raw[: len(raw) - len(word)])


def as_path(said: str) -> str:
    """The path that these characters are, or nothing."""
    name = said.rpartition("/")[2]
    if not said.endswith(_SUFFIX) or name == _SUFFIX or not _NO_PATH.isdisjoint(said):
        return ""
    if ":" in said or "..." in said or said[0] in "@#-" or (said[0] == "~" and said[1] != "/"):
        return ""
    if any(char.isspace() for char in said) and not _may_hold_blanks(said):
        return ""
    return "" if placeholders.stands_in(said) else said


def _may_hold_blanks(said: str) -> bool:
    """Quotes hold sentences too: one that ends in a path is none."""
    parts = said.split()
    return (
        "/" in said
        and _SUFFIX not in " ".join(parts[:-1])
        and not any(part.lower() in {"to", "in", "into", "at", "write"} for part in parts)
    )


def _without_markup(line: str) -> str:
    """Links become where they lead to, and a tag around a text becomes its label."""
    for mark in _CODE if "``" in line or "<code>" in line else ():
        line = line.replace(mark, "`")
    while (middle := line.find("](")) > 0:
        start, end = line.rfind("[", 0, middle), line.find(")", middle)
        if start < 0 or end < 0:
            break
        line = f"{line[:start]} {line[middle + 2 : end]} {line[end + 1 :]}"
    text = line.strip()
    name = text[1:].partition(">")[0]
    if text.startswith("<") and name and text.endswith(f"</{name}>"):
        return f"{name}: {text[len(name) + 2 : -len(name) - 3]}"
    return line

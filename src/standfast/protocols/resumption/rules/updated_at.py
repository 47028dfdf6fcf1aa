"""Where a resumption section says when it was updated, found in the text of its file. Hook path.

A hook has no time to parse YAML: this reads the one path `resumption.recovery_state.updated_at`
in block or flow style, from text that may be anything. What it finds is judged as the text that
it is, with quotes or without: a time that a parser would make a date of is still a time.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SECTION, STATE, FIELD = "resumption", "recovery_state", "updated_at"

_LONGEST = 100  # characters: no time is longer
_WALKED = 100_000  # characters of a flow mapping
_MOST = 4_000  # lines, or parts of a flow mapping: no section is longer


def find(text: str) -> str | None:
    """The text of `updated_at`, empty where it is missing; None where no such state is kept."""
    text = text.removeprefix("\ufeff")
    section = _flow(text, SECTION) if text.lstrip().startswith("{") else _block(text, SECTION)
    state = section and _inside(section, STATE)
    if not state:
        return None
    return _scalar(_inside(state, FIELD) or "")


def has_section(text: str) -> bool:
    """Whether there is a resumption section at all, of whatever version."""
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        return bool(_flow(text, SECTION))
    return bool(_block(text, SECTION))


def _inside(value: str, key: str) -> str:
    """What stands under a key of a mapping, in whichever style it is written."""
    return _flow(value, key) if value.lstrip().startswith("{") else _block(value, key)


def _block(text: str, key: str) -> str:
    """The value of *key* in a block mapping: the rest of its line, and what is indented below."""
    own, found = -1, ""
    for line, depth in _lines(text, key):
        if own < 0:
            own = depth
        if depth > own:
            found += f"\n{line}" if found else ""
        elif found or depth < own:
            break
        elif (rest := _after(line.strip(), key)) is not None:
            found = f" {rest}"  # not empty: it was there
    head, _, below = found.partition("\n")
    is_nested = not head.strip() or head.lstrip().startswith(("#", "&", "!"))
    return below if is_nested and below else f"{head.strip()}\n{below}".strip("\n")


def _lines(text: str, key: str) -> Iterator[tuple[str, int]]:
    """The lines that say something, with their indents; at the top from the key's own line on."""
    at = 0
    if key == SECTION:
        starts = [text.find(f"\n{quote}{key}{quote}:") for quote in ("", '"', "'")]
        later = [start + 1 for start in starts if start >= 0]
        is_first = any(text.startswith(f"{quote}{key}{quote}:") for quote in ("", '"', "'"))
        at = 0 if is_first else min(later, default=len(text))
    for _ in range(_MOST):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        words = line.lstrip(" ")
        if words.strip() and not words.startswith("#"):
            yield line.rstrip("\r"), len(line) - len(words)
        if end < 0:
            return
        at = end + 1


def _after(line: str, key: str) -> str | None:
    """What follows the key at the beginning of a line; None if another stands there."""
    for quote in ("", '"', "'"):
        head = f"{quote}{key}{quote}"
        if line.startswith(head):
            rest = line[len(head) :].lstrip(" ")
            if rest.startswith(":") and rest[1:2] in {"", " ", "\t", "{", "\r"}:
                return rest[1:].strip()
    return None


def _flow(text: str, key: str) -> str:
    """The value of *key* in a flow mapping: between its colon and the comma or brace after it."""
    for count, part in enumerate(_parts(text.lstrip())):
        member = part.strip()
        while member.startswith("#"):
            member = member.partition("\n")[2].lstrip()
        rest = _after(member, key)
        if rest is None and member.startswith((f'"{key}":', f"'{key}':")):
            rest = member[len(key) + 3 :].strip()
        if rest is not None:
            return rest
        if count > _MOST:
            break
    return ""


def _parts(text: str) -> Iterator[str]:
    """The members of the flow mapping that *text* begins with."""
    depth, begin = 0, 1
    for at, char in _marks(text):
        depth += (char in "{[") - (char in "}]")
        if depth == 0 or (char == "," and depth == 1):
            yield text[begin:at]
            begin = at + 1
        if depth == 0:
            return
    yield text[begin:_WALKED]  # its end is not in sight


def _marks(text: str) -> Iterator[tuple[int, str]]:
    """Brackets, braces and commas that stand neither in quotes nor in comments."""
    quote, at = "", 0
    while at < min(len(text), _WALKED):
        char = text[at]
        if quote:
            at += char == "\\" and quote == '"'
            quote = "" if char == quote else quote
        elif char in "\"'" and not text[at - 1 : at].isalnum():
            quote = char
        elif char == "#" and text[at - 1 : at].isspace():
            at = len(text) if (end := text.find("\n", at)) < 0 else end
        elif char in "{[}],":
            yield at, char
        at += 1


def _scalar(value: str) -> str:
    """A plain or quoted scalar as the text it is, without what is behind it."""
    line = value.strip().partition("\n")[0].strip()
    for quote in ('"', "'"):
        if line.startswith(quote):
            return line[1:].partition(quote)[0][:_LONGEST]
    return line.partition(" #")[0].strip()[:_LONGEST]

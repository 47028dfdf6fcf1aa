"""L2-REINJECT markers in rules files: parsed, ranked and held to a budget of tokens. Hook path.

A marker is text from a repository that reaches a model on every prompt, so it is plain, short and
one line, or it is refused, and what was refused is handed back to be logged.
"""

from __future__ import annotations

from standfast.text import is_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BUDGET = 850
LONGEST = 500
DEFAULT = (
    '<!-- L2-REINJECT: rank=9, tokens=25, content="MUST update the resumption section of '
    'ORCHESTRATION.yaml whenever a phase, gate, agent, decision or compaction changes it." -->'
)

_FENCES = ("```", "~~~")
_OPEN, _CLOSE, _NAME = "<!--", "-->", "L2-REINJECT:"
_MOST_MARKERS = 200
_DENSEST = 5  # characters a token: what is declared is believed only down to this
_LONGEST_NUMBER = 6


class Marker:
    """One marker: the lower the rank, the earlier it is said."""

    __slots__ = ("content", "line", "rank", "tokens")

    def __init__(self, rank: int, tokens: int, content: str, line: int) -> None:
        self.rank = rank
        self.tokens = tokens
        self.content = content
        self.line = line


class Refused:
    """A marker that is not said, in which line, and why."""

    __slots__ = ("line", "why")

    def __init__(self, line: int, why: str) -> None:
        self.line = line
        self.why = why


class _No(Exception):  # it never leaves this module
    pass


def parse(text: str) -> tuple[list[Marker], list[Refused]]:
    """Every marker of a rules file, and every one that is refused."""
    good: list[Marker] = []
    refused: list[Refused] = []
    for line, inside in _comments(_without_examples(text)):
        try:
            good.append(_marker(inside, line))
        except _No as no:
            refused.append(Refused(line, str(no)))
    too_many = f"a file may hold at most {_MOST_MARKERS} markers"
    refused += [Refused(marker.line, too_many) for marker in good[_MOST_MARKERS:]]
    return good[:_MOST_MARKERS], refused


def choose(markers: Iterable[Marker], budget: int = BUDGET) -> tuple[list[Marker], list[Marker]]:
    """Those that are said, by rank, and those that the budget has no room for.

    One that is too large leaves its room to the smaller ones behind it.
    """
    said: list[Marker] = []
    left: list[Marker] = []
    for marker in sorted(markers, key=lambda each: each.rank):
        fits = sum(each.tokens for each in said) + marker.tokens <= budget
        (said if fits else left).append(marker)
    return said, left


def _without_examples(text: str) -> str:
    """The text with fenced code blocks left empty, line for line: what is in them is shown."""
    if not any(fence in text for fence in _FENCES):
        return text
    kept: list[str] = []
    fence, is_comment = "", False
    for line in text.split("\n"):
        opened = "" if is_comment else _fence(line)
        kept.append("" if fence or opened else line)
        if fence:
            is_end = opened.startswith(fence) and not line.strip(" \t\r>").strip(fence[0])
            fence = "" if is_end else fence
        elif opened:
            fence = opened
        else:
            goes_on = is_comment and _CLOSE not in line
            is_comment = goes_on or line.rfind(_CLOSE) < line.rfind(_OPEN)
    return "\n".join(kept)


def _fence(line: str) -> str:
    """The fence that a line begins with, also in a list or a quotation; mostly none."""
    bare = line.lstrip(" \t>")
    if not bare.startswith(_FENCES):
        return ""
    behind = bare.lstrip(bare[0])
    is_code = bare[0] == "`" and "`" in behind  # in a line of text
    return "" if is_code else bare[: len(bare) - len(behind)]


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """The line and the inside of every comment that begins as a marker does."""
    at, line, counted = 0, 1, 0
    while (start := text.find(_OPEN, at)) >= 0:
        inside = start + len(_OPEN)
        end = text.find(_CLOSE, inside)
        at = len(text) if end < 0 else end
        body = text[inside:at].lstrip()
        if body.startswith(_NAME):
            line, counted = line + text.count("\n", counted, start), start
            yield line, body.removeprefix(_NAME) if end >= 0 else ""


def _marker(inside: str, line: int) -> Marker:
    head, quoted, rest = inside.partition('content="')
    content, closed, behind = rest.rpartition('"')
    if not quoted or not closed or behind.strip():
        raise _No('it is not `rank=N, tokens=N, content="..."` in one comment')
    numbers = _numbers(head)
    if "rank" not in numbers:
        raise _No("it has no rank")
    _check(content)
    least = -(-len(content) // _DENSEST)
    return Marker(numbers["rank"], max(numbers.get("tokens", 0), least), content, line)


def _numbers(head: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in head.strip().rstrip(",").split(","):
        name, _, value = (each.strip() for each in part.partition("="))
        is_number = value.isascii() and value.isdigit() and len(value) <= _LONGEST_NUMBER
        if name not in {"rank", "tokens"} or name in found or not is_number or int(value) == 0:
            raise _No("only `rank` and `tokens` stand before the content, once, each above 0")
        found[name] = int(value)
    return found


def _check(content: str) -> None:
    if not content.strip():
        raise _No("its content is empty")
    if len(content) > LONGEST:
        raise _No(f"its content is over {LONGEST} characters")
    if any(map(is_hidden, set(content))):
        raise _No("its content holds a line end or an invisible character")
    if _has_markup(content):
        raise _No("its content holds markup")


def _has_markup(content: str) -> bool:
    """A tag, a comment, an entity, a fence, a link, bold; a plain `>=` or `->` is none of these."""
    if any(mark in content for mark in (*_FENCES, _OPEN, "]]>", "&#", "](")):
        return True
    if _is_bold(content) or _has_entity(content):
        return True
    behind = (content[at + 1 : at + 2] for at, each in enumerate(content) if each == "<")
    return any(each.isalpha() or each in {"/", "!", "?"} for each in behind if each)


def _is_bold(content: str) -> bool:
    """`**so**`; two stars with blanks around them are a sign."""
    _, opened, behind = content.partition("**")
    return bool(opened) and "**" in behind and not behind[:1].isspace()


def _has_entity(content: str) -> bool:
    for part in content.split("&")[1:]:
        name, closed, _ = part.partition(";")
        if closed and name.isascii() and name.isalnum():
            return True
    return False

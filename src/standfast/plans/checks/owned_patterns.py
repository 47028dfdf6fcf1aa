"""Which files a pattern in `owns` means, and whether two patterns can mean one file. Pure.

`*` and `?` stay within one name, `[ab]` is one character, `{a,b}` either word, `**` any number of
folders. A pattern whose last name has no wildcard means a file, or a folder with all that is in it.

Two patterns overlap if some path fits both. That is decided by walking both at once, so it holds
for files that are not there yet. Where it cannot be decided exactly (two `[…]`, a `**` beside other
characters, names that differ in case on some machines) the answer is yes: an overlap is told once
too often rather than once too seldom.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.errors.base import BadName, TooLarge
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_WORDS = 64  # that the braces of one pattern may become
MOST_WORK = 5_000_000  # steps of comparing for one plan
DEEP = "**"
_STAR, _ONE = "*", "?"
_WILD = frozenset("*?[")
_BRACES = re.compile(r"\{([^{}]*)\}")
_PIECES = re.compile(r"\*+|\?|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)

Name = tuple[str, ...]  # the pieces of one name: a character, `*`, `?` or `[…]`


class Work:
    """How much comparing may still be done: a plan from outside must not take for ever."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self._left = most

    def use(self, steps: int) -> None:
        """Count some steps."""
        self._left -= steps
        if self._left < 0:
            raise TooLarge("the patterns are too many or too long to be compared")


class Shape(NamedTuple):
    """A pattern taken apart: its names, in the form in which they are compared."""

    names: tuple[str, ...]
    start: tuple[str, ...] = ()  # those before the first wildcard


def pattern(text: object, *, what: str) -> str:
    """Return *text* if it can be a pattern of files inside the repository, without `./` and `/`."""
    if not isinstance(text, str):
        raise BadName(f"{what} must be text, not {type(text).__name__}")
    plain = text.removeprefix("./").removesuffix("/")
    if plain.startswith("!"):
        raise BadName(f"{what} `{one_line(text, 80)}` excludes files", remedy="Name what is owned.")
    if len(plain) <= ids.LONGEST_PATH:  # else it is refused as it stands, braces and all
        for each in _worded(plain, what):
            ids.relative_path(each, what=what)
    ids.relative_path(plain, what=what)
    return plain


def shapes(text: str) -> list[Shape]:
    """What a pattern that was checked means: one or more shapes."""
    return [_shape(word) for word in _worded(text, "the pattern")]


def overlap(one: Shape, other: Shape, work: Work) -> bool:
    """Whether some path fits both."""
    first, second = one.names, other.names
    start = 0
    while start < min(len(first), len(second)) and _is_plain(first[start], second[start]):
        if first[start] != second[start]:
            return False
        start += 1
    return _walk(first[start:], second[start:], work)


def outside(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The paths that fit none of the patterns; those that cannot be compared in time are spared."""
    work, owned = Work(), [shape for text in patterns for shape in shapes(text)]
    found = []
    try:
        for path in paths:
            place = Shape(_folded(path))
            if not any(overlap(place, shape, work) for shape in owned):
                found.append(path)
    except TooLarge:
        return found
    return found


def _walk(first: tuple[str, ...], second: tuple[str, ...], work: Work) -> bool:
    """Row by row: which rests of *second* can be left when some of *first* is used up."""
    work.use((len(first) + 1) * (len(second) + 1))
    row = _skip_deep([True] + [False] * len(second), second)
    for name in first:
        row = _skip_deep(_next_row(row, name, second, work), second)
    return row[-1]


def _next_row(row: list[bool], name: str, second: tuple[str, ...], work: Work) -> list[bool]:
    found = list(row) if name == DEEP else [False] * len(row)
    for at, other in enumerate(second):
        if name == DEEP:
            found[at + 1] = found[at + 1] or found[at]  # it takes one more name of the other
        elif other == DEEP:
            found[at] = found[at] or row[at]
        elif row[at] and _names_meet(name, other, work):
            found[at + 1] = True
    return found


def _skip_deep(row: list[bool], second: tuple[str, ...]) -> list[bool]:
    """A `**` may mean no folder at all."""
    for at, other in enumerate(second):
        if other == DEEP and row[at]:
            row[at + 1] = True
    return row


def _is_plain(one: str, other: str) -> bool:
    return not (_WILD & set(one) or _WILD & set(other))


def _names_meet(one: str, other: str, work: Work) -> bool:
    """Whether some name fits both."""
    if _is_plain(one, other):
        return one == other
    first, second = _pieces(one), _pieces(other)
    work.use((len(first) + 1) * (len(second) + 1))
    row = _stars([True] + [False] * len(second), second)
    for piece in first:
        if piece == _STAR:
            for at in range(len(second)):
                row[at + 1] = row[at + 1] or row[at]
            continue
        found = [False] * len(row)
        for at, against in enumerate(second):
            if against == _STAR:
                found[at] = found[at] or row[at]
            elif row[at] and _characters_meet(piece, against):
                found[at + 1] = True
        row = _stars(found, second)
    return row[-1]


def _stars(row: list[bool], second: Name) -> list[bool]:
    for at, against in enumerate(second):
        if against == _STAR and row[at]:
            row[at + 1] = True
    return row


def _characters_meet(one: str, other: str) -> bool:
    if len(one) == len(other) == 1 and _ONE not in (one, other):
        return one == other
    if _ONE in (one, other) or len(one) > 1 < len(other):
        return True  # two sets are taken to share a character
    single, many = sorted((one, other), key=len)
    return _is_in(single, many)


def _is_in(character: str, many: str) -> bool:
    """Whether a character is in `[…]`; any set that is not plain is taken to hold it."""
    inside = many[1:-1]
    if inside[:1] in ("!", "^") or "-" in inside or "[" in inside or "\\" in inside:
        return True
    return character in inside


def _pieces(name: str) -> Name:
    found = (_STAR if each[0] == _STAR else each for each in _PIECES.findall(name))
    return tuple(found)


def _shape(word: str) -> Shape:
    """A pattern without braces; a `**` beside other characters may mean anything."""
    names = _folded(word)
    if not _WILD & set(names[-1]):
        names = (*names, DEEP)
    wild = next(number for number, name in enumerate((*names, DEEP)) if _WILD & set(name))
    return Shape(tuple(DEEP if DEEP in name else name for name in names), names[:wild])


def _folded(path: str) -> Name:
    """The names of a path, in the form in which they are compared."""
    return tuple(unicodedata.normalize("NFC", name).casefold() for name in path.split("/"))


def _worded(text: str, what: str) -> list[str]:
    """Every way to read the braces of a pattern."""
    words = [text]
    while any(_BRACES.search(word) for word in words):
        words = [each for word in words for each in _opened(word)]
        if len(words) > MOST_WORDS:
            problem = f"{what} `{one_line(text, 80)}` has braces for over {MOST_WORDS} words"
            raise BadName(problem, remedy="Write fewer of them.")
    return words


def _opened(word: str) -> list[str]:
    found = _BRACES.search(word)
    if found is None:
        return [word]
    start, end = word[: found.start()], word[found.end() :]
    return [f"{start}{each}{end}" for each in found[1].split(",")]

"""Whether a path holds what somebody was to fill in: `review-ROLE.md`, `YYMMDD.md`. Hook path.

A name in capitals is a name; one word in capitals among others, of those that stand for something,
is none. A path that is in doubt holds nobody.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts.phrase_words import ALWAYS_FILLED_IN, FILLED_IN

_OF_TIMES = frozenset("YMDHS")
_COUNTS = frozenset("NXnx")
_ROUTES = ("path/to/", "some/path/", "your/path/")


def stands_in(path: str) -> bool:
    """Whether any part of it is still to be filled in."""
    if any(f"/{path}".find(f"/{route}") >= 0 for route in _ROUTES):
        return True
    return any(_is_open(name.removesuffix(".md")) for name in path.split("/"))


def _is_open(name: str) -> bool:
    words = "".join(char if char.isalnum() else " " for char in name).split()
    if any(_is_pattern(word) for word in words):
        return True
    named = [word for word in words if word in FILLED_IN]
    if not named or (len(words) == 1 and len(name) == 1):
        return False
    return len(named) == len(words) or not name.isupper() or not ALWAYS_FILLED_IN.isdisjoint(named)


def _is_pattern(word: str) -> bool:
    """`YYYY`, `YYMMDD`, `NN`, `xxx`: the same few letters again and again."""
    letters = set(word)
    if len(word) > 1 and letters <= _OF_TIMES and all(word.count(each) > 1 for each in letters):
        return True
    return len(letters) == 1 and letters <= _COUNTS and len(word) > 1 + (letters == {"n"})

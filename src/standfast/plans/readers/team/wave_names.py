"""How people name a wave: `Wave 2`, `B. Phase two: Rollout`, and at the end of a title. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_LETTERS = "abcdefgh"
_COUNT = rf"((?:[0-9]{{1,4}}|{'|'.join(_WORDS)}|[ivx]{{1,4}}|[a-h])(?![\w])(?!\.[0-9]))"
_SURE = "wave|phase"
_KINDS = f"{_SURE}|stage|batch|tier|layer|round|sprint|milestone|iteration"
_HEADING = re.compile(
    r"[^\w]{0,8}(?:(?:[0-9]{1,3}|[a-z])[.)]\s{1,4})?(?:(?:spawn|parallel|execution)\s{1,4})?"
    rf"({_KINDS})\s{{0,4}}[#:]?\s{{0,4}}{_COUNT}(\s{{0,4}}[\])*]{{0,3}}\s{{0,4}}[^\w\s]{{0,3}})",
    re.IGNORECASE,
)
_END = re.compile(
    rf"(?:[(\[{{]\s?(?:spawn\s)?(?:(?:{_KINDS})\s?[#:]?\s?{_COUNT}|w([0-9]{{1,3}}))"
    r"([^()\[\]{}]{0,80})[)\]}]"
    rf"|[,;|@:/\u2013—-]\s{{0,4}}(?:spawn\s)?wave\s?[#:]?\s?{_COUNT})\s{{0,4}}$",
    re.IGNORECASE,
)
_SPEAKS = re.compile(r"\bwaves?\s+[0-9]", re.IGNORECASE)
_LONGEST = 300
_UNLABELLED = " \t*_:=~-—\u2013"


class Wave(NamedTuple):
    """A wave, and what else stands beside its number."""

    number: int
    rest: str  # the words after it
    is_sure: bool  # whether it is called one
    is_apart: bool  # whether something divides the number from the words


def heading(name: str) -> Wave | None:
    """The wave with which a heading begins."""
    said = _HEADING.match(name[:_LONGEST])
    if said is None:
        return None
    rest = name[said.end() :].strip()
    rest = rest if not said[3].rstrip().endswith("(") else f"({rest}"
    is_sure = said[1].lower() in _SURE.split("|")
    return Wave(_number(said[2]), rest, is_sure, is_apart=bool(said[3].strip()) or not rest)


def label(text: str) -> str:
    """A line that is there only to name a wave, as the heading that it could have been."""
    bare = text.strip()
    is_marked = bare.startswith(("**", "__", "==", "--")) or bare.endswith(":")
    name = bare.replace("**", "").replace("__", "").strip(_UNLABELLED)
    return name if is_marked and len(bare) < _LONGEST and heading(name) else ""


def ending(title: str) -> tuple[str, int | None]:
    """A title without the wave that stands at its end, and that wave."""
    said = _END.search(title) if len(title) <= _LONGEST else None
    if said is None:
        return title, None
    number = _number(said[1] or said[2] or said[4])
    rest = (said[3] or "").strip(" ,;:—\u2013-")
    kept = title[: said.start()].rstrip()
    return (f"{kept} ({rest})" if rest else kept), number


def is_spoken_of(title: str) -> bool:
    """Whether a title has words that could mean a wave."""
    return _SPEAKS.search(title[:_LONGEST]) is not None


def is_unread(name: str) -> bool:
    """Whether a heading speaks of a wave of which it says no number: `Final wave`."""
    return (
        heading(name) is None and re.search(r"\bwave\b", name[:_LONGEST], re.IGNORECASE) is not None
    )


def _number(said: str) -> int:
    word = said.lower()
    if word.isdigit():
        return int(word)
    known = next((each for each in (_WORDS, _ROMAN, _LETTERS) if word in each), None)
    return known.index(word) + 1 if known else 0

"""How a prompt orders its agent to end files in the sentinel, and which files. Hook path.

Only an order makes a file owed: `End your file with …`, `the last line must be …`, `Sentinel: …`.
`Its last line is …` is one only of a file that the agent is told to write. Whoever only speaks of
the line (skip it, see whether it is there) orders nothing, and neither does who wants it at the
end of a reply.
"""

from __future__ import annotations

from itertools import pairwise

from standfast.protocols.outputs.rules.prompts import closing_clauses
from standfast.protocols.outputs.rules.prompts import phrase_words as words
from standfast.protocols.outputs.rules.whole_output import SENTINEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ANY, IT, ALL = range(3)  # which files: of the agent's own, of the one named last, all
_MOST = 50  # times that one prompt names it
_FAR, _NEAR = 400, 9  # characters of a sentence; words behind the line
_BEFORE = 16_384  # characters in which a file is looked for
_STOPS = (". ", "! ", "? ", "; ", ".) ", ".\n", "!\n", "?\n", "\n\n", "\n- ", "\n* ", "\n#")


class Order:
    """One order: how much it binds, which files it speaks of, and what stands before it."""

    __slots__ = ("_head", "about", "strength")

    def __init__(self, strength: int, about: int, head: str) -> None:
        self.strength, self.about, self._head = strength, about, head

    def is_of(self, path: str, *, far: int = 0) -> bool:
        """Whether it speaks of this path: the last one before it, or any where it is of all."""
        if self.about == ALL:
            return path in self._head
        end = self._head.rfind(".md") + len(".md")
        is_near = not far or len(self._head) - end <= far
        return is_near and self._head.endswith(path, 0, end)


def orders(text: str) -> list[Order]:
    """What the lines that speak to the agent order."""
    found: list[Order] = []
    parts = text.replace("\u2019", "'").split(SENTINEL, _MOST)
    head = ""
    for before, behind in pairwise(parts):
        head = f"{head}{before}"[-_BEFORE:]
        strength, about = _order(_last_sentence(before[-_FAR:]), behind[:_FAR])
        if strength:
            found.append(Order(strength, about, head))
        head += SENTINEL
    return found


def _order(before: list[str], rest: str) -> tuple[int, int]:
    """How much it binds, and which files it speaks of."""
    clause = closing_clauses.Clause(before, _first_sentence(rest))
    spoken_of = {*clause.heard(), *clause.behind}
    if not words.SPOKEN_OF.isdisjoint(spoken_of) or "by" in clause.behind or clause.is_told():
        return closing_clauses.NONE, ANY
    return clause.strength(), _about([*clause.said[clause.start() :], *clause.behind[:_NEAR]])


def _about(said: Sequence[str]) -> int:
    """`each must`, `both files`; not `each input`, and not `your output`, which may be any."""
    pairs = list(pairwise((*said, "")))
    if any(word in words.EVERY and behind in words.OF_EVERY for word, behind in pairs):
        return ALL
    if not words.EVERY_ONE.isdisjoint(said) or "output" in said:
        return ANY
    if any(word == "your" and behind in words.OUTPUTS | words.OWN for word, behind in pairs):
        return ANY
    is_named = not words.OF_ONE.isdisjoint(said) or words.OUTPUTS.isdisjoint(said)
    return IT if is_named else ANY


def _last_sentence(text: str) -> list[str]:
    """A line that begins in lower case, or in the mark itself, goes on from the one before."""
    if text.rstrip(" \n`*_").endswith(":"):
        text = text.rstrip()
    lines = text.split("\n")
    at = len(lines) - 1
    while at and lines[at - 1].strip() and _goes_on(lines[at]):
        at -= 1
    near = " ".join(line.strip() for line in lines[at:]).lower()
    start = max(near.rfind(stop) + len(stop) if stop in near else 0 for stop in _STOPS)
    said = near[start:].replace(">", "> ").split()
    return [part for each in said for part in each.split("_" if each.endswith("_line:") else None)]


def _goes_on(line: str) -> bool:
    said = line.strip()
    return said.strip("`") == "" or (said[:1].islower() and not said.startswith(("- ", "* ")))


def _first_sentence(text: str) -> list[str]:
    near = text.lower()
    if near[:1] in {".", "!", ";"}:
        return []
    ends = [at for stop in _STOPS if (at := near.find(stop)) >= 0]
    asks = near.find("?")
    end = min(ends, default=len(near))
    said = [word for each in near[:end].split() if (word := closing_clauses.bare(each))]
    return said + (["whether"] if 0 <= asks <= end else [])

"""What a line says of those below it: that they are orders, or another's. Hook path.

`When finished:` leads to orders. `The reviewer was told:`, `Wrong:` and `Out of bounds:` lead to a
block that orders nothing, up to its end. What leads to nobody knows what is believed for the list
or the line right below it only.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts import conditions
from standfast.protocols.outputs.rules.prompts import phrase_words as words

OURS, UNKNOWN, THEIRS = 0, 1, 2
_OUT, _AWAITED, _AWAITED_LIST, _AWAITED_AT_LENGTH = range(4)
_IN_A_LIST, _IN_A_BLOCK, _TO_THE_NEXT_HEADING = range(4, 7)
_BEGINS = {_AWAITED: _IN_A_BLOCK, _AWAITED_LIST: _OUT, _AWAITED_AT_LENGTH: _TO_THE_NEXT_HEADING}
_SMALL = words.ARTICLES | {"at", "are", "and", "so", "it"}
_SPOKEN_OF = words.ABOUT - words.NOT_OURS
_MARKS = "*_`:,.()\"'#<>“”"


def kind(intro: str) -> int:
    """What such a sentence, heading or label leads to."""
    about = _words(intro)
    if conditions.is_condition(intro.lower().strip(_MARKS).split()):
        return THEIRS
    if not (words.THEIRS | words.LEADERS | words.NEVER).isdisjoint(about):
        return THEIRS
    leads_in = orders(intro) or not (words.OPENS | words.LEADS_IN).isdisjoint(about - _SMALL)
    if not _SPOKEN_OF.isdisjoint(about):
        return THEIRS
    return OURS if leads_in and words.NOT_OURS.isdisjoint(about - words.OUTPUTS) else UNKNOWN


def orders(intro: str) -> bool:
    """`Produce two files:`, `Then write:`."""
    said = (word.strip(_MARKS) for word in intro.lower().split())
    return next((word for word in said if word not in words.POLITE), "") in words.LEAVES


def warns(line: str) -> bool:
    """Whether a line without a colon speaks of what is not to be done, or was not."""
    return not (words.THEIRS | words.NEVER).isdisjoint(_words(line))


def _words(said: str) -> set[str]:
    plain = said.lower().replace("\u2019", "'").replace("-", " ").replace("_", " ")
    return {word for each in plain.split() if (word := each.strip(_MARKS))}


def quotes(line: str) -> bool:
    """Whether a sentence speaks of the words that stand below it."""
    about = _words(line)
    return not words.QUOTES.isdisjoint(about) and words.INSTRUCTING.isdisjoint(about)


class Block:
    """The lines below an introduction that are not said to the agent."""

    def __init__(self) -> None:
        self._at = _OUT
        self._tag = ""
        self._behind_blank = _OUT

    def begin(self, intro: str) -> None:
        """What is below is another's."""
        self._at = _awaited(intro)

    def begin_list(self) -> None:
        """What is below is another's, if it is a list."""
        self._at = _AWAITED_LIST

    def begin_behind_blank(self, intro: str) -> None:
        """What stands in a block of its own below is another's."""
        self._behind_blank = _awaited(intro)

    def end(self) -> None:
        """A heading ends it."""
        self._at = _OUT

    def open(self, tag: str) -> None:
        """`<example>`, up to its end."""
        self._tag = tag

    def meet_blank(self) -> None:
        """A block of plain lines ends here, a list may go on."""
        if self._at == _IN_A_BLOCK:
            self._at = _OUT
        self._at, self._behind_blank = self._behind_blank or self._at, _OUT

    def has(self, said: str, *, is_item: bool, is_deeper: bool) -> bool:
        """Whether this line is one of them."""
        self._behind_blank = _OUT
        if self._tag:
            if said == f"</{self._tag}>":
                self._tag = ""
            return True
        if self._at in _BEGINS:
            block = _IN_A_BLOCK if said.startswith(">") else _BEGINS[self._at]
            self._at = _IN_A_LIST if is_item else block
        elif self._at == _IN_A_LIST and not (is_item or is_deeper):
            self._at = _OUT
        return self._at != _OUT


def _awaited(intro: str) -> int:
    at_length = not words.TOLD_AT_LENGTH.isdisjoint(_words(intro))
    return _AWAITED_AT_LENGTH if at_length else _AWAITED

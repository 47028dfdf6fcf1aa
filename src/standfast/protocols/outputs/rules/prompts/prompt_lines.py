"""The lines of a prompt that speak to its agent. Hook path.

Quotations, examples, code and what stands under a heading about others do not. A sentence that
ends in a colon goes on in the paths below it.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts import intros
from standfast.protocols.outputs.rules.prompts.line_context import Before, plain
from standfast.protocols.outputs.rules.prompts.tokens import tokens
from standfast.protocols.outputs.rules.whole_output import SENTINEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocols.outputs.rules.prompts.tokens import Token

_FENCES = ("```", "~~~")
_STRINGS = ('"' * 3, "'" * 3)
_RULE = frozenset("-=*_ ")  # a line across the page
_LONGEST = 16_384  # characters of one line
_MOST = 1_000  # names of one prompt
_FILE_LABELS = frozenset({"file", "path", "name", "filename", "location", "destination"})


class Line:
    """A line that speaks to the agent; its words where it may name a file of the agent's own."""

    __slots__ = ("said", "words")

    def __init__(self, said: str, words: list[Token]) -> None:
        self.said, self.words = said, words


def spoken(text: str) -> Iterator[Line]:
    """Each line that speaks to the agent, with the sentence that it goes on; and blank ones."""
    before, names = Before(), 0
    for line in _without_comments(text).splitlines():
        said = line[:_LONGEST].strip()
        if said and before.is_set_in(line):
            continue
        if said.startswith(_FENCES):
            if before.meet_fence() == SENTINEL:
                yield Line(before.closes(), [])
        elif any(said.count(mark) % 2 for mark in _STRINGS):
            before.meet_string()
        elif said and set(said) <= _RULE:
            before.meet_blank()
        elif not said:
            before.meet_blank()
            yield Line("", [])
        elif before.is_foreign(said):
            before.is_wrapped = before.is_next = False
        elif ".md" not in said:
            before.keep(said)
            yield Line(line, [])
        else:
            names += said.count(".md")
            yield Line(line, _read(said, before) if names <= _MOST else [])


def _read(said: str, before: Before) -> list[Token]:
    found = tokens(plain(said))
    if before.intro and _goes_on(found, before.intro):
        before.keep(said, names_files=True)
        return [*tokens(before.intro.rstrip(":") if found[0].word else before.intro), *found]
    if not all(each.path for each in found):
        found = [*before.wrapped(said, found), *found]
        before.keep(said, names_files=True)
        return found
    before.is_next = False
    return [*tokens(before.intro), *found] if before.intro else found


def _goes_on(found: list[Token], intro: str) -> bool:
    """`File: x.md` below `Output`, and `x.md: the findings` below `Write two files:`."""
    if found and found[0].colon and found[0].word in _FILE_LABELS:
        return True
    return bool(found and found[0].colon and found[0].path) and intros.orders(intro)


def _without_comments(text: str) -> str:
    """The text without what is commented out or crossed out; the sentinel is no comment."""
    if text.count("<!--") > text.count(SENTINEL):
        text = _without(text, "<!--", "-->")
    return text if "~~" not in text else "\n".join(map(_without_struck, text.split("\n")))


def _without_struck(line: str) -> str:
    return line if line.lstrip().startswith("~~~") else _without(line, "~~", "~~")


def _without(text: str, opening: str, closing: str) -> str:
    """The text without what stands between two marks; a mark that nothing closes stays."""
    kept, at, seen = [], 0, 0
    while (start := text.find(opening, seen)) >= 0:
        seen = start + len(opening)
        if text.startswith(SENTINEL, start):
            continue
        end = text.find(closing, seen)
        while end >= 0 and text.endswith(SENTINEL, 0, end + len(closing)):
            end = text.find(closing, end + len(closing))
        if end < 0:
            break
        kept.append(text[at:start])
        at = seen = end + len(closing)
    return "".join(kept) + text[at:]

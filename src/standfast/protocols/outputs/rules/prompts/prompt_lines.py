"""The lines of a prompt that speak to its agent. Hook path.

Quotations, examples, code and what stands under a heading about others do not. A sentence that
ends in a colon goes on in the paths below it.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts.line_context import Before, plain
from standfast.protocols.outputs.rules.prompts.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocols.outputs.rules.prompts.tokens import Token

_FENCES = ("```", "~~~")
_STRINGS = ('"' * 3, "'" * 3)
_RULE = frozenset("-=*_ ")  # a line across the page
_LONGEST = 16_384  # characters of one line
_MOST = 1_000  # names of one prompt


class Line:
    """A line that speaks to the agent; its words where it may name a file of the agent's own."""

    __slots__ = ("said", "words")

    def __init__(self, said: str, words: list[Token]) -> None:
        self.said, self.words = said, words


def spoken(text: str) -> Iterator[Line]:
    """Each line that speaks to the agent, with the sentence that it goes on; and blank ones."""
    before, names = Before(), 0
    for line in text.splitlines():
        said = _without_comments(line[:_LONGEST]).strip()
        if said and before.is_set_in(line):
            continue
        if said.startswith(_FENCES):
            before.meet_fence()
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
    if not all(each.path for each in found):
        found = [*before.wrapped(said, found), *found]
        before.keep(said, names_files=True)
        return found
    before.is_next = False
    return [*tokens(before.intro), *found] if before.intro else found


def _without_comments(line: str) -> str:
    """The line without what is commented out in it."""
    for comment in line.split("<!--")[1:] if ".md" in line else ():
        inside, is_one, _ = comment.partition("-->")
        if is_one and ".md" in inside:
            line = line.replace(f"<!--{inside}-->", "")
    return line

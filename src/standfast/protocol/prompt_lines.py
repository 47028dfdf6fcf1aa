"""The lines of a prompt that speak to its agent. Hook path.

Quotations, examples, code and what stands under a heading about others do not. A sentence that
ends in a colon goes on in the paths below it.
"""

from __future__ import annotations

from standfast.protocol.phrase_words import ABOUT, LEADERS, NEVER, OPENS
from standfast.protocol.prompt_tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocol.prompt_tokens import Token

_FENCES = ("```", "~~~")
_SAMPLES = ("example", "template", "sample", "excerpt", "quot", "snippet", "mistake")
_OUTPUT = ("output", "persist", "write", "save", "findings", "deliverable", "result")
_OTHERS = ("agent", "reviewer", "role", "team", "expert")
_BULLETS = ("- ", "* ", "+ ", "• ")
_DEEP = 4
_LONGEST = 16_384  # characters of one line
_ENDS = (".", "!", "?", ":", ";")


def addressed(text: str) -> Iterator[list[Token]]:
    """Each line that may name a file of the agent's own, with the sentence that it goes on."""
    before = _Before()
    for line in text.splitlines():
        said = _without_comments(line[:_LONGEST]).strip()
        if said and before.is_set_in(line):
            continue
        if said.startswith(_FENCES):
            before.meet_fence()
        elif not said or before.is_foreign(said):
            before.is_wrapped = before.is_next = False
        elif ".md" not in said:
            before.keep(said)
        else:
            found = tokens(_plain(said))
            if all(each.path for each in found):
                yield [*tokens(before.intro), *found] if before.intro else found
                before.is_next = False
            else:
                yield [*before.wrapped(said, found), *found]
                before.keep(said, names_files=True)


class _Before:
    """What stood before a line, as far as it says how the line is meant."""

    def __init__(self) -> None:
        self.last = ""  # the line before
        self.intro = ""  # a sentence or a heading that goes on below
        self.depth = 0  # blanks that the line before begins with
        self.is_next = False  # whether it is the line before
        self.is_wrapped = False  # whether the line before is the half of a sentence
        self.in_fence = self.fence_counts = False
        self.heading_counts = True

    def is_set_in(self, line: str) -> bool:
        """Whether the line is a quotation in the midst of a sentence."""
        depth, before = len(line) - len(line.lstrip()), self.depth
        is_in = self.is_wrapped and depth >= before + _DEEP and line.strip()[0].isupper()
        self.depth = before if is_in else depth
        return is_in

    def meet_fence(self) -> None:
        """What is in a fence counts where it was said that it is about the output."""
        self.in_fence = not self.in_fence
        about = self.last.lower()
        self.fence_counts = any(word in about for word in _OUTPUT) and not any(
            word in about for word in _SAMPLES
        )

    def is_foreign(self, said: str) -> bool:
        """Whether this line is quoted, an example, or about others."""
        if self.in_fence:
            return not self.fence_counts
        if said.startswith("#"):
            self.heading_counts = not _is_about_others(said.lower())
        if said.startswith(">") or not self.heading_counts:
            return True
        about = _words(self.intro.lower())
        goes_on = _plain(said) != said or self.is_next
        is_about_them = not (LEADERS | NEVER).isdisjoint(about)
        is_theirs = not ABOUT.isdisjoint(about) and OPENS.isdisjoint(about)
        return goes_on and (is_about_them or is_theirs)

    def wrapped(self, said: str, found: list[Token]) -> list[Token]:
        """The half of a sentence that stands in the line before."""
        goes_on = self.is_wrapped and not said[0].isupper() and _plain(said) == said
        return tokens(self.last) if goes_on and not found[0].colon else []

    def keep(self, said: str, *, names_files: bool = False) -> None:
        """Remember a line that others may go on."""
        plain = _plain(said)
        self.last = plain
        self.is_wrapped = not said.startswith(("#", "<", "|")) and not plain.endswith(_ENDS)
        is_label = said.startswith("#") or (said[0] == "<" and said[-1] == ">" and " " not in said)
        if is_label:
            plain = said.strip("#<> ")
        goes_on = is_label or plain.rstrip("*_ ").endswith(":")
        if goes_on and not names_files and not said.startswith("</"):
            self.intro = plain.rstrip("*_: ") + ":"
            self.is_next = True
            return
        self.is_next = False
        if plain == said:  # a bullet is one of a list
            self.intro = ""


def _is_about_others(heading: str) -> bool:
    return (
        any(word in heading for word in _SAMPLES)
        or "out of scope" in heading
        or ("other" in heading and any(word in heading for word in _OTHERS))
    )


def _without_comments(line: str) -> str:
    """The line without what is commented out in it."""
    for comment in line.split("<!--")[1:] if ".md" in line else ():
        inside, is_one, _ = comment.partition("-->")
        if is_one and ".md" in inside:
            line = line.replace(f"<!--{inside}-->", "")
    return line


def _words(about: str) -> list[str]:
    return [word.strip("*_:,.()") for word in about.split()]


def _plain(said: str) -> str:
    """The line without its bullet or number, and its checkbox."""
    number, dot, rest = said.partition(". ")
    if dot and number.isdigit():
        said = rest
    elif said.startswith(_BULLETS):
        said = said[2:].lstrip()
    elif said[:1].isdigit() and said[1:3] == ") ":
        said = said[3:].lstrip()
    return said[3:].lstrip() if said[:3] in {"[ ]", "[x]"} else said

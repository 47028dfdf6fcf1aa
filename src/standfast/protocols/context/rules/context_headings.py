"""What people call the sections of a context file, and how they underline them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.protocols.context.rules.context_schema import COMPLETED, KEY_FILES, PENDING, RECOVERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.formats.markdown import Heading
    from standfast.protocols.context.rules.context_draft import Draft

_SECTION = 2
_LONGEST = 80
# Names that may go on behind a blank or a colon, and then those that are whole: `Next Tasks`, for
# one, is a section of its own.
_BEGINS: Mapping[str, str] = {
    RECOVERY: r"recovery|how to (?:recover|resume)|resume|resuming"
    r"|(?:what to do )?after (?:a |the )?compact\w*"
    r"|(?:what to do )?(?:when|if) (?:you|i|we) (?:come back|wake up|resume|restart|return)"
    r"|first things? (?:to do|first)|start here",
    COMPLETED: r"completed|work (?:completed|done)|done|finished|accomplish(?:ed|ments)|achieved"
    r"|shipped|delivered|landed"
    r"|what (?:i|we) (?:did|have done)|what (?:was|is) done",
    PENDING: r"pending|outstanding|open tasks|todo|to do|remaining|still open|left to do"
    r"|what (?:remains|is still to do)",
    KEY_FILES: r"(?:key|important|relevant) (?:files|paths)",
}
# What may stand beside a section of that kind, and is taken for it only where there is none.
_ELSE: Mapping[str, str] = {PENDING: r"block(?:ed|ers?)|waiting(?: (?:for|on))?|in progress"}
_WHOLE: Mapping[str, str] = {
    COMPLETED: r"(?!not\b|to be\b)[\w' ]{1,40} (?:done|completed|finished)",
    PENDING: r"(?:up )?next|next steps?|what(?:'s|\u2019s| is) (?:next|left|open)|open",
    KEY_FILES: r"files(?: (?:i )?(?:touched|changed|used))?|paths|where (?:things|they) are",
}
_UNDERLINE = re.compile(r" {0,3}(?:(={3,})|-{3,})[ \t]*\r?", re.ASCII)
_NO_HEADING = re.compile(r"\s*(?:[#>*+|`~<-]|\d+[.)])|.*(?::\s|[:.,;|]\s*$|\*\*)", re.DOTALL)


def means(heading: Heading, name: str) -> bool:
    """Whether a heading was meant as one of the four sections."""
    text = heading.text.lower()
    if text == name.lower():
        return True
    forms = rf"(?:{_BEGINS[name]})(?:[ :].*)?|(?:{_WHOLE.get(name, '(?!)')})[ :]*"
    return heading.level == _SECTION and re.fullmatch(forms, text, re.DOTALL) is not None


def may_mean(heading: Heading, name: str) -> bool:
    """Whether it will do where nothing else was meant as that section."""
    forms = rf"(?:{_ELSE.get(name, '(?!)')})(?:[ :].*)?"
    is_section = heading.level == _SECTION
    return is_section and re.fullmatch(forms, heading.text.lower(), re.DOTALL) is not None


def unfold(draft: Draft, was: list[str]) -> None:
    """Headings that are underlined, in `#` form: lines that stand alone and are no sentence."""
    fenced = draft.parsed().outline.fenced
    lines, found = list(draft.lines), list[str]()
    is_underline = False
    around = zip(["", *lines], lines, [*lines[1:], ""], strict=False)  # no lines: one end too many
    for number, (before, words, below) in enumerate(around, 1):
        mark = "" if number in fenced or is_underline else _mark(before, words, below)
        if mark:
            was += [words, below]
        if not is_underline:
            found.append(f"{mark} {words.strip()}{draft.cr}" if mark else words)
        is_underline = bool(mark)
    draft.lines[:] = found


def _mark(before: str, words: str, below: str) -> str:
    under = _UNDERLINE.fullmatch(below)
    if under is None or before.strip() or not is_name(words):
        return ""
    return "#" if under[1] else "##"


def is_name(words: str) -> bool:
    """Whether words can be the name of a section, and are no sentence."""
    return bool(words.strip()) and len(words) <= _LONGEST and _NO_HEADING.match(words) is None

"""Sections that are headed by a bold line or by `Done:` alone, put in `#` form. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.formats.markdown import Heading
from standfast.protocols.context.rules import context_headings
from standfast.protocols.context.rules.context_schema import COMPLETED, KEY_FILES, PENDING, RECOVERY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocols.context.rules.context_draft import Draft

_SECTION = 2
_NAMES = (RECOVERY, COMPLETED, PENDING, KEY_FILES)
_BOLD = re.compile(r" {0,3}(\*\*|__)(?P<words>[^*_]{1,80}?):?\1:?[ \t]*\r?")
_COLON = re.compile(r" {0,3}(?P<words>[^:*_#>|`-][^:*_#>|`]{0,60}):[ \t]*\r?")
_FILES = re.compile(r" {0,3}(?:\*\*|__)?(?P<words>(?:key |important |relevant )?files)(?:\*\*|__)?"
                    r":(?:\*\*|__)?[ \t]+(?P<rest>\S.*?)\r?", re.IGNORECASE)  # fmt: skip
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
_METADATA = {"updated", "last updated", "role", "pane"}


class _Label(NamedTuple):
    """A line that heads what follows, the section that it means if any, and the rest of it."""

    at: int
    words: str
    name: str | None
    rest: str = ""


def unfold(draft: Draft, was: list[str]) -> None:
    """Each label that means a section which the file lacks; in a file of labels alone, the others.

    A section of such a file would else go on to its end.
    """
    headings = [each for each in draft.parsed().outline.headings if each.level == _SECTION]
    lacking = [name for name in _NAMES
               if not any(context_headings.means(each, name) for each in headings)]  # fmt: skip
    labels = [*_labels(draft, is_bare=not headings)]
    meant = {each.name: each.at for each in reversed(labels) if each.name in lacking}
    gone: list[str] = []
    for label in reversed(labels):
        is_meant = label.name is not None and meant.get(label.name) == label.at
        if is_meant or (meant and not headings and not label.rest):
            gone.append(draft.lines.pop(label.at))
            name = label.name if is_meant else label.words
            draft.put(label.at, f"## {name}", *([f"- {label.rest}"] if label.rest else []))
    was += reversed(gone)


def _labels(draft: Draft, *, is_bare: bool) -> Iterator[_Label]:
    """Lines with nothing above them; a colon heads only a list, in a file without headings."""
    fenced = draft.parsed().outline.fenced
    around = zip(["", *draft.lines], draft.lines, [*draft.lines[1:], ""], strict=False)
    for at, (before, line, below) in enumerate(around):
        if at + 1 in fenced or (before.strip() and not before.startswith("#")):
            continue
        bold = _BOLD.fullmatch(line)
        listed = _COLON.fullmatch(line) if is_bare and _ITEM.match(below) else None
        files = _FILES.fullmatch(line) if is_bare else None
        found = bold or listed or files
        if found is not None and (label := _label(at, found["words"].strip())) is not None:
            is_valued = files is not None and found is files
            yield label._replace(rest=found["rest"]) if is_valued else label


def _label(at: int, words: str) -> _Label | None:
    if not context_headings.is_name(words) or words.lower() in _METADATA:
        return None
    heading = Heading(at + 1, _SECTION, words)
    meant = (name for name in _NAMES if context_headings.means(heading, name))
    return _Label(at, words, next(meant, None))

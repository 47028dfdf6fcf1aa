"""The files that a lane says are its own, without those that it only speaks of. Pure.

Nothing that `owns` can say leaves files out: a list with an exception is refused, with its line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.markdown_plan import unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.plans.readers.markdown_plan import Field

_CODE = re.compile(r"`[^`\n]+`")
_REMARK = re.compile(r"\(([^()]{0,400})\)")
_BUT = re.compile(
    r"\b(?:except(?:ing|ions?|ed)?|exclud\w*|excl\b|without|minus|other than|apart from|aside from"
    r"|read[- ]?only|outside|never|neither|nor|all but"
    r"|(?:do|does|must|may|should|is|are)(?: not|n't) (?:touch|own|chang|edit|includ|modif|writ)\w*"
    r"|not? (?:the|in|under|below|inside|touch\w*|own\w*|chang\w*|edit\w*|including|for)"
    r"|but (?:not?|the|for|for the|without)|owned by|belongs? to|shared|reads?|imports?|uses)\b"
    r"|\b(?:no|not|but|save) *`",
    re.IGNORECASE,
)
_NOT = re.compile(r"(?:^|[\s,;(])!\w")
_PATH = re.compile(r"\S*[/*]\S*|\S+\.\w+")
_APART = re.compile(r"[,;]|<br ?/?>")
_WITH = frozenset(
    ("and", "plus", "also", "with", "incl", "including", "includes", "included", "new", "create",
     "creates", "created", "add", "adds", "added", "e", "g", "eg", "such", "as", "like", "tests",
     "test", "file", "files", "folder", "the", "its", "or", "all", "of")
)  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_BELOW = re.compile(
    r"(?:everything|all(?: files)?|anything) (?:under|in|below|inside|of) (?:the )?(\S+)$",
    re.IGNORECASE,
)
_ONLY = "Name only the folders and files that are its own."


class Owned(NamedTuple):
    """The patterns that a field lists, each with its line, and what is to be said of it."""

    files: list[tuple[int, str]]
    told: list[Finding]


def of_field(field: Field) -> Owned:
    """What a field lists, beside it and below it."""
    made = Owned([], [])
    texts = [(field.line, field.value)]
    texts += [(line.number, line.words) for line in field.more if not line.fenced]
    for line, text in texts:
        _take(text, line, made)
    return made


def of_cell(cell: str, line: int) -> Owned:
    """What a cell of a table lists."""
    made = Owned([], [])
    _take(cell, line, made)
    return made


def _take(text: str, line: int, made: Owned) -> None:
    if plan_words.is_none(text):
        return
    made.told.extend(_doubts(text, line))
    for each in plan_words.files(text):
        if plan_words.is_none(each):
            continue
        name, told = _folder(each, line)
        made.files.append((line, name if "*" in name else unmarked(name)))
        made.told.extend(told)


def _doubts(text: str, line: int) -> Iterator[Finding]:
    """Words that say of files that they are not owned, or that could."""
    plain = _PATH.sub(" x ", _CODE.sub(" `x ", text))
    is_but = any(len(each.split()) > 1 and _BUT.search(each) for each in _APART.split(plain))
    if is_but or _NOT.search(text):
        problem = f"{quoted(text)} leaves files out, and `owns` cannot say that"
        yield Finding(line, problem, _ONLY)
        return
    for remark in _REMARK.findall(text):
        words = _WORD.findall(_CODE.sub(" ", remark).lower())
        if _CODE.search(remark) and not _WITH.issuperset(words):
            problem = f"{quoted(remark)} could name files that are its own, or others"
            yield Finding(line, problem, _ONLY)


def _folder(said: str, line: int) -> tuple[str, list[Finding]]:
    """`everything under src/`: the folder that is meant."""
    below = _BELOW.match(said)
    if below is None:
        return said, []
    return below[1], [warning(line, f"{quoted(said)} is taken for {quoted(below[1])}")]

"""Plans that nobody has filled in yet: names that are still `{…}`, `[…]` or `<…>`. Pure.

Only names are looked at: in a path, a command or a sentence such marks mean something else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.plans.findings import Finding, quoted
from standfast.plans.readers.markdown_plan import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.plans.readers.markdown_plan import Block

_HOLE = re.compile(
    r"\{[^{}]*\}|<[^<>]*>"
    r"|\[(?:[^\[\]]*[ _-][^\[\]]*|name|title|id|task|lane|phase|description|tbd|todo)\](?!\()",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"\b(?:plan|phase|task|step|lane|sl|n|p|id|implementation|execution|project|team|[0-9]+)\b|[\W_]",
    re.IGNORECASE,
)  # what may stand around a hole without filling it in
_IDS = ("task id", "id")
_REMEDY = "Fill in every name in {…}, […] and <…>, in a copy of it."
_LONGEST = 300


def placeholders(blocks: Sequence[Block], things: Sequence[Block]) -> list[Finding]:
    """What is still to be filled in: the plan's own heading, those of *things*, and their ids."""
    head = next((block for block in blocks if block.name), None)
    heads = {block.line: block.name for block in (*([head] if head else []), *things)}
    ids = [(field.line, field.value) for block in things
           for field in fields(block.lines, _IDS)[0] if field.key in _IDS]  # fmt: skip
    open_names = [(line, name) for line, name in heads.items() if is_open(name)]
    open_names += [(line, name) for line, name in ids if _HOLE.search(name[:_LONGEST])]
    return [Finding(line, f"{quoted(name)} is not filled in: this is a template", _REMEDY)
            for line, name in sorted(open_names)]  # fmt: skip


def is_open(name: str) -> bool:
    """Whether a name says nothing but what is to stand in its place."""
    short = name[:_LONGEST]
    return _HOLE.search(short) is not None and not _GENERIC.sub("", _HOLE.sub("", short))

"""Whole numbers in Markdown plans: `3`, `Wave 3`, `2 (at most)`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.plans.findings import Finding, quoted
from standfast.plans.readers import plan_words
from standfast.plans.readers.markdown_plan import unmarked

if TYPE_CHECKING:
    from standfast.plans.readers.markdown_plan import Field

_NUMBER = re.compile(r"(?:wave\s+)?#?([0-9]{1,6})\b(?![.,][0-9])", re.IGNORECASE)


def whole(field: Field | None, least: int, most: int, found: list[Finding]) -> int | None:
    """The number that a field says; None if it says none, and a finding if it is no such one."""
    if field is None or plan_words.is_none(field.value):
        return None
    said = _NUMBER.match(unmarked(field.value))
    number = int(said[1]) if said else None
    if number is None or not least <= number <= most:
        problem = f"{quoted(field.name)} is {quoted(field.value)}, not a number"
        found.append(Finding(field.line, f"{problem} from {least} to {most}"))
        return None
    return number

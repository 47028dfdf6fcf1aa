"""How often a plan may name what others wait for: as many values as a plan in YAML may have. Pure.

A range or `all others` names many with one word, so that what is counted is what was meant.
"""

from __future__ import annotations

from standfast.errors.base import BadDocument

MOST = 100_000


class Mentions:
    """The count for one plan."""

    def __init__(self) -> None:
        self._left = MOST

    def count(self, names: list[str], line: int) -> list[str]:
        """The same names, counted."""
        self._left -= len(names)
        if self._left < 0:
            problem = f"the plan names more than {MOST:,} times what others wait for"
            remedy = "Name only those that must be done right before, or make several plans of it."
            raise BadDocument(problem, line=line, remedy=remedy)
        return names

"""Which fields of a section the repository wrote, and until when they are its own. Pure.

A field is known by its path with dots: `recovery_state.next_step`. Decisions are not among them:
each has an author of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules.section_units import records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.protocols.resumption.rules.section_schema import Section
    from standfast.protocols.resumption.rules.section_units import Path

DECISIONS = "decision_log"
RECOVERING = "compaction-recovery"  # says of no work what it is
_ACTIVITY = "recovery_state.current_activity"


def label(path: Path) -> str:
    """How a record of a section is named."""
    return ".".join(path)


def labels(paths: Iterable[Path]) -> list[str]:
    """The labels of these records, without the decisions among them."""
    return sorted(label(path) for path in paths if path[0] != DECISIONS)


def still(foreign: frozenset[str], before: Section, after: Section) -> frozenset[str]:
    """Those that nobody has overwritten."""
    if not foreign:
        return foreign
    had, has = ({label(path): value for path, value in records(each)} for each in (before, after))
    return frozenset(
        name for name in foreign if name in has and _stays(name, had.get(name), has[name])
    )


def _stays(name: str, before: Any, after: Any) -> bool:  # noqa: ANN401  # values of a section
    """A list is theirs as long as anything of theirs is in it."""
    if isinstance(before, list) and isinstance(after, list):
        return any(_named(each) in map(_named, after) for each in before)
    return before == after or (name == _ACTIVITY and after == RECOVERING)


def _named(entry: Any) -> Any:  # noqa: ANN401  # an entry of any list
    return entry.get("path", entry) if isinstance(entry, dict) else entry

"""What the fields of a decision are called elsewhere, and which phases it names. Pure.

Only a value that can be what the field is for is taken: who is affected may be people, and then it
is a key of the project's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules import plain_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.migration.migration_notes import Notes
    from standfast.protocols.resumption.rules.section_schema import Section

PHASES, AFFECTS = "affects_phases", "affects"
_MOST_PHASES = 99  # that one decision may name as a range
_LONGEST = 200
_CALLED: Mapping[str, tuple[str, ...]] = {
    PHASES: ("phases", "affected_phases", "phases_affected", "affects", "affected", "binds",
             "applies_to", "for_phases", "impacts"),
    "gate": ("gate_id", "quality_gate", "decided_at_gate"),
    "iteration": ("gate_iteration",),
    "applied": ("is_applied", "was_applied"),
}  # fmt: skip
_ONE = r"(?:phases?[\s_#:-]{0,3}|p|ph\.? ?)?\d{1,4}"
_PHASES = re.compile(
    rf"{_ONE}(?:\s*(?:,|;|/|&|\+|-|\u2013|and|to|through)\s*{_ONE}){{0,50}}",
    re.IGNORECASE | re.ASCII,
)
_ALL = re.compile(
    r"(?:\*|(?:all|every|each)(?: (?:of )?(?:the )?(?:later |following |remaining )?phases?)?"
    r"|everything)[.!]?",
    re.IGNORECASE,
)


def by_their_names(entry: Section, path: Path, notes: Notes) -> Section:
    """A decision with each of these fields called as the schema has it."""
    names = {key: key for key in entry}
    for field, others in _CALLED.items():
        called = next((key for key in others if _is_it(field, key, entry.get(key))), None)
        if called is not None and field not in entry:
            names[called] = field
            notes.moved((*path, called), field)
    return {names[key]: each for key, each in entry.items()}


def _is_it(field: str, key: str, value: object) -> bool:
    if field == PHASES:
        return names_phases(value) or (key != AFFECTS and is_all(value))
    if field == "applied":
        return plain_values.flag(value) is not None
    if field == "iteration":
        return plain_values.number(value) is not None
    return isinstance(value, str) and not plain_values.is_none(value)


def names_phases(value: object) -> bool:
    """Whether it is phases and nothing else: numbers, or words for them."""
    if isinstance(value, list):
        return bool(value) and all(map(names_phases, value))
    if isinstance(value, str):
        return _PHASES.fullmatch(value.strip()[:_LONGEST]) is not None
    return plain_values.number(value) is not None


def is_all(value: object) -> bool:
    """Whether it says that every phase is meant, which numbers cannot say."""
    alone = value[0] if isinstance(value, list) and len(value) == 1 else value
    return isinstance(alone, str) and _ALL.fullmatch(alone.strip()[:_LONGEST]) is not None


def with_all(entry: Section, path: Path, notes: Notes) -> Section:
    """Every phase goes into a key of its own: the field has numbers, and nobody counted them."""
    if not is_all(entry.get(PHASES)) or AFFECTS in entry:
        return entry
    notes.assumed((*path, PHASES), f"holds numbers, and `all` is none: is now `{AFFECTS}`")
    return {(AFFECTS if key == PHASES else key): _spoken(key, each) for key, each in entry.items()}


def _spoken(key: str, value: Any) -> Any:  # noqa: ANN401  # any field
    return "all phases" if key == PHASES else value


def phases(value: object) -> list[int] | None:
    """The numbers of phases: `3`, `Phase 3`, `3-5`, `2, 4`, a list of these."""
    if isinstance(value, list):
        every = [phases(each) for each in value]
        return None if None in every else [one for each in every for one in each or ()]
    if not isinstance(value, str):
        found = plain_values.phase(value).number
        return None if found is None else [found]
    numbers = [int(each) for each in re.findall(r"(?<![\d.])\d{1,4}(?![\d.])", value)]
    is_range = re.fullmatch(r"\D*\d{1,4}\s*(?:-|\u2013|to)\s*\d{1,4}\D*", value) is not None
    if is_range and numbers[0] < numbers[1]:
        return list(range(numbers[0], min(numbers[1], numbers[0] + _MOST_PHASES) + 1))
    return numbers or None

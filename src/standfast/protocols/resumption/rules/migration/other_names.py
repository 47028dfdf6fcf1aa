"""What the fields of gates and defects are called where nobody looked their names up. Pure.

Each goes under its own name, at the place where it stands. One that cannot be what the field is
for, such as a list where a number belongs, is a key of the project's own and stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.migration import gates_by_status
from standfast.protocols.resumption.rules.migration.gates_and_defects import DEFECTS, TRAJECTORY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.protocols.resumption.rules.migration.migration_notes import Notes

CALLED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    TRAJECTORY: {
        "gates_completed": ("completed_gates", "gates_passed", "passed_gates", "completed",
                            "passed"),
        "gates_remaining": ("remaining_gates", "gates_pending", "pending_gates", "gates_to_come",
                            "remaining", "pending"),
        "current_gate": ("active_gate", "gate"),
        "current_gate_iteration": ("current_iteration", "gate_iteration", "iteration"),
        "score_history": ("scores", "gate_scores", "scores_by_gate", "history"),
        "lowest_dimension": ("weakest_dimension", "lowest", "weakest"),
        "total_iterations_used": ("iterations_used", "total_iterations", "iterations"),
    },
    DEFECTS: {
        "total_defects_found": ("defects_found", "total_found", "found"),
        "total_defects_resolved": ("defects_resolved", "total_resolved", "resolved", "fixed"),
        "unresolved_defects": ("open_defects", "unresolved", "open"),
        "recurring_patterns": ("patterns", "recurring"),
        "last_gate_primary_defect": ("primary_defect", "primary"),
    },
}  # fmt: skip
_COUNTS = {"total_defects_found", "total_defects_resolved", "total_iterations_used",
           "current_gate_iteration"}  # fmt: skip
_TEXTS = {"current_gate", "lowest_dimension", "last_gate_primary_defect"}


def by_their_names(whole: Mapping[str, Any], notes: Notes) -> Mapping[str, Any]:
    """The section with each of these fields called as the schema has it."""
    found = {**whole}
    for name, fields in CALLED.items():
        part = whole.get(name)
        if isinstance(part, dict):
            told = gates_by_status.spread(part, notes) if name == TRAJECTORY else part
            found[name] = _part(name, told, fields, notes)
    return found


def _part(
    name: str, part: dict[str, Any], fields: Mapping[str, tuple[str, ...]], notes: Notes
) -> dict[str, Any]:
    names = {key: key for key in part}
    for field, others in fields.items():
        found = next((key for key in others if is_it(field, part.get(key))), None)
        if field not in part and found is not None:
            names[found] = field
            notes.moved((name, found), f"{name}.{field}")
    return {names[key]: each for key, each in part.items()}


def is_it(field: str, value: object) -> bool:
    """Whether a value can be what the field is for."""
    if value is None or isinstance(value, bool):
        return False
    if field in _COUNTS:
        return not isinstance(value, (list, dict)) and plain_values.number(value) is not None
    if field in _TEXTS:
        return isinstance(value, str)
    return isinstance(value, (list, dict)) or (
        isinstance(value, str) and plain_values.number(value) is None
    )

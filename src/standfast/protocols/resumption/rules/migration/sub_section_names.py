"""What whole sub-sections are called where nobody looked their names up. Pure.

`agents` is taken as `agent_summaries` and `open_defects` as a field of `defect_summary`, where the
section has none of its own. What cannot be that is a key of the project's own, and stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules.migration import entries, other_names
from standfast.protocols.resumption.rules.migration.gates_and_defects import DEFECTS, TRAJECTORY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.protocols.resumption.rules.migration.migration_notes import Notes

_CALLED: Mapping[str, tuple[str, ...]] = {
    entries.LOG: ("decisions", "key_decisions", "decisions_made", "decisions_log"),
    entries.AGENTS: ("agents", "agent_results", "agent_status", "agent_summary", "agent_log",
                     "agents_completed", "completed_agents"),
    entries.COMPACTIONS: ("compactions", "compaction_log", "compaction_history"),
    entries.FILES: ("files", "read_first", "files_to_load", "files_to_read_first", "must_read"),
    TRAJECTORY: ("quality", "quality_state", "quality_status"),
    DEFECTS: ("defects",),
}  # fmt: skip
_WITHIN: Mapping[str, Mapping[str, str]] = {
    TRAJECTORY: {"quality_gates": "gates", "gates": "gates", "gate_status": "gates",
                 "gate_results": "gates", "gate_scores": "score_history"},
    DEFECTS: {"open_defects": "unresolved_defects", "defects_open": "unresolved_defects",
              "defects_found": "total_defects_found",
              "defects_resolved": "total_defects_resolved"},
}  # fmt: skip


def by_their_names(whole: Mapping[str, Any], notes: Notes) -> tuple[Mapping[str, Any], set[str]]:
    """The section with its parts called as the schema has them, and the keys that this took."""
    names = {key: key for key in whole}
    for name, others in _CALLED.items():
        called = next((key for key in others if _is_it(name, whole.get(key))), None)
        if called is not None and whole.get(name) in (None, [], {}):
            names.pop(name, None)
            names[called] = name
            notes.moved((called,), name)
    found = {names[key]: each for key, each in whole.items() if key in names}
    taken = {key for key, name in names.items() if key != name}
    for name in _WITHIN:
        taken |= _gather(name, found, notes)
    return found, taken


def _gather(name: str, found: dict[str, Any], notes: Notes) -> set[str]:
    """Fields of a part that stand beside it."""
    within = {**{field: field for field in other_names.CALLED[name]}, **_WITHIN[name]}
    part = found.get(name)
    if part is not None and not isinstance(part, dict):
        return set()
    taken = {key: field for key, field in within.items()
             if field not in (part or {}) and _fits(field, found.get(key))}  # fmt: skip
    if taken:
        found[name] = {**(part or {}), **{field: found[key] for key, field in taken.items()}}
        for key, field in taken.items():
            del found[key]
            notes.moved((key,), f"{name}.{field}")
    return {*taken}


def _fits(field: str, value: object) -> bool:
    if field == "gates":
        return bool(value) and isinstance(value, (dict, list))
    return value is not None and other_names.is_it(field, value)


def _is_it(name: str, value: object) -> bool:
    """Whether a value can be what the sub-section is for."""
    if not isinstance(value, (dict, list)) or not value:
        return name == entries.FILES and isinstance(value, str) and entries.is_path(value)
    if name == entries.AGENTS:
        return isinstance(value, dict) or all(map(_is_summary, value))
    if name == entries.FILES:
        return isinstance(value, list)
    if name in (TRAJECTORY, DEFECTS):
        return isinstance(value, dict) and bool({*value} & _fields(name))
    return True


def _is_summary(said: object) -> bool:
    """An agent in a list, and what came of it: of a bare word nobody says that."""
    return bool(said) and (isinstance(said, dict) or ": " in str(said))


def _fields(name: str) -> set[str]:
    fields = other_names.CALLED[name]
    return {*fields, *_WITHIN[name], *(each for others in fields.values() for each in others)}

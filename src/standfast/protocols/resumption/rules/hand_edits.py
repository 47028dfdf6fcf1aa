"""A section that somebody edited by hand: what of it is adopted, by the rules that triggers obey.

Sub-section by sub-section: a legal edit is taken over; of any other, ours stays and the reason is
named, so that one slip costs nothing else. A hand may look ahead, but not rewrite what is past.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.formats.json_schema import Fault
from standfast.protocols.resumption.rules.section_check import faults_in
from standfast.protocols.resumption.rules.section_logs import next_id
from standfast.protocols.resumption.rules.section_schema import (
    DECISION,
    SECTION,
    SUB_SECTIONS,
    V1_FIELDS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from standfast.protocols.resumption.rules.section_schema import Section

_REMEDY = "Edit it back, or say it with `standfast resumption`; ours was kept."
_TRAJECTORY = frozenset(SECTION["properties"]["quality_trajectory"]["required"])
_TOTALS = ("total_defects_found", "total_defects_resolved")


class Adopted(NamedTuple):
    """The section from now on, and what of the edit is not in it, and why."""

    section: Section
    left: tuple[Fault, ...] = ()


def adopt(ours: Section, edited: Mapping[str, Any]) -> Adopted:
    """Ours, with every sub-section of the edited one that its rule allows.

    Keys that the protocol does not know are the project's: whatever it writes there is taken.
    """
    left = [
        Fault((name,), "is a field of v1.0", "Bring it to v2.0: it is not read.")
        for name in edited
        if name in V1_FIELDS and name not in SUB_SECTIONS
    ]
    own = {name: value for name, value in edited.items() if name not in (*SUB_SECTIONS, *V1_FIELDS)}
    section = {**ours, **own}
    for name in SUB_SECTIONS:
        faults = _faults(name, ours, edited)
        left += faults
        if not faults and edited[name] != ours[name]:  # 1 equals true, and is none
            section[name] = edited[name]
    return Adopted(section, tuple(left))


def _faults(name: str, ours: Section, edited: Mapping[str, Any]) -> list[Fault]:
    if name not in edited:
        return [Fault((name,), "is missing", "Put the sub-section back; ours was kept.")]
    if edited[name] == ours[name]:
        return []
    broken = list(faults_in({name: edited[name]}, (name,)))
    why = None if broken or name not in _RULES else _RULES[name](ours[name], edited[name])
    return broken if why is None else [Fault((name,), why, _REMEDY)]


def _state(ours: Section, edited: Section) -> str | None:
    if edited["last_checkpoint"] != ours["last_checkpoint"]:
        return "names another checkpoint than the latest"
    return None


def _trajectory(ours: Section, edited: Section) -> str | None:
    """Only a gate that is still to come may be added: scores come from iterations alone."""
    if any(edited[field] != ours[field] for field in _TRAJECTORY - {"gates_remaining"}):
        return "changes what only an iteration of a gate (T3) changes"
    if not set(ours["gates_remaining"]) <= set(edited["gates_remaining"]):
        return "takes away a gate that has not passed"
    return None


def _defects(ours: Section, edited: Section) -> str | None:
    if any(edited[total] < ours[total] for total in _TOTALS):
        return "lowers a total of defects"
    return None


def _decisions(ours: list[Section], edited: list[Section]) -> str | None:
    if len(edited) < len(ours):
        return "takes away a decision"
    for at in range(len(ours), len(edited)):
        if edited[at]["id"] != next_id(DECISION, edited[:at]):
            return f"gives a new decision the id {edited[at]['id']}, which is not the next"
    for before, after in zip(ours, edited, strict=False):
        if {**after, "applied": None} != {**before, "applied": None}:
            return f"changes {before['id']}, of which only `applied` may change"
        if before.get("applied", False) and not after.get("applied", False):
            return f"takes back that {before['id']} was applied"
    return None


def _summaries(ours: Mapping[str, str], edited: Mapping[str, str]) -> str | None:
    if any(edited.get(agent) != line for agent, line in ours.items()):
        return "changes or takes away the summary of an agent that has completed"
    return None


def _compactions(_ours: Section, _edited: Section) -> str:
    return "changes what only compactions and their delivery change"


_RULES: Mapping[str, Callable[[Any, Any], str | None]] = {
    "recovery_state": _state,
    "quality_trajectory": _trajectory,
    "defect_summary": _defects,
    "decision_log": _decisions,
    "agent_summaries": _summaries,
    "compaction_events": _compactions,
}

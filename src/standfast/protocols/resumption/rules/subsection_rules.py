"""How each sub-section changes: one function each, from what was and what a trigger says.

Nothing is changed in place. What is only appended to stands in section_logs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from standfast.errors.base import TriggerRefused
from standfast.protocols.resumption.rules.quality_gates import PASS, Result, band, lowest_dimension
from standfast.protocols.resumption.rules.section_logs import (
    agent_summaries,
    compaction_events,
    decision_log,
    next_iteration,
)
from standfast.protocols.resumption.rules.triggers import (
    File,
    GateIteration,
    Pattern,
    PhaseComplete,
    PhaseStart,
    Trigger,
)
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from standfast.protocols.resumption.rules.section_schema import Section

Results = Sequence[Result]


def recovery_state(section: Section, trigger: Trigger, _results: Results) -> Section:
    """Overwritten by every trigger; the fields that came with v1.0 and a project's own stay."""
    return {**section["recovery_state"], **trigger.recovery_state._asdict()}


def files_to_read(
    section: Section, trigger: PhaseStart | PhaseComplete, _results: Results
) -> list[Any]:
    """`sections` are replaced, never added to; only the end of a phase adds files."""
    added = trigger.files_to_read.added if isinstance(trigger, PhaseComplete) else ()
    wanted = {**trigger.files_to_read.sections}
    for file in added:
        if file.sections:
            wanted.setdefault(file.path, file.sections)
    listed = [_path(entry) for entry in section["files_to_read"]]
    entries = [
        _with_sections(entry, at, wanted[path]) if path in wanted else entry
        for at, (path, entry) in enumerate(zip(listed, section["files_to_read"], strict=True), 1)
    ]
    new = {
        file.path: entry_of(file._replace(sections=tuple(wanted.get(file.path, ()))))
        for file in added
        if file.path not in listed
    }
    for path in wanted:
        if path not in listed and path not in new:
            problem = f"`files_to_read` does not list `{one_line(path, 80)}`"
            raise TriggerRefused(problem, remedy="Add the file with T2, at the end of a phase.")
    return entries + list(new.values())


def entry_of(file: File | str) -> Section | str:
    """An entry as it is written: a bare path, or structured, with `sections` if there are some."""
    if isinstance(file, str):
        return file
    entry: Section = {"path": file.path, "priority": file.priority, "purpose": file.purpose}
    return {**entry, "sections": list(file.sections)} if file.sections else entry


def _path(entry: str | Section) -> str:
    return entry if isinstance(entry, str) else entry["path"]


def _with_sections(entry: str | Section, place: int, sections: Sequence[str]) -> Section:
    """An entry of v1.0 is a bare path; to hold sections it becomes one of v2.0, at its place."""
    if isinstance(entry, str):
        entry = {"path": entry, "priority": place, "purpose": ""}
    return {**entry, "sections": list(sections)}


def quality_trajectory(section: Section, trigger: GateIteration, results: Results) -> Section:
    """One more iteration is used and its score kept; a gate that passes is no longer remaining."""
    before = section["quality_trajectory"]
    gate, score = trigger.quality_trajectory.gate, results[-1].score
    if not gate.strip() or printable(gate) != gate:
        raise TriggerRefused("the gate has no name that can be seen")
    if gate in before["gates_completed"]:
        problem = f"the gate `{one_line(gate, 80)}` has passed already"
        raise TriggerRefused(problem, remedy="Give what is judged anew a gate of its own.")
    passes = band(score) == PASS
    history, remaining = before["score_history"], before["gates_remaining"]
    unpassed = remaining if gate in remaining else [*remaining, gate]
    return {
        **before,
        "gates_completed": [*before["gates_completed"], *([gate] if passes else [])],
        "gates_remaining": [each for each in unpassed if each != gate] if passes else unpassed,
        "current_gate": None if passes else gate,
        "current_gate_iteration": None if passes else next_iteration(section, gate),
        "score_history": {**history, gate: [*history.get(gate, []), float(score)]},
        "lowest_dimension": lowest_dimension(results),
        "total_iterations_used": before["total_iterations_used"] + 1,
    }


def defect_summary(section: Section, trigger: GateIteration, _results: Results) -> Section:
    """Totals grow by what this iteration found and resolved; the open ones are replaced."""
    before, now = section["defect_summary"], trigger.defect_summary
    if now.found < 0 or now.resolved < 0:
        raise TriggerRefused("fewer than no defects were found or resolved")
    return {
        **before,
        "total_defects_found": before["total_defects_found"] + now.found,
        "total_defects_resolved": before["total_defects_resolved"] + now.resolved,
        "unresolved_defects": list(now.unresolved),
        "recurring_patterns": _patterns(before["recurring_patterns"], now.patterns),
        "last_gate_primary_defect": now.primary,
    }


def _patterns(before: list[Section], now: Sequence[Pattern]) -> list[Section]:
    """New ones are appended; one that is known learns its resolution and the gates it reached."""
    found = {each["pattern"]: each for each in before}
    for each in now:
        entry = found.get(each.pattern, {"pattern": each.pattern, "gates_affected": []})
        gates = dict.fromkeys([*entry["gates_affected"], *each.gates_affected])
        entry = {**entry, "gates_affected": list(gates)}
        if each.resolution is not None:
            entry["resolution"] = each.resolution
        found[each.pattern] = entry
    return list(found.values())


RULES: Mapping[str, Callable[[Section, Any, Results], Any]] = {
    "recovery_state": recovery_state,
    "files_to_read": files_to_read,
    "quality_trajectory": quality_trajectory,
    "defect_summary": defect_summary,
    "decision_log": decision_log,
    "agent_summaries": agent_summaries,
    "compaction_events": compaction_events,
}

"""The living resumption section: which trigger changes which sub-section, and how. Pure.

`apply` walks one row of the matrix: a sub-section whose cell says no change is handed on as it
is, whatever a trigger holds. Nothing is changed in place; ids are counted on from the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import TriggerRefused
from standfast.formats.json_schema import shown
from standfast.protocols.resumption.rules.quality_gates import Result, read_scores
from standfast.protocols.resumption.rules.section_check import faults_in
from standfast.protocols.resumption.rules.section_logs import next_iteration
from standfast.protocols.resumption.rules.section_schema import SUB_SECTIONS, Section
from standfast.protocols.resumption.rules.subsection_rules import RULES, entry_of
from standfast.protocols.resumption.rules.triggers import (
    TRIGGERS,
    File,
    GateIteration,
    Recovery,
    Trigger,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OVERWRITE, APPEND, UPDATE, CONDITIONAL, NO_CHANGE = "W", "A", "U", "C", "-"
MATRIX: Mapping[str, Mapping[str, str]] = {
    trigger: dict(zip(SUB_SECTIONS, row.split(), strict=True))
    for trigger, row in {
        #     recovery_state, files_to_read, quality_trajectory, defect_summary,
        #     decision_log, agent_summaries, compaction_events
        "T1": "W U - - - - -",
        "T2": "W U - - - - -",
        "T3": "W - W W C - -",
        "T4": "W - - - - A -",
        "T5": "W - - - - - A",
        "T6": "W - - - A - -",
        "T7": "W - - - - - -",
    }.items()
}


class Resumption(NamedTuple):
    """The section, and the results behind its `lowest_dimension`, which the file does not hold."""

    section: Section
    results: tuple[Result, ...] = ()


def begin(recovery: Recovery, files: Iterable[File | str], gates: Iterable[str] = ()) -> Resumption:
    """A new section, before anything happened."""
    return _checked(Resumption(blank(recovery, files, gates)), SUB_SECTIONS)


def blank(recovery: Recovery, files: Iterable[File | str], gates: Iterable[str]) -> Section:
    """Every sub-section, with nothing in it but what is given."""
    return {
        "recovery_state": recovery._asdict(),
        "files_to_read": [entry_of(each) for each in files],
        "quality_trajectory": {
            "gates_completed": [],
            "gates_remaining": list(gates),
            "current_gate": None,
            "current_gate_iteration": None,
            "score_history": {},
            "lowest_dimension": None,
            "total_iterations_used": 0,
        },
        "defect_summary": {
            "total_defects_found": 0,
            "total_defects_resolved": 0,
            "unresolved_defects": [],
            "recurring_patterns": [],
            "last_gate_primary_defect": None,
        },
        "decision_log": [],
        "agent_summaries": {},
        "compaction_events": {"count": 0, "events": []},
    }


def number_of(trigger: Trigger) -> str:
    """T1 to T7."""
    return next(number for number, kind in TRIGGERS.items() if type(trigger) is kind)


def apply(before: Resumption, trigger: Trigger) -> Resumption:
    """The section after a trigger, of one that `validate` found nothing wrong with."""
    row = MATRIX[number_of(trigger)]
    results = before.results
    if isinstance(trigger, GateIteration):
        gate, scores = trigger.quality_trajectory
        iteration = next_iteration(before.section, gate)
        results = (*results, Result(gate, iteration, read_scores(scores)))
    touched = [name for name in row if row[name] != NO_CHANGE]
    changed = {name: RULES[name](before.section, trigger, results) for name in touched}
    # In the order of the file, and with the keys that are a project's own.
    return _checked(Resumption({**before.section, **changed}, results), touched)


def _checked(after: Resumption, touched: Iterable[str]) -> Resumption:
    """Refuse what would break the schema: it is said with the path, and nothing is changed."""
    for fault in faults_in(after.section, touched):
        raise TriggerRefused(f"`{shown(fault.path)}` {fault.problem}", remedy=fault.remedy)
    return after

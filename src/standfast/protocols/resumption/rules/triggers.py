"""The triggers T1 to T7 as types, each with what it may say and nothing more.

A trigger's fields are named after the sub-sections that its row allows, and there are no others:
what a row forbids cannot be said. T1 has no place for a new file, T4 none for a decision.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  # trigger_values.py reads by these types
from typing import NamedTuple

from standfast.protocols.resumption.rules.quality_gates import Scores  # noqa: TC001  # as above


class Recovery(NamedTuple):
    """What every trigger overwrites `recovery_state` with."""

    last_checkpoint: str | None
    current_phase: int | None  # None when unknown: a file of others may not say it
    current_phase_name: str
    workflow_status: str
    current_activity: str
    next_step: str
    context_fill_at_update: float | None
    updated_at: str


class File(NamedTuple):
    """A file that a resuming session reads."""

    path: str
    priority: int
    purpose: str
    sections: tuple[str, ...] = ()


class Sections(NamedTuple):
    """Which sections of files that are listed matter now, by path: they replace those before."""

    sections: Mapping[str, tuple[str, ...]] = {}


class Files(NamedTuple):
    """The same at the end of a phase, where files may be added too."""

    sections: Mapping[str, tuple[str, ...]] = {}
    added: tuple[File, ...] = ()


class Iteration(NamedTuple):
    """One iteration of a gate, passing or not: every dimension has its score."""

    gate: str
    scores: Scores


class Pattern(NamedTuple):
    """A defect that comes again; with a resolution it is resolved."""

    pattern: str
    gates_affected: tuple[str, ...] = ()
    resolution: str | None = None


class Defects(NamedTuple):
    """What an iteration found and what it resolved."""

    found: int = 0
    resolved: int = 0
    unresolved: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    primary: str | None = None


class Decision(NamedTuple):
    """A decision that later phases are bound by; its id is given when it is appended."""

    decision: str
    rationale: str
    affects_phases: tuple[int, ...] = ()
    applied: bool = False
    gate: str | None = None
    iteration: int | None = None


class Applied(NamedTuple):
    """A deferred decision has been applied: false to true, and nothing else of it."""

    id: str


class Summary(NamedTuple):
    """What became of an agent, in one line."""

    agent_id: str
    status: str
    finding: str


class Compaction(NamedTuple):
    """A compaction, as the hook's checkpoint file tells it; its id is given when it is appended."""

    timestamp: str
    trigger: str
    estimated_fill_before: float | None
    active_phase: int | None = None
    active_gate: str | None = None
    active_gate_iteration: int | None = None
    checkpoint_file: str | None = None


class Acknowledged(NamedTuple):
    """These compactions were told to the model: false to true, and nothing else of them."""

    ids: tuple[str, ...]


class PhaseStart(NamedTuple):
    """T1: a new phase begins."""

    recovery_state: Recovery
    files_to_read: Sections = Sections()


class PhaseComplete(NamedTuple):
    """T2: all agents of a phase have completed."""

    recovery_state: Recovery
    files_to_read: Files = Files()


class GateIteration(NamedTuple):
    """T3: an iteration of a quality gate, each one, failing or not."""

    recovery_state: Recovery
    quality_trajectory: Iteration
    defect_summary: Defects
    decision_log: Decision | None = None  # only if one was made during the iteration


class AgentCompletion(NamedTuple):
    """T4: one agent has finished."""

    recovery_state: Recovery
    agent_summaries: Summary


class CompactionEvent(NamedTuple):
    """T5: the context was compacted, or the model has been told that it was."""

    recovery_state: Recovery
    compaction_events: Compaction | Acknowledged


class CrossPhaseDecision(NamedTuple):
    """T6: a decision that affects later phases was made, or applied."""

    recovery_state: Recovery
    decision_log: Decision | Applied


class ThresholdCrossing(NamedTuple):
    """T7, advisory: the fill of the context went from one tier to another."""

    recovery_state: Recovery


Trigger = (
    PhaseStart
    | PhaseComplete
    | GateIteration
    | AgentCompletion
    | CompactionEvent
    | CrossPhaseDecision
    | ThresholdCrossing
)
TRIGGERS: Mapping[str, type[Trigger]] = {
    "T1": PhaseStart,
    "T2": PhaseComplete,
    "T3": GateIteration,
    "T4": AgentCompletion,
    "T5": CompactionEvent,
    "T6": CrossPhaseDecision,
    "T7": ThresholdCrossing,
}

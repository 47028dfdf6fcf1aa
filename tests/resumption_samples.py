"""A resumption section in the middle of its life, and one trigger of each kind."""

from decimal import Decimal

from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.protocols.resumption.rules.triggers import (
    AgentCompletion,
    Applied,
    Compaction,
    CompactionEvent,
    CrossPhaseDecision,
    Decision,
    Defects,
    File,
    Files,
    GateIteration,
    Iteration,
    Pattern,
    PhaseComplete,
    PhaseStart,
    Recovery,
    Sections,
    Summary,
    ThresholdCrossing,
    Trigger,
)
from standfast.protocols.resumption.rules.update_matrix import Resumption, apply, begin

FIRST = Recovery(None, 1, "audit", "ACTIVE", "idle", "start", None, "2026-02-20T10:00:00Z")
LATER = Recovery(
    last_checkpoint="CP-007",
    current_phase=2,
    current_phase_name="headers",
    workflow_status="ACTIVE",
    current_activity="phase-2-agent-execution",
    next_step="apply the headers",
    context_fill_at_update=0.61,
    updated_at="2026-02-20T10:30:00Z",
)
PLAN = File("PLAN.md", 1, "the plan", ("phase 1",))


def scores(value: str) -> dict[str, Decimal]:
    """The same score in every dimension: weighed, it is itself."""
    return dict.fromkeys(WEIGHTS, Decimal(value))


def iteration(
    gate: str, value: str, decision: Decision | None = None, state: Recovery = LATER
) -> GateIteration:
    """One iteration that scores *value*."""
    defects = Defects(found=2, resolved=1, unresolved=("D-2",), primary="D-2")
    return GateIteration(state, Iteration(gate, scores(value)), defects, decision)


def compaction(file: str | None = None, state: Recovery = LATER) -> CompactionEvent:
    """One compaction."""
    told = Compaction("2026-02-20T10:20:00Z", "auto", 0.83, 1, "qg-1", 1, checkpoint_file=file)
    return CompactionEvent(state, told)


def lived() -> Resumption:
    """A section in which everything has happened once."""
    state = begin(FIRST, [PLAN, "ORCHESTRATION.yaml"], ["qg-1", "qg-2"])
    state.section["recovery_state"]["cross_session_portable"] = True  # as migration leaves it
    for trigger in (
        AgentCompletion(FIRST, Summary("audit-executor", "PASS", "All compatible")),
        iteration("qg-1", "0.80", state=FIRST),
        CrossPhaseDecision(FIRST, Decision("keep SPDX", "short", (2, 3))),
        compaction("cx-001-checkpoint.json", FIRST),
    ):
        state = apply(state, trigger)
    return state


TRIGGERS: dict[str, Trigger] = {
    "T1": PhaseStart(LATER, Sections({"PLAN.md": ("phase 2",)})),
    "T2": PhaseComplete(LATER, Files({"PLAN.md": ("phase 3",)}, (File("NEW.md", 2, "new"),))),
    "T3": GateIteration(
        LATER,
        Iteration("qg-1", scores("0.93")),
        Defects(1, 2, (), (Pattern("drift", ("qg-1",), "pinned"),), None),
        Decision("go on", "good enough"),
    ),
    "T4": AgentCompletion(LATER, Summary("header-applicator", "DONE", "403 files")),
    "T5": compaction("cx-002-checkpoint.json"),
    "T6": CrossPhaseDecision(LATER, Decision("no vendoring", "size", (4,))),
    "T7": ThresholdCrossing(LATER),
}
APPLIED = CrossPhaseDecision(LATER, Applied("RD-001"))

"""Whatever triggers come in whatever order, refused ones among them, the section keeps its word.

Ids without gaps, summaries and past decisions as they were, `applied` only from false to true,
as many compactions as are counted, every iteration counted and its score kept.
"""

import copy
import json
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from resumption_samples import FIRST, PLAN
from standfast.errors.base import TriggerRefused
from standfast.protocols.resumption.rules.hand_edits import adopt
from standfast.protocols.resumption.rules.hook_checkpoints import unacknowledged
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.trigger_values import (
    read_state,
    read_trigger,
    write_state,
    write_trigger,
)
from standfast.protocols.resumption.rules.triggers import (
    Acknowledged,
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
    PhaseComplete,
    PhaseStart,
    Recovery,
    Sections,
    Summary,
    ThresholdCrossing,
    Trigger,
)
from standfast.protocols.resumption.rules.update_matrix import MATRIX, apply, begin, number_of

GATES = ("qg-1", "qg-2", "qg-3")
TEXT = st.text(max_size=12)
SCORE = st.integers(0, 100).map(lambda hundredths: Decimal(hundredths) / 100)
HIGH = st.integers(90, 100).map(lambda hundredths: Decimal(hundredths) / 100)
SCORES = st.one_of(SCORE, HIGH).flatmap(
    lambda one: st.fixed_dictionaries(
        {name: st.sampled_from([one, Decimal(1)]) for name in WEIGHTS}
    )
)
STATES = st.builds(
    Recovery,
    last_checkpoint=st.none() | st.integers(1, 2000).map("CP-{:03d}".format),
    current_phase=st.integers(0, 9),
    current_phase_name=TEXT,
    workflow_status=st.sampled_from(["ACTIVE", "PAUSED", "COMPLETE", "FAILED", "CANCELLED"]),
    current_activity=TEXT,
    next_step=TEXT,
    context_fill_at_update=st.none() | st.floats(0, 1),
    updated_at=st.datetimes().map(lambda at: f"{at.year:04d}{at:-%m-%dT%H:%M:%SZ}"),
)
DECISIONS = st.builds(
    Decision,
    decision=TEXT,
    rationale=TEXT,
    affects_phases=st.lists(st.integers(0, 9), max_size=3).map(tuple),
    applied=st.booleans(),
    gate=st.none() | st.sampled_from(GATES),
    iteration=st.none() | st.integers(1, 9),
)


class AnyTriggers(RuleBasedStateMachine):
    """The section beside a model that only ever counts and remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.state = begin(FIRST, [PLAN], GATES)
        self.decisions: list[dict[str, Any]] = []
        self.summaries: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []
        self.scores: dict[str, list[Decimal]] = defaultdict(list)
        self.by_dimension: dict[str, Decimal] = defaultdict(Decimal)
        self.files = {"PLAN.md"}
        self.found = 0

    def fire(self, trigger: Trigger) -> None:
        """As it is fired for real: through what the journal holds, seeing only what may change."""
        told = json.loads(json.dumps(write_trigger(trigger)))
        before, kept = self.state, copy.deepcopy(self.state)
        self.state = apply(
            read_state(json.loads(json.dumps(write_state(before)))), read_trigger(told)
        )
        assert before == kept
        for name, cell in MATRIX[number_of(trigger)].items():
            if cell == "-":
                assert self.state.section[name] == before.section[name]
        assert self.state.section["recovery_state"] == trigger.recovery_state._asdict()

    def refused(self, trigger: Trigger) -> None:
        """One that may not be: nothing changes."""
        before = copy.deepcopy(self.state)
        with pytest.raises(TriggerRefused):
            apply(self.state, trigger)
        assert self.state == before

    @rule(state=STATES, sections=st.lists(TEXT, max_size=3).map(tuple), data=st.data())
    def phase_starts(self, state: Recovery, sections: tuple[str, ...], data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.files)))
        self.fire(PhaseStart(state, Sections({path: sections})))
        self.refused(PhaseStart(state, Sections({"nowhere.md": sections})))

    @rule(state=STATES, name=st.sampled_from(["A.md", "B.md", "PLAN.md"]))
    def phase_completes(self, state: Recovery, name: str) -> None:
        self.files.add(name)
        self.fire(PhaseComplete(state, Files({}, (File(name, 2, "why"),))))

    @rule(
        state=STATES,
        gate=st.sampled_from([*GATES, "qg-x"]),
        scores=SCORES,
        made=DECISIONS | st.none(),
    )
    def gate_iterates(
        self, state: Recovery, gate: str, scores: dict[str, Decimal], made: Decision | None
    ) -> None:
        defects = Defects(found=2, resolved=1)
        trigger = GateIteration(state, Iteration(gate, scores), defects, made)
        if any(score >= Decimal("0.92") for score in self.scores[gate]):
            return self.refused(trigger)
        self.fire(trigger)
        self.found += 2
        self.scores[gate].append(
            sum((WEIGHTS[name] * scores[name] for name in WEIGHTS), Decimal(0))
        )
        for name in WEIGHTS:
            self.by_dimension[name] += scores[name]
        if made is not None:
            self._decided(made._replace(gate=gate, iteration=len(self.scores[gate])))
        return None

    @rule(state=STATES, name=st.sampled_from(["a", "b"]), finding=st.integers(0, 999))
    def agent_completes(self, state: Recovery, name: str, finding: int) -> None:
        runs = sum(key == name or key.startswith(f"{name}-retry") for key in self.summaries)
        self.fire(AgentCompletion(state, Summary(name, "DONE", f"found {finding}")))
        key = [name, f"{name}-retry", *(f"{name}-retry{count}" for count in range(2, runs + 1))][
            runs
        ]
        self.summaries[key] = f"DONE. found {finding}."

    @rule(state=STATES, fill=st.none() | st.floats(0, 1))
    def context_is_compacted(self, state: Recovery, fill: float | None) -> None:
        told = Compaction("2026-02-20T10:20:00Z", "manual", fill)
        self.fire(CompactionEvent(state, told))
        self.events.append({**told._asdict(), "acknowledged": False})

    @precondition(lambda self: self.events)
    @rule(state=STATES, data=st.data())
    def one_compaction_is_told(self, state: Recovery, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.events) - 1))
        self.fire(CompactionEvent(state, Acknowledged((f"CX-{at + 1:03d}",))))
        self.refused(CompactionEvent(state, Acknowledged((f"CX-{len(self.events) + 1:03d}",))))
        self.events[at]["acknowledged"] = True

    @rule(state=STATES)
    def all_compactions_are_told(self, state: Recovery) -> None:
        self.fire(CompactionEvent(state, Acknowledged(tuple(unacknowledged(self.state)))))
        for event in self.events:
            event["acknowledged"] = True

    @rule(state=STATES, made=DECISIONS)
    def decision_is_made(self, state: Recovery, made: Decision) -> None:
        self.fire(CrossPhaseDecision(state, made))
        self._decided(made)

    @precondition(lambda self: self.decisions)
    @rule(state=STATES, data=st.data())
    def decision_is_applied(self, state: Recovery, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.decisions) - 1))
        self.fire(CrossPhaseDecision(state, Applied(f"RD-{at + 1:03d}")))
        self.refused(CrossPhaseDecision(state, Applied(f"RD-{len(self.decisions) + 1:03d}")))
        self.decisions[at]["applied"] = True

    @rule(state=STATES)
    def threshold_is_crossed(self, state: Recovery) -> None:
        self.fire(ThresholdCrossing(state))

    @rule(state=STATES, wrong=st.sampled_from([{"workflow_status": "DONE"}, {"updated_at": "now"}]))
    def state_is_nonsense(self, state: Recovery, wrong: dict[str, Any]) -> None:
        self.refused(ThresholdCrossing(state._replace(**wrong)))

    @rule(
        state=STATES, slip=st.sampled_from(["decision_log", "agent_summaries", "compaction_events"])
    )
    def hand_slips(self, state: Recovery, slip: str) -> None:
        edit = copy.deepcopy(self.state.section)
        edit["recovery_state"]["next_step"] = state.next_step
        edit[slip] = {"decision_log": [], "agent_summaries": {}}.get(
            slip, {"count": 0, "events": []}
        )
        made = adopt(self.state.section, edit)
        assert bool(made.left) == (self.state.section[slip] != edit[slip])
        assert made.section["recovery_state"]["next_step"] == state.next_step
        self.state = self.state._replace(section=made.section)

    def _decided(self, made: Decision) -> None:
        entry = {**made._asdict(), "affects_phases": list(made.affects_phases)}
        self.decisions.append({"id": f"RD-{len(self.decisions) + 1:03d}", **entry})

    @invariant()
    def section_is_valid(self) -> None:
        assert validate(self.state.section) == []

    @invariant()
    def what_is_past_stands_as_it_was(self) -> None:
        section = self.state.section
        assert section["decision_log"] == self.decisions
        assert section["agent_summaries"] == self.summaries
        told = section["compaction_events"]
        assert told["count"] == len(told["events"]) == len(self.events)
        for number, (event, expected) in enumerate(
            zip(told["events"], self.events, strict=True), 1
        ):
            assert event == {"id": f"CX-{number:03d}", **expected}

    @invariant()
    def gates_add_up(self) -> None:
        trajectory = self.state.section["quality_trajectory"]
        scores = {gate: each for gate, each in self.scores.items() if each}
        passed = {gate for gate, each in scores.items() if each[-1] >= Decimal("0.92")}
        assert trajectory["score_history"] == {
            gate: [float(score) for score in each] for gate, each in scores.items()
        }
        assert trajectory["total_iterations_used"] == sum(map(len, scores.values()))
        assert set(trajectory["gates_completed"]) == passed
        assert set(trajectory["gates_remaining"]) == {*GATES, *scores} - passed
        assert self.state.section["defect_summary"]["total_defects_found"] == self.found

    @invariant()
    def lowest_dimension_is_of_all_results(self) -> None:
        lowest = self.state.section["quality_trajectory"]["lowest_dimension"]
        if not self.by_dimension:
            assert lowest is None
        else:
            assert self.by_dimension[lowest] == min(self.by_dimension.values())


@pytest.mark.req("RES-03", "RES-04", "RES-06", "RES-07", "RES-16", "RES-17", "RES-18")
class TestAnySequence(AnyTriggers.TestCase):  # type: ignore[misc]  # hypothesis makes the class
    settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

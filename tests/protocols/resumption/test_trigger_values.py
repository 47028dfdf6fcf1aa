"""A trigger from outside is read by its own type: what it may not say is refused by name."""

import json
from typing import Any

import pytest

from resumption_samples import APPLIED, LATER, TRIGGERS, lived
from standfast.errors.base import BadScore, TriggerRefused
from standfast.protocols.resumption.rules.trigger_values import (
    read_state,
    read_trigger,
    write_state,
    write_trigger,
)
from standfast.protocols.resumption.rules.triggers import Acknowledged, CompactionEvent, Trigger
from standfast.protocols.resumption.rules.update_matrix import apply

ALL = [*TRIGGERS.values(), APPLIED, CompactionEvent(LATER, Acknowledged(("CX-001",)))]


@pytest.mark.parametrize("trigger", ALL, ids=lambda each: type(each).__name__)
def test_trigger_comes_back_from_json_as_it_was(trigger: Trigger) -> None:
    value = json.loads(json.dumps(write_trigger(trigger)))
    read = read_trigger(value)

    assert read == trigger
    assert type(read) is type(trigger)


def test_state_comes_back_from_json_as_it_was() -> None:
    state = apply(lived(), TRIGGERS["T3"])

    assert len(state.results) == 2
    assert read_state(json.loads(json.dumps(write_state(state)))) == state


T3 = write_trigger(TRIGGERS["T3"])
T6 = write_trigger(TRIGGERS["T6"])


@pytest.mark.req("RES-04")
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "none of T1, T2"),
        ({}, "none of T1, T2"),
        ({**T6, "trigger": "T8"}, "none of T1, T2"),
        ({**T6, "recovery_state": None}, "`recovery_state` is not a mapping"),
        ({"trigger": "T7"}, "`recovery_state` is missing"),
        ({**T6, "agent_summaries": {}}, "`agent_summaries` cannot be said here"),
        ({**T6, "decision_log": {"id": 5}}, "`decision_log.id` cannot be said here"),
        ({**T6, "decision_log": {"decision": "a"}}, "`decision_log.rationale` is missing"),
        ({**T3, "defect_summary": {"found": "2"}}, "`defect_summary.found` is not a whole number"),
        ({**T3, "defect_summary": {"found": True}}, "`defect_summary.found` is not a whole"),
        (
            {**T3, "defect_summary": {"unresolved": "D"}},
            "`defect_summary.unresolved` is not a list",
        ),
        (
            {**T3, "defect_summary": {"unresolved": [1]}},
            "`defect_summary.unresolved[0]` is not text",
        ),
        ({**T3, "quality_trajectory": {"gate": "g", "scores": []}}, "scores` is not a mapping"),
        (
            {**T3, "recovery_state": {**LATER._asdict(), "next_step": None}},
            "next_step` is not text",
        ),
        ({**T3, "recovery_state": {**LATER._asdict(), "last_checkpoint": 5}}, "is not text"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(value: Any, says: str) -> None:
    with pytest.raises(TriggerRefused) as caught:
        read_trigger(value)

    assert says in caught.value.problem


def test_score_that_is_none_is_refused_as_one() -> None:
    scored = {"gate": "g", "scores": {"evidence": "high"}}

    with pytest.raises(BadScore, match=r"quality_trajectory\.scores\.evidence is `high`"):
        read_trigger({**T3, "quality_trajectory": scored})

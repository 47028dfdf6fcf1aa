"""A hand's edit is adopted where a trigger could have made it; elsewhere ours stays, named."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumption_samples import APPLIED, TRIGGERS, lived
from standfast.protocols.resumption.rules.hand_edits import adopt
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.update_matrix import apply

Section = dict[str, Any]


def ours() -> Section:
    """Two decisions of which one is applied, two agents, two compactions, a gate passed."""
    state = lived()
    for trigger in (*TRIGGERS.values(), APPLIED):
        state = apply(state, trigger)
    return copy.deepcopy(state.section)


def edited(*keys: str | int, to: object = ..., **more: object) -> Section:
    """The section with one place changed, taken away, or given more keys."""
    made = ours()
    at: Any = made
    for key in keys[:-1]:
        at = at[key]
    if more:
        at[keys[-1]].update(more)
    elif to is ...:
        del at[keys[-1]]
    else:
        at[keys[-1]] = to
    return made


NEW = {"id": "RD-004", "decision": "by hand", "rationale": "why not"}
LEGAL = [
    edited("recovery_state", "next_step", to="something else"),
    edited("files_to_read", 1),
    edited("files_to_read", to=["OTHER.md"]),
    edited("quality_trajectory", "gates_remaining", to=["qg-9", "qg-2"]),
    edited("defect_summary", "unresolved_defects", to=["D-9"]),
    edited("decision_log", 1, "applied", to=True),
    edited("decision_log", to=[*ours()["decision_log"], NEW]),
    edited("agent_summaries", other="DONE. By hand."),
]
ILLEGAL = [
    ("recovery_state", edited("recovery_state", "last_checkpoint", to="CP-999")),
    ("recovery_state", edited("recovery_state", "updated_at", to="today")),
    ("recovery_state", edited("recovery_state")),
    ("files_to_read", edited("files_to_read", to=[])),
    ("quality_trajectory", edited("quality_trajectory", "score_history", "qg-1", 0, to=0.99)),
    ("quality_trajectory", edited("quality_trajectory", "gates_remaining", to=[])),
    ("quality_trajectory", edited("quality_trajectory", "gates_completed", to=["qg-1", "qg-3"])),
    ("quality_trajectory", edited("quality_trajectory", "total_iterations_used", to=0)),
    ("defect_summary", edited("defect_summary", "total_defects_found", to=0)),
    ("decision_log", edited("decision_log", 0, "decision", to="rewritten")),
    ("decision_log", edited("decision_log", 0, "applied", to=False)),
    ("decision_log", edited("decision_log", 0, "applied")),
    ("decision_log", edited("decision_log", 0)),
    ("decision_log", edited("decision_log", to=[])),
    ("decision_log", edited("decision_log", to=[*ours()["decision_log"], {**NEW, "id": "RD-009"}])),
    ("agent_summaries", edited("agent_summaries", "audit-executor")),
    ("agent_summaries", edited("agent_summaries", "audit-executor", to="FAIL. Rewritten.")),
    ("compaction_events", edited("compaction_events", "events", 0, "acknowledged", to=True)),
    ("compaction_events", edited("compaction_events", to={"count": 0, "events": []})),
]


@pytest.mark.req("RES-08")
@pytest.mark.parametrize("edit", LEGAL, ids=range(len(LEGAL)))
def test_legal_edit_is_adopted(edit: Section) -> None:
    assert edit != ours()
    assert adopt(ours(), edit) == (edit, ())
    assert validate(edit) == []


@pytest.mark.req("RES-06", "RES-08", "RES-17")
@pytest.mark.parametrize(("name", "edit"), ILLEGAL, ids=range(len(ILLEGAL)))
def test_illegal_edit_is_named_and_costs_nothing_else(name: str, edit: Section) -> None:
    also = edit if name == "files_to_read" else {**edit, "files_to_read": ["OTHER.md"]}
    made = adopt(ours(), also)

    assert {fault.path[0] for fault in made.left} == {name}
    assert all(fault.problem and fault.remedy for fault in made.left)
    assert made.section == {
        **ours(),
        "files_to_read": also["files_to_read"] or ours()["files_to_read"],
    }


def test_number_that_equals_a_flag_is_not_taken_for_it() -> None:
    edit = edited("decision_log", 0, "applied", to=1)

    assert edit == ours()
    assert adopt(ours(), edit).section["decision_log"][0]["applied"] is True


@pytest.mark.req("RES-19", "RES-25")
def test_key_of_the_projects_own_is_taken_and_one_of_v1_is_named() -> None:
    made = adopt(ours(), {**ours(), "notes": "mine", "next_step": "go"})

    assert made.section == {**ours(), "notes": "mine"}
    assert [fault.path for fault in made.left] == [("next_step",)]


ANYTHING: st.SearchStrategy[Any] = st.sampled_from(
    [None, [], {}, 0, -1, 0.5, "x", True, ["qg-1"], {"count": 0, "events": []}, "RD-001", ...]
)


def _places(value: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, member in inner:
        yield (*keys, key)
        yield from _places(member, (*keys, key))


@pytest.mark.req("RES-06", "RES-08")
@given(st.lists(st.tuples(st.sampled_from(list(_places(ours()))), ANYTHING), max_size=3))
def test_whatever_is_edited_what_is_past_stays(changes: list[tuple[Any, Any]]) -> None:
    before, edit = ours(), ours()
    for keys, value in changes:
        at: Any = edit
        try:
            for key in keys[:-1]:
                at = at[key]
            if value is ...:
                del at[keys[-1]]
            else:
                at[keys[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue

    made = adopt(before, edit)

    assert before == ours()
    assert validate(made.section) == []
    assert made.section["compaction_events"] == before["compaction_events"]
    assert made.section["agent_summaries"].items() >= before["agent_summaries"].items()
    assert made.section["quality_trajectory"]["score_history"] == {"qg-1": [0.8, 0.93]}
    for old, new in zip(before["decision_log"], made.section["decision_log"], strict=True):
        assert {**new, "applied": old["applied"]} == old
        assert new.get("applied", False) >= old["applied"]
    assert bool(made.left) == (made.section != edit)

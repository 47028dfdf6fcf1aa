"""Every field of v1.0 has a place in v2.0; what cannot be carried over is named and kept."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumption_samples import lived
from standfast.protocols.resumption.rules.migration.section_migration import (
    V1_FIELDS,
    Around,
    migrate,
    version_of,
)
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.section_schema import SECTION, SUB_SECTIONS
from standfast.protocols.resumption.rules.staleness import CRITICAL, judge, seconds

WRITTEN = "2026-02-19T08:00:00Z"
AROUND = Around(WRITTEN, "ORCHESTRATION.yaml", 3, "headers", "PAUSED", "CP-009", ("qg-1",))
V1: dict[str, Any] = {
    "last_checkpoint": "CP-006",
    "current_state": "Phase 3 is done.\nThe gate waits.",
    "next_step": "run the gate",
    "files_to_read": ["PLAN.md", "docs/a.md"],
    "cross_session_portable": True,
    "ephemeral_references": False,
}


@pytest.mark.req("RES-09")
def test_all_six_fields_migrate() -> None:
    made = migrate(V1, AROUND)

    assert set(V1) == set(V1_FIELDS)
    assert made.section["recovery_state"] == {
        "last_checkpoint": "CP-006",
        "current_phase": 3,
        "current_phase_name": "headers",
        "workflow_status": "PAUSED",
        "current_activity": "Phase 3 is done.\nThe gate waits.",
        "next_step": "run the gate",
        "context_fill_at_update": None,
        "updated_at": WRITTEN,
        "cross_session_portable": True,
        "ephemeral_references": False,
    }
    assert made.section["files_to_read"] == ["PLAN.md", "docs/a.md"]
    assert made.section["quality_trajectory"]["gates_remaining"] == ["qg-1"]
    assert made.original == V1
    assert made.removed == ()
    assert {note.path for note in made.notes} >= {("next_step",), ("current_state",)}
    assert validate(made.section) == []


@pytest.mark.req("RES-09", "RES-10")
def test_what_was_migrated_is_as_old_as_it_was() -> None:
    made = migrate(V1, AROUND).section["recovery_state"]["updated_at"]
    later = seconds("2026-02-20T08:00:00Z")
    assert later is not None

    judged = judge(made, now_us=later * 10**6, session_started_us=later * 10**6)

    assert judged.level == CRITICAL


@pytest.mark.req("RES-09")
@pytest.mark.parametrize("left_out", V1_FIELDS)
def test_field_that_is_missing_or_null_leaves_a_valid_section(left_out: str) -> None:
    without = {key: value for key, value in V1.items() if key != left_out}

    for value in (without, {**V1, left_out: None}):
        section = migrate(value, AROUND).section
        assert validate(section) == []
        assert section["files_to_read"] or left_out == "files_to_read"
        if left_out == "last_checkpoint":
            assert section["recovery_state"]["last_checkpoint"] == "CP-009"


@pytest.mark.parametrize(
    ("field", "value", "note"),
    [
        ("cross_session_portable", "mostly", "was `mostly`"),
        ("ephemeral_references", ["/tmp/x"], "was `/tmp/x`"),
        ("files_to_read", [], "`ORCHESTRATION.yaml` was added"),
        ("files_to_read", ["a.md", 5], "`files_to_read[1]` was `5`"),
        ("files_to_read", ["a.md", {"path": "b.md"}], "`files_to_read[1]` was"),
    ],
)
def test_what_cannot_be_carried_over_is_named_and_kept(
    field: str, value: object, note: str
) -> None:
    before = {**V1, field: value}
    made = migrate(before, AROUND)

    assert [each for each in made.notes if note in str(each)]
    assert made.original == before
    assert validate(made.section) == []


def test_prose_in_other_shapes_is_still_prose() -> None:
    made = migrate({**V1, "current_state": {"phase": 3}, "next_step": ["a", "b"]}, AROUND)

    assert made.section["recovery_state"]["current_activity"] == "phase: 3"
    assert made.section["recovery_state"]["next_step"] == "a; b"


@pytest.mark.req("RES-09")
def test_section_that_is_half_migrated_keeps_its_newer_half() -> None:
    newer = lived().section
    half = {**V1, "recovery_state": newer["recovery_state"], "decision_log": newer["decision_log"]}
    made = migrate(half, AROUND).section

    assert version_of(half) == "2.0"
    assert validate(half), "v1.0's fields have no place beside it"
    assert made["recovery_state"] == {
        **newer["recovery_state"],
        "cross_session_portable": True,
        "ephemeral_references": False,
    }
    assert made["decision_log"] == newer["decision_log"]
    assert validate(made) == []


@pytest.mark.req("RES-09")
def test_version_is_told_and_v2_stays_as_it_is() -> None:
    newer = lived().section

    assert version_of(newer) == "2.0"
    assert version_of(V1) == "1.0"
    assert version_of({"files_to_read": ["a.md"]}) == "1.0"
    assert [version_of(each) for each in (None, [], {})] == [None] * 3
    assert [version_of(each) for each in ("x", ["x"], {"other": 1})] == ["1.0"] * 3
    assert migrate(newer, AROUND).section == newer


@pytest.mark.req("RES-25")
def test_flag_that_says_nothing_goes_and_that_is_told() -> None:
    made = migrate({"recovery_state": {"cross_session_portable": None}}, AROUND)

    assert "cross_session_portable" not in made.section["recovery_state"]
    assert [note for note in made.notes if "cross_session_portable" in str(note)]


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*V1_FIELDS, "odd"]), ANYTHING))
def test_any_v1_section_becomes_a_valid_one(value: dict[str, Any]) -> None:
    _becomes_valid(value)


def _becomes_valid(value: dict[str, Any]) -> None:
    kept = copy.deepcopy(value)
    made = migrate(value, AROUND)

    assert validate(made.section) == []
    assert value == kept == made.original
    assert version_of(made.section) == "2.0"
    assert migrate(made.section, AROUND) == (made.section, made.section, ())
    for key in {"odd"} & value.keys():
        assert made.section[key] == value[key]


FIELDS = [
    *("id", "decision", "gate", "score", "path", "timestamp", "events", "count", "status", "odd"),
    *(field for part in SECTION["properties"].values() for field in part.get("properties", ())),
]
SAID = st.one_of(
    LEAVES,
    st.sampled_from(
        [
            "Phase 3",
            "COMPLETED",
            "62%",
            "RD-007",
            "2026-02-19 08:00",
            "0.93 PASS",
            "QG-1, QG-2",
            "yes",
        ]
    ),
    st.floats(-1, 101, allow_nan=False),
)
PARTS = st.recursive(
    SAID,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=25,
)


@pytest.mark.req("RES-25")
@given(st.dictionaries(st.sampled_from([*SUB_SECTIONS, *V1_FIELDS, "odd", "decisions"]), PARTS))
def test_any_section_that_is_nearly_v2_becomes_a_valid_one(value: dict[str, Any]) -> None:
    _becomes_valid(value)


@pytest.mark.req("RES-25")
@given(data=st.data())
def test_one_wrong_part_of_a_valid_section_costs_the_others_nothing(data: st.DataObject) -> None:
    good = lived().section
    name = data.draw(st.sampled_from(SUB_SECTIONS))
    made = migrate({**good, name: data.draw(PARTS)}, AROUND).section

    assert validate(made) == []
    assert {key: made[key] for key in good if key != name} == {
        key: good[key] for key in good if key != name
    }


@pytest.mark.req("RES-09")
def test_file_that_is_half_described_is_kept_by_its_path() -> None:
    listed = ["a.md", {"path": "b.md", "priority": 1}, {"purpose": "x"}, {"path": " "}]
    made = migrate({**V1, "files_to_read": listed}, AROUND)

    assert made.section["files_to_read"] == [
        "a.md",
        {"path": "b.md", "priority": 1, "purpose": ""},
    ]
    assert [note.path for note in made.removed] == [("files_to_read", 2), ("files_to_read", 3)]

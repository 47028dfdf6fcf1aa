"""What is published is what is checked: every finding has its path, its line and a remedy."""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from places import ROOT
from resumption_samples import TRIGGERS, lived
from standfast.formats import json_schema
from standfast.formats.yaml_text import read_yaml
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.section_schema import PUBLISHED, SECTION, SUB_SECTIONS
from standfast.protocols.resumption.rules.update_matrix import apply

PAGE = ROOT / "docs" / "reference" / "resumption.schema.json"

Keys = tuple[str | int, ...]


def section() -> dict[str, Any]:
    """A valid section with something in every place."""
    state = lived()
    for trigger in TRIGGERS.values():
        state = apply(state, trigger)
    return copy.deepcopy(state.section)


def changed(keys: Keys, value: object) -> dict[str, Any]:
    """The section with another value there; an Ellipsis takes the key away."""
    made = section()
    at: Any = made
    for key in keys[:-1]:
        at = at[key]
    if value is ...:
        del at[keys[-1]]
    else:
        at[keys[-1]] = value
    return made


def required() -> Iterator[Keys]:
    """Every key that the schema asks for in the sample."""

    def within(schema: dict[str, Any], value: Any, keys: Keys) -> Iterator[Keys]:
        for key, member in schema.get("properties", {}).items():
            if key in schema["required"]:
                yield (*keys, key)
            if key in value:
                yield from within(member, value[key], (*keys, key))
        if isinstance(schema.get("items"), dict) and value and isinstance(value[0], dict):
            item = schema["items"].get("anyOf", [schema["items"]])[-1]
            yield from within(item, value[0], (*keys, 0))

    yield from within(SECTION, section(), ())


R, F, Q, D, L, A, C = SUB_SECTIONS
WRONG: list[tuple[Keys, object]] = [
    ((R, "last_checkpoint"), ""),
    ((R, "last_checkpoint"), 7),
    ((R, "current_phase"), -1),
    ((R, "current_phase"), 1.5),
    ((R, "current_phase"), True),
    ((R, "current_phase"), "2"),
    ((R, "workflow_status"), "DONE"),
    ((R, "context_fill_at_update"), 1.01),
    ((R, "context_fill_at_update"), -0.1),
    ((R, "context_fill_at_update"), "61%"),
    ((R, "updated_at"), None),
    ((R, "updated_at"), 2026),
    ((R, "updated_at"), datetime(2026, 2, 20, tzinfo=UTC)),
    ((R, "updated_at"), datetime(2026, 2, 20, tzinfo=UTC).date()),
    ((R, "updated_at"), "2026-02-20"),
    ((R, "updated_at"), "2026-02-20T10:00:00.5Z"),
    ((R, "updated_at"), "2026-02-20T10:00:00Z\n"),
    ((R, "cross_session_portable"), "yes"),
    ((F,), []),
    ((F,), "PLAN.md"),
    ((F, 0), 5),
    ((F, 0), ""),
    ((F, 0, "priority"), 0),
    ((F, 0, "sections"), "phase 1"),
    ((Q, "gates_completed"), None),
    ((Q, "gates_remaining", 0), 1),
    ((Q, "current_gate_iteration"), 0),
    ((Q, "score_history"), []),
    ((Q, "score_history", "qg-1"), 0.9),
    ((Q, "score_history", "qg-1", 0), 1.2),
    ((Q, "score_history", "qg-1", 0), "0.9"),
    ((Q, "total_iterations_used"), -1),
    ((D, "unresolved_defects"), None),
    ((D, "recurring_patterns", 0, "gates_affected"), "qg-1"),
    ((L,), {}),
    ((L, 0, "id"), "RD-1"),
    ((L, 0, "id"), "CX-001"),
    ((L, 0, "affects_phases"), [-1]),
    ((L, 0, "applied"), "no"),
    ((A,), []),
    ((A, "audit-executor"), ""),
    ((A, "audit-executor"), "two\nlines."),
    ((A, "audit-executor"), None),
    ((C, "count"), "1"),
    ((C, "events"), None),
    ((C, "events", 0, "timestamp"), "yesterday"),
    ((C, "events", 0, "trigger"), "sometimes"),
    ((C, "events", 0, "estimated_fill_before"), 2),
    ((C, "events", 0, "acknowledged"), 0),
    (("next_step",), "a key of v1.0"),
]
BEYOND: list[tuple[Keys, object]] = [  # what no schema can say
    ((R, "updated_at"), "2026-02-30T10:00:00Z"),
    ((L, 1, "id"), "RD-001"),
    ((C, "count"), 1),
    ((Q, "gates_remaining", 0), "qg-1"),
    ((Q, "current_gate_iteration"), 2),
    ((A, "audit-executor"), "PASS. red \x1b[31m."),
]


@pytest.mark.req("RES-01")
def test_sections_in_the_middle_of_their_lives_are_valid() -> None:
    assert validate(section()) == []
    assert validate(lived().section) == []


@pytest.mark.req("RES-09")
@pytest.mark.req("RES-19", "RES-25")
@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ((R, "last_checkpoint"), "barrier-4-complete"),
        ((R, "current_phase"), None),
        ((R, "note"), 1),
        ((F, 0, "owner"), "me"),
        ((Q, "current_gate"), "qg-9"),
        ((L, 2, "id"), "RD-007"),
        ((L, 0, "date"), "2026-02-20"),
        ((A, "audit-executor"), "PASS - all is well"),
        ((C, "note"), [1, {"a": None}]),
        (("context_keys",), {"a": ["b"]}),
    ],
    ids=str,
)
def test_what_a_project_has_of_its_own_is_no_fault(keys: Keys, value: object) -> None:
    assert validate(changed(keys, value)) == []


def test_bare_paths_and_structured_entries_may_be_mixed() -> None:
    entry = {"path": "b.md", "priority": 1, "purpose": ""}

    assert validate(changed((F,), ["a.md", entry])) == []
    assert validate(changed((F,), ["a.md"])) == []


@pytest.mark.req("RES-01")
@pytest.mark.parametrize("keys", list(required()), ids=str)
def test_missing_key_is_named(keys: Keys) -> None:
    (found,) = validate(changed(keys, ...))

    assert (found.path, found.problem) == (keys, "is missing")


@pytest.mark.req("RES-01")
@pytest.mark.parametrize(("keys", "value"), [*WRONG, *BEYOND], ids=str)
def test_wrong_value_is_named_with_a_remedy(keys: Keys, value: object) -> None:
    found = validate(changed(keys, value))

    assert [each.path[: len(keys)] for each in found] == [keys]
    assert found[0].problem
    assert found[0].remedy


@pytest.mark.parametrize("value", [None, [], [1], "text", 5, {}])
def test_section_that_is_something_else_is_found_wrong(value: object) -> None:
    assert validate(value)


@pytest.mark.req("RES-01")
def test_finding_has_the_line_of_the_file() -> None:
    text = "workflow: x\nresumption:\n  recovery_state:\n    current_phase: -3\n  next_step: x\n"
    document = read_yaml(text, name="ORCHESTRATION.yaml")
    assert isinstance(document.value, dict)

    found = validate(document.value["resumption"], document.lines)

    places = {each.at: each.line for each in found}
    assert places["recovery_state.current_phase"] == 4
    assert places["next_step"] == 5
    assert places["recovery_state.updated_at"] == 3  # missing: the line of what it belongs in
    assert places["decision_log"] == 2
    assert [each.line for each in found] == sorted(each.line for each in found)
    assert str(found[-1]).startswith("line 5: `next_step` is a field of v1.0")


@pytest.mark.req("RES-10")
@pytest.mark.parametrize(
    ("written", "is_found"),
    [
        ("2026-02-20T10:00:00Z", True),
        ("'2026-02-20T10:00:00Z'", False),
        ('"2026-02-20T10:00:00Z"', False),
        ("\n      2026-02-20T10:00:00Z", True),
    ],
)
def test_time_without_quotes_is_found_with_its_line(written: str, *, is_found: bool) -> None:
    text = json.dumps({"resumption": section()}, indent=2)
    at = text.index('"updated_at": ') + len('"updated_at": ')
    end = text.index('"', at + 1) + 1
    document = read_yaml(f"{text[:at]}{written}{text[end:]}", name="ORCHESTRATION.yaml")
    assert isinstance(document.value, dict)

    found = validate(document.value["resumption"], document.lines, plain=document.plain)

    line = text.count("\n", 0, at) + 1
    expected = [("recovery_state.updated_at", line)] if is_found else []
    assert [(each.at, each.line) for each in found] == expected
    assert all("in quotes" in each.remedy for each in found)


def test_path_is_shown_as_people_write_it() -> None:
    assert json_schema.shown(("decision_log", 2, "id")) == "decision_log[2].id"
    assert json_schema.shown(()) == "the section"


@pytest.mark.req("RES-09")
def test_published_schema_is_the_one_that_is_checked() -> None:
    page = json.loads(PAGE.read_text(encoding="utf-8"))

    assert page == PUBLISHED
    assert page["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert {key: page[key] for key in SECTION} == SECTION
    for name in SUB_SECTIONS:
        assert name in page["required"]


@pytest.mark.req("RES-09")
def test_rule_that_nobody_checks_cannot_be_published() -> None:
    with pytest.raises(KeyError, match="maxItems"):
        list(json_schema.check([], {"type": "array", "maxItems": 0}))

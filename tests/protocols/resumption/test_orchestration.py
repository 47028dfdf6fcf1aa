"""What stands around the section: told as far as it can be read, and never an error."""

import pytest

from standfast.protocols.resumption.rules.migration.section_migration import Around
from standfast.protocols.resumption.rules.orchestration import around, latest_id
from standfast.protocols.resumption.rules.staleness import UNKNOWN

TIME = "2026-01-02T03:04:05Z"
WHOLE = """\
schema_version: "2.0"
workflow:
  id: w-1
  status: paused
pipelines:
  alpha:
    phases:
      - {id: phase-1, name: audit, status: COMPLETE}
      - {id: phase-2, name: headers, status: IN_PROGRESS}
      - {id: phase-3, name: release, status: PENDING}
  beta:
    current_phase: 1
    phases: [{id: 1, name: docs}]
quality_gates:
  - {id: qg-1, status: PASSED}
  - {id: qg-2, status: PENDING}
  - {id: qg-2}
checkpoints:
  latest_id: CP-004
  entries: []
"""


def told(text: str) -> Around:
    return around(text, TIME, "PLAN.yaml")


@pytest.mark.req("RES-09")
def test_phase_status_checkpoint_and_open_gates_are_told() -> None:
    assert told(WHOLE) == Around(
        updated_at=UNKNOWN,
        file="PLAN.yaml",
        current_phase=2,
        current_phase_name="headers",
        workflow_status="PAUSED",
        last_checkpoint="CP-004",
        gates=("qg-2",),
    )


@pytest.mark.req("RES-19")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("checkpoints: {latest_id: CP-004, entries: []}\n", "CP-004"),
        ("checkpoints:\n  # comment\n  latest_id: 'CP-1000'\nb: 1\n", "CP-1000"),
        ("a: 1\r\ncheckpoints:\r\n  latest_id: CP-004\r\n", "CP-004"),
        ("checkpoints:\n  latest_id: none\n", None),
        ("checkpoints:\n  latest_id: 4\n", "4"),
        ("checkpoints:\n  latest_id: cp-qg3-pass\n", "cp-qg3-pass"),
        ("checkpoints:\n  latest_id: [CP-004]\n", None),
        ("checkpoints:\n  latest_id: true\n", None),
        ("checkpoints: [CP-004]\n", None),
        ("checkpoints:\n  latest_id: *elsewhere\n", None),
        ("checkpoints: [\n", None),
        ("  checkpoints:\n    latest_id: CP-004\n", None),
        ("latest_id: CP-004\n", None),
        ("", None),
    ],
)
def test_latest_checkpoint_of_a_file(text: str, found: str | None) -> None:
    assert latest_id(text) == found


@pytest.mark.parametrize(
    ("pipelines", "phase", "name"),
    [
        ("{a: {current_phase: 3}, b: {current_phase: 2}}", 3, ""),
        ("{a: {current_phase: 2, phases: [{id: 1, name: x}, {id: 2, name: y}]}}", 2, "y"),
        ("[{current_phase: phase-7}]", 7, ""),
        ("{a: {phases: [{name: x, status: done}, {name: y, status: done}]}}", 2, "y"),
        ("{a: {phases: [{name: x, status: running}, {name: y, status: done}]}}", 1, "x"),
        ("{a: {phases: [{name: x}, 7, null]}}", None, ""),
        ("{a: {current_phase: 0}}", 0, ""),
        ("{a: {current_phase: 'Phase 3: review'}}", 3, "review"),
        ("{a: {current_phase: 12345678901}}", 12345678901, ""),
        ("{a: {current_phase: true}}", None, ""),
        ("7", None, ""),
        ("{a: 7}", None, ""),
    ],
)
def test_furthest_phase_that_any_pipeline_is_in(
    pipelines: str, phase: int | None, name: str
) -> None:
    found = told(f"pipelines: {pipelines}\n")

    assert (found.current_phase, found.current_phase_name) == (phase, name)


@pytest.mark.parametrize(
    ("gates", "found"),
    [
        ("{qg-1: {status: pass}, qg-2: {status: open}, qg-3: x}", ("qg-2",)),
        ("[{id: qg-1}, {id: 7}, {name: x}, qg-9]", ("qg-1",)),
        ("qg-1", ()),
    ],
)
def test_gates_that_have_not_passed(gates: str, found: tuple[str, ...]) -> None:
    assert told(f"quality_gates: {gates}\n").gates == found


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("status", "read"),
    [
        ("ACTIVE", "ACTIVE"),
        ("done", "COMPLETE"),
        ("'COMPLETED - all gates passed'", "COMPLETE"),
        ("on hold", "PAUSED"),
        ("[]", None),
        ("7", None),
        ("null", None),
        ("done with phase 2", None),
    ],
)
def test_status_is_read_in_the_words_of_people(status: str, read: str | None) -> None:
    assert told(f"workflow: {{status: {status}}}\n").workflow_status == read


@pytest.mark.req("RES-25")
def test_workflow_that_is_over_has_no_gates_to_come() -> None:
    gates = "quality_gates: [{id: qg-1, status: pending}]\n"

    assert told(f"workflow: {{status: COMPLETED}}\n{gates}").gates == ()
    assert told(gates).gates == ("qg-1",)


@pytest.mark.req("RES-10", "RES-25")
def test_section_is_as_old_as_the_newest_time_that_its_file_states() -> None:
    text = "# made 2025-12-30\nworkflow: {created: 2026-01-01, due: 2027-01-01}\n"

    assert told(text).updated_at == "2026-01-01T00:00:00Z"
    assert "states" in told(text).updated_by
    assert told("due: 2027-01-01\n").updated_at == UNKNOWN

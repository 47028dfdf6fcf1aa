"""What stands around the section: told as far as it can be read, and never an error."""

import pytest

from standfast.protocol.orchestration import around, latest_id
from standfast.protocol.resumption_migration import Around

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
        updated_at=TIME,
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
        ("checkpoints:\n  latest_id: 4\n", None),
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
        ("{a: {phases: [{name: x}, 7, null]}}", 0, ""),
        ("{a: {current_phase: 12345678901}}", 0, ""),
        ("{a: {current_phase: true}}", 0, ""),
        ("7", 0, ""),
        ("{a: 7}", 0, ""),
    ],
)
def test_furthest_phase_that_any_pipeline_is_in(pipelines: str, phase: int, name: str) -> None:
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


@pytest.mark.parametrize("status", ["ACTIVE", "done", "[]", "7", "null"])
def test_status_that_is_none_is_active(status: str) -> None:
    assert told(f"workflow: {{status: {status}}}\n").workflow_status == "ACTIVE"

"""Sections that nobody wrote for us, from outside: no entry costs another, no old name is lost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_calls import Claude
from conftest import Cli
from resumption_files import FILE, section
from standfast.protocols.resumption.rules.migration.section_migration import Around, migrate
from standfast.protocols.resumption.rules.section_check import validate

OLD_IDS = ["D1", "KD-1", "ADR-7", "DEC-1", "D-001", "1", "RD-1", "RD-01", "2026-02-01", "'#4'"]
AROUND = Around("2026-04-01T09:30:00Z", FILE)


def put(repo: Path, body: str, *, before: str = "") -> None:
    (repo / FILE).write_text(f"{before}resumption:\n{body}", encoding="utf-8")


def shown(repo: Path, cli: Cli) -> dict[str, Any]:
    done = cli("resumption", "show", "--json", cwd=repo)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["resumption"]
    return found


def state(repo: Path, cli: Cli) -> dict[str, Any]:
    found: dict[str, Any] = shown(repo, cli)["recovery_state"]
    return found


@pytest.mark.sweep(3)
@pytest.mark.req("RES-25")
@pytest.mark.parametrize("old", OLD_IDS)
def test_decision_under_another_id_stays_with_all_the_others(
    repo: Path, cli: Cli, old: str
) -> None:
    put(repo, f"""\
  recovery_state: {{current_phase: 2, next_step: go on, updated_at: "2026-04-01T09:30:00Z"}}
  files_to_read: [plan.md]
  decision_log:
  - {{id: RD-001, decision: go with Go}}
  - {{id: {old}, decision: no ORM}}
  - {{id: RD-003, decision: one repository}}
""")  # fmt: skip
    Claude(repo)("SessionStart", source="startup")
    words = {"go with Go", "no ORM", "one repository"}
    assert {each["decision"] for each in shown(repo, cli)["decision_log"]} == words
    text = cli("resumption", "show", cwd=repo).stdout
    assert f"was {old.strip(chr(39))}" in text
    assert "no ORM" in cli("brief", cwd=repo).stdout

    done = cli("resumption", "migrate", cwd=repo)
    cli("resumption", "decide", "one more", cwd=repo)

    assert done.returncode == 0, done.stderr
    assert "Removed from the file" not in done.stdout
    log = section(repo)["decision_log"]
    assert [each["decision"] for each in log if each["id"] == "RD-001"] == ["go with Go"]
    assert [each["decision"] for each in log if each["id"] == "RD-003"] == ["one repository"]
    assert {each["decision"] for each in log} == {*words, "one more"}
    assert len({each["id"] for each in log}) == 4
    assert [each["was"] for each in log if each["decision"] == "no ORM"] == [old.strip("'")]
    assert cli("resumption", "validate", cwd=repo).returncode == 0


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-2, 2) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "was", "decision", "rationale", "gate", "iteration", "applied", "path",
                 "priority", "sections", "timestamp", "trigger", "active_phase", "checkpoint_file",
                 "acknowledged", "estimated_fill_before", "score", "pattern", "gates_affected"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=8,
)  # fmt: skip
GOOD: dict[str, tuple[Any, Any]] = {
    "decision_log": (
        {"id": "RD-001", "decision": "go with Go", "rationale": ""},
        {"id": "RD-002", "decision": "no ORM", "rationale": "slow"},
    ),
    "compaction_events": (
        {"id": "CX-001", "timestamp": "2026-03-01T22:10:00Z", "trigger": "auto",
         "estimated_fill_before": 0.9, "note": "first"},
        {"id": "CX-002", "timestamp": "2026-03-02T22:10:00Z", "trigger": "manual",
         "estimated_fill_before": None, "note": "second"},
    ),
    "files_to_read": ("PLAN.md", {"path": "a.md", "priority": 1, "purpose": "x"}),
}  # fmt: skip


@pytest.mark.req("RES-25")
@given(name=st.sampled_from([*GOOD]), odd=ODD, at=st.integers(0, 2))
def test_whatever_one_entry_is_the_others_stay(name: str, odd: object, at: int) -> None:
    entries: list[Any] = [*GOOD[name]]
    entries.insert(at, odd)
    said = {"count": 3, "events": entries} if name == "compaction_events" else entries

    made = migrate({"recovery_state": {"current_phase": 2}, name: said}, AROUND).section

    assert validate(made) == []
    found = made[name]["events"] if name == "compaction_events" else made[name]
    for good in GOOD[name]:
        assert any(_same(each, good) for each in found), "it went with another"


def _same(entry: Any, good: Any) -> bool:
    if not isinstance(good, dict):
        return bool(entry == good)
    named = dict(entry) if isinstance(entry, dict) else {}
    return {**named, "id": good.get("id")} == {**good, "id": good.get("id"), **_was(named)}


def _was(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("was",) if key in entry}


@pytest.mark.req("RES-25")
def test_gate_whose_score_cannot_be_read_costs_no_other_and_no_other_score(
    repo: Path, cli: Cli
) -> None:
    put(repo, """\
  recovery_state: {current_phase: 2, updated_at: "2026-04-01T09:30:00Z"}
  quality_trajectory:
    gates_completed: [{id: QG-1, score: 0.93}, [odd], {id: QG-2, score: great}]
    score_history: {QG-3: [0.81, crashed, 0.95], QG-4: [0.7], QG-5: {odd: [x]}}
""")  # fmt: skip

    gates = shown(repo, cli)["quality_trajectory"]

    assert gates["gates_completed"] == ["QG-1", "QG-2"]
    assert gates["score_history"] == {"QG-1": [0.93], "QG-3": [0.81, 0.95], "QG-4": [0.7]}
    told = cli("resumption", "migrate", "--dry-run", cwd=repo).stdout
    assert "crashed" in told
    assert re.search(r"`quality_trajectory.gates_completed\[1\]` was `QG-2: .*great", told)


FINISHED = """\
  last_checkpoint: barrier-4-complete
  current_state: |
    WORKFLOW COMPLETE. All 4 phases done (Phase 3 tournament won by design B).
    QG-1..QG-4 all passed: 0.92, 0.93, 0.95, 0.94.
  next_action: merge PR 112
"""


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("prose", "status", "phase"),
    [
        ("WORKFLOW COMPLETE. All 4 phases done (Phase 3 won by B).", "COMPLETE", None),
        ("WORKFLOW_COMPLETE", "COMPLETE", None),
        ("COMPLETE - phases 1-6 finished", "COMPLETE", 6),
        ("All 4 phases done, PR 112 is open", "COMPLETE", None),
        ("Done. Everything merged.", "COMPLETE", None),
        ("DONE: phase 1. Phase 2 in progress", "ACTIVE", 2),
        ("Done with phase 1, next is phase 2", "ACTIVE", None),
        ("The workflow is not complete: phase 2 waits", "ACTIVE", None),
        ("Phase 4 of 6 - Hardening: paused, user on holiday until 2026-03-01.", "PAUSED", 4),
        ("On hold", "PAUSED", None),
        ("Paused until Jo is back. Phase 2 (Drafting) half done", "PAUSED", 2),
        ("Phase 2 paused on Monday, resumed on Tuesday", "ACTIVE", 2),
        ("Phase 3 FAILED", "FAILED", 3),
        ("Phase 3 failed twice, being reworked", "ACTIVE", 3),
        ("In Phase 3, QG-2 failed once (0.84), being reworked.", "ACTIVE", 3),
        ("Phase 1 failed. Phase 2 is drafted instead", "ACTIVE", None),
        ("Failed tests: 3", "ACTIVE", None),
        ("Cancelled by Jo", "CANCELLED", None),
        ("If cancelled by Jo, tell the team. Phase 2 in progress", "ACTIVE", 2),
    ],
)
def test_prose_says_how_the_work_stands(
    repo: Path, cli: Cli, prose: str, status: str, phase: int | None
) -> None:
    put(repo, f"  current_state: |\n    {prose}\n    More words.\n  next_step: go on\n")

    found = state(repo, cli)

    assert found["workflow_status"] == status
    if phase is not None or status == "COMPLETE":
        assert found["current_phase"] == phase


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("around", "status"),
    [
        ("orchestration: {name: a, status: complete}\n", "COMPLETE"),
        ("status: COMPLETED\n", "COMPLETE"),
        ("project: {status: cancelled}\n", "CANCELLED"),
        ("workflow: {status: active}\nstatus: complete\n", "ACTIVE"),
    ],
)
def test_status_beside_the_section_counts_wherever_it_stands(
    repo: Path, cli: Cli, around: str, status: str
) -> None:
    put(repo, "  current_state: merging (Phase 3 tournament won)\n  next_step: x\n", before=around)

    found = state(repo, cli)

    assert found["workflow_status"] == status
    assert found["current_phase"] == (None if status == "COMPLETE" else 3)


@pytest.mark.req("RES-25")
def test_finished_workflow_is_told_as_finished(repo: Path, cli: Cli) -> None:
    put(repo, FINISHED)
    Claude(repo)("SessionStart", source="startup")

    assert "unknown, COMPLETE" in cli("resumption", "show", cwd=repo).stdout
    assert "No plan." in cli("brief", cwd=repo).stdout
    assert shown(repo, cli)["quality_trajectory"]["gates_remaining"] == []


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "unknown (its words speak of phase 3)"), (2, "2 (its words speak of phase 3)")],
)
def test_number_and_words_that_disagree_are_told_wherever_the_phase_is(
    repo: Path, cli: Cli, number: int, told: str
) -> None:
    put(repo, f"""\
  last_checkpoint: CP-0
  current_phase: {number}
  current_state: We are in the middle of Phase 3 tournament, bracket 2 of 4.
  next_step: rerun judge on bracket 2
""")  # fmt: skip
    Claude(repo)("SessionStart", source="startup")

    assert told in cli("resumption", "show", cwd=repo).stdout
    assert f"phase {told}" in cli("brief", cwd=repo).stdout
    assert "speaks of phase 3" in cli("resumption", "migrate", cwd=repo).stdout
    assert told in cli("resumption", "show", cwd=repo).stdout


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("prose", "name"),
    [
        ("Phase 4 of 6 - Hardening: paused until Monday", "Hardening"),
        ("Phase 2 (Drafting) in progress. QG-1 passed", "Drafting"),
        ("Phase 3: API design, two agents at work", "API design"),
        ("Phase 2 (in progress), 3 of 5 lanes", ""),
        ("Phase 2: complete", ""),
        ("Phase 2 - the writer is on chapter 3 of 5", ""),
        ("Phase 1 (Audit) is done, Phase 2 (Headers) in progress", "Headers"),
    ],
)
def test_name_of_the_phase_is_taken_from_its_words(
    repo: Path, cli: Cli, prose: str, name: str
) -> None:
    put(repo, f'  current_state: "{prose}"\n  next_step: x\n')

    assert state(repo, cli)["current_phase_name"] == name


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("gates", "used"),
    [
        ("[{id: QG-1, score: 0.93, iterations: 2}, {id: QG-2, score: 0.95}, {id: QG-3}]", 4),
        ("[{gate: QG-A, final_score: 0.97}, {gate: QG-B, final_score: 0.92, iterations: 3}]", 4),
        ("{QG-1: {scores: [0.8, 0.9, 0.95]}, QG-2: {score: 0.92, iteration: 2}}", 5),
    ],
)
def test_iterations_that_each_gate_tells_are_added_up(
    repo: Path, cli: Cli, gates: str, used: int
) -> None:
    put(repo, f"""\
  recovery_state: {{current_phase: 2, updated_at: "2026-04-01T09:30:00Z"}}
  quality_trajectory:
    gates_completed: {gates}
""")  # fmt: skip

    assert shown(repo, cli)["quality_trajectory"]["total_iterations_used"] == used


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("lines", "updated"),
    [
        ("  # updated by hand 2026-02-14\n  current_state: paused until 2026-03-01\n", "02-14"),
        ("  current_state: 'Saved 2026-02-14. Demo on 2026-03-01'\n", "02-14"),
        ("  current_state: As of 14 Feb 2026 all is well, release 2026-03-01\n", "02-14"),
        ("  notes: {updated_at: 2026-02-14}\n  next_step: demo 2026-03-01\n", "02-14"),
        ("  next_step: begun 2026-02-14, deadline 2026-03-01\n", "02-14"),
        ("  current_state: to be updated by 2026-03-01, begun 2026-02-14\n", "02-14"),
        ("  notes: ['2026-02-14: A over B', '2026-02-03: no C']\n", "02-14"),
        ("  current_state: A won on 2026-02-14\n", "02-14"),
    ],
)
def test_section_is_as_old_as_the_file_says_and_not_as_a_deadline(
    repo: Path, cli: Cli, lines: str, updated: str
) -> None:
    put(repo, f"{lines}  last_checkpoint: a\n")  # written today: after every day in it

    assert state(repo, cli)["updated_at"] == f"2026-{updated}T00:00:00Z"


@pytest.mark.req("RES-19", "RES-25")
def test_keys_of_the_projects_own_are_told_as_the_files(repo: Path, cli: Cli) -> None:
    many = "".join(f"  own_{at}: {at}\n" for at in range(30))
    put(repo, f"""\
  recovery_state: {{current_phase: 2, hint: do not push, updated_at: "2026-04-01T09:30:00Z"}}
  version: 2.0
  warning: "do NOT rerun agent 2, it costs $40"
  lessons: [one, two]
  long: "{"x" * 900}"
{many}""")  # fmt: skip

    told = cli("resumption", "show", cwd=repo).stdout

    own = told[told.index("ALSO IN THE FILE (its words)") :]
    assert "«do NOT rerun agent 2, it costs $40»" in own
    assert "recovery_state.hint  «do not push»" in own
    assert "«one; two»" in own
    assert "version" not in own
    assert "x" * 200 not in own
    assert re.search(r"\d+ more", own)
    assert len(own.splitlines()) < 15

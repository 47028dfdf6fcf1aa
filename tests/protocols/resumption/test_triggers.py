"""A trigger changes what its row of the matrix allows, as its cell says, and nothing else."""

import copy
import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from places import ROOT
from resumption_samples import APPLIED, FIRST, LATER, PLAN, TRIGGERS, compaction, iteration, lived
from standfast.errors.base import BadScore, TriggerRefused
from standfast.protocols.resumption.rules import triggers as types
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.section_schema import SUB_SECTIONS
from standfast.protocols.resumption.rules.trigger_values import read_trigger, write_trigger
from standfast.protocols.resumption.rules.triggers import (
    Acknowledged,
    AgentCompletion,
    Applied,
    CompactionEvent,
    CrossPhaseDecision,
    Decision,
    Defects,
    File,
    Files,
    GateIteration,
    Pattern,
    PhaseComplete,
    PhaseStart,
    Sections,
    Summary,
    ThresholdCrossing,
)
from standfast.protocols.resumption.rules.update_matrix import (
    MATRIX,
    Resumption,
    apply,
    begin,
    number_of,
)

# The protocol's table, written out once more: columns as there, T1 with files_to_read as settled.
COLUMNS = (
    *("recovery_state", "files_to_read", "quality_trajectory", "defect_summary"),
    *("decision_log", "agent_summaries", "compaction_events"),
)
ROWS = {
    "T1": "WU-----",
    "T2": "WU-----",
    "T3": "W-WWC--",
    "T4": "W----A-",
    "T5": "W-----A",
    "T6": "W---A--",
    "T7": "W------",
}
CELLS = [
    pytest.param(number, column, cell, id=f"{number}-{column}-{cell}")
    for number, row in ROWS.items()
    for column, cell in zip(COLUMNS, row, strict=True)
]
FORBIDDEN = [each for each in CELLS if each.values[2] == "-"]
PART = {  # something for each sub-section that some trigger may say of it
    "recovery_state": LATER,
    "files_to_read": Files(),
    "quality_trajectory": iteration("qg-2", "0.9").quality_trajectory,
    "defect_summary": Defects(),
    "decision_log": Decision("a", "b"),
    "agent_summaries": Summary("a", "b", "c"),
    "compaction_events": compaction().compaction_events,
}


# The matrix.


@pytest.mark.req("RES-04", "RES-15")
@pytest.mark.parametrize(("number", "column", "cell"), CELLS)
def test_cell_of_the_matrix(number: str, column: str, cell: str) -> None:
    before = lived()
    after = apply(before, TRIGGERS[number])

    assert MATRIX[number][column] == cell
    assert number_of(TRIGGERS[number]) == number
    old, new = before.section[column], after.section[column]
    assert (old is new) if cell == "-" else (old != new)
    assert validate(after.section) == []


@pytest.mark.req("RES-04")
@pytest.mark.parametrize(("number", "column", "cell"), FORBIDDEN)
def test_what_a_row_forbids_has_no_place_in_its_trigger(
    number: str, column: str, cell: str
) -> None:
    kind: typing.Any = types.TRIGGERS[number]
    trigger: typing.Any = TRIGGERS[number]

    with pytest.raises(TypeError, match=column):
        kind(**trigger._asdict(), **{column: PART[column]})
    with pytest.raises(ValueError, match=column):
        trigger._replace(**{column: PART[column]})
    with pytest.raises(TriggerRefused, match=f"`{column}` cannot be said"):
        read_trigger({**write_trigger(trigger), column: {}})


@pytest.mark.req("RES-04")
@pytest.mark.parametrize("number", ROWS)
def test_fields_of_a_trigger_are_its_row(number: str) -> None:
    allowed = {column for column, cell in MATRIX[number].items() if cell != "-"}

    assert set(typing.get_type_hints(types.TRIGGERS[number])) == allowed


@pytest.mark.req("RES-04", "RES-15")
def test_type_checker_refuses_what_a_row_forbids(tmp_path: Path) -> None:
    """Every cell as a line of a program: mypy complains of those that say `-`, and of no other."""
    lines = [
        "from standfast.protocols.resumption.rules.triggers import *",
        "def say(recovery_state: Recovery, files_to_read: Sections, files: Files,",
        "        quality_trajectory: Iteration, defect_summary: Defects, decision_log: Decision,",
        "        agent_summaries: Summary, compaction_events: Compaction) -> None:",
    ]
    expected = []
    for number, row in ROWS.items():
        fields = [name for name, cell in zip(COLUMNS, row, strict=True) if cell != "-"]
        for column, cell in zip(COLUMNS, row, strict=True):
            said = ", ".join(f"{name}={name}" for name in dict.fromkeys([*fields, column]))
            said = said.replace("=files_to_read", "=files") if number == "T2" else said
            lines.append(f"    {types.TRIGGERS[number].__name__}({said})")
            expected += [(len(lines), "call-arg")] if cell == "-" else []
    lines.append("    PhaseStart(recovery_state, files)")  # T1 may not even hold new files
    lines.append(
        "    GateIteration(recovery_state, quality_trajectory, defect_summary, Applied(''))"
    )
    expected += [(len(lines) - 1, "arg-type"), (len(lines), "arg-type")]
    program = tmp_path / "program.py"
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", program.name],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    said_wrong = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [
        (int(each.split(":")[1]), each.rpartition("[")[2].rstrip("]")) for each in said_wrong
    ] == expected, done.stdout + done.stderr


@pytest.mark.req("RES-15")
def test_files_smuggled_into_a_phase_start_are_not_added() -> None:
    smuggled: typing.Any = Files({}, (File("EVIL.md", 1, "no"),))
    before = lived()

    after = apply(before, PhaseStart(LATER, smuggled))

    assert after.section["files_to_read"] == before.section["files_to_read"]


@pytest.mark.req("RES-17")
def test_decision_smuggled_into_a_gate_is_not_applied() -> None:
    smuggled: typing.Any = Applied("RD-001")

    with pytest.raises(TriggerRefused, match="by T6"):
        apply(lived(), iteration("qg-1", "0.9", smuggled))


@pytest.mark.req("RES-05")
@pytest.mark.parametrize("number", ROWS)
def test_nothing_is_changed_in_place(number: str) -> None:
    before = lived()
    kept = copy.deepcopy(before)

    apply(before, TRIGGERS[number])

    assert before == kept


# recovery_state.


@pytest.mark.req("RES-05", "RES-19")
@pytest.mark.parametrize("number", ROWS)
def test_every_trigger_overwrites_the_recovery_state_and_spares_the_fields_of_v1(
    number: str,
) -> None:
    after = apply(lived(), TRIGGERS[number]).section["recovery_state"]

    assert after == {**LATER._asdict(), "cross_session_portable": True}


@pytest.mark.req("RES-19")
def test_unknown_fill_is_null_and_the_checkpoint_is_the_one_given() -> None:
    state = LATER._replace(context_fill_at_update=None, last_checkpoint="CP-012")

    after = apply(lived(), ThresholdCrossing(state)).section["recovery_state"]

    assert after["context_fill_at_update"] is None
    assert after["last_checkpoint"] == "CP-012"


@pytest.mark.parametrize(
    "wrong",
    [
        {"current_phase": -1},
        {"workflow_status": "active"},
        {"updated_at": "2026-02-30T10:00:00Z"},
        {"updated_at": "2026-02-20 10:00"},
        {"context_fill_at_update": 1.5},
        {"last_checkpoint": ""},
        {"next_step": None},
    ],
    ids=str,
)
def test_state_that_breaks_the_schema_is_refused_by_name(wrong: dict[str, typing.Any]) -> None:
    with pytest.raises(TriggerRefused, match=rf"`recovery_state\.{next(iter(wrong))}`"):
        apply(lived(), ThresholdCrossing(LATER._replace(**wrong)))


# files_to_read.


@pytest.mark.req("RES-05", "RES-15")
def test_sections_are_replaced_and_not_added_to() -> None:
    state = lived()
    for phase in ("2", "3"):
        state = apply(state, PhaseStart(LATER, Sections({"PLAN.md": (phase,)})))

    assert state.section["files_to_read"] == [
        {"path": "PLAN.md", "priority": 1, "purpose": "the plan", "sections": ["3"]},
        "ORCHESTRATION.yaml",
    ]


@pytest.mark.req("RES-15")
def test_only_the_end_of_a_phase_adds_files_and_none_twice() -> None:
    new, again = File("NEW.md", 2, "new"), File("PLAN.md", 9, "other", ("phase 3",))
    after = apply(lived(), PhaseComplete(LATER, Files({}, (new, again, new))))

    assert after.section["files_to_read"] == [
        {"path": "PLAN.md", "priority": 1, "purpose": "the plan", "sections": ["phase 3"]},
        "ORCHESTRATION.yaml",
        {"path": "NEW.md", "priority": 2, "purpose": "new"},
    ]
    with pytest.raises(TriggerRefused, match=r"does not list `NEW\.md`") as caught:
        apply(lived(), PhaseStart(LATER, Sections({"NEW.md": ("a",)})))
    assert "T2" in caught.value.remedy


def test_file_that_is_added_again_keeps_its_sections_and_a_new_one_takes_those_given() -> None:
    plan, new = PLAN._replace(sections=()), File("NEW.md", 2, "new", ("a",))
    after = apply(lived(), PhaseComplete(LATER, Files({"NEW.md": ("b",)}, (plan, new))))

    assert [each["sections"] for each in after.section["files_to_read"][::2]] == [
        ["phase 1"],
        ["b"],
    ]


def test_bare_path_becomes_structured_to_hold_sections() -> None:
    after = apply(lived(), PhaseStart(LATER, Sections({"ORCHESTRATION.yaml": ("phases",)})))

    assert after.section["files_to_read"][1] == {
        "path": "ORCHESTRATION.yaml",
        "priority": 2,
        "purpose": "",
        "sections": ["phases"],
    }


# quality_trajectory and defect_summary.


@pytest.mark.req("RES-07", "RES-16")
def test_failing_iterations_count_and_a_gate_moves_when_it_passes() -> None:
    state = begin(FIRST, [PLAN], ["qg-1", "qg-2"])
    for value in ("0.80", "0.9199"):
        state = apply(state, iteration("qg-1", value))
    failing = state.section["quality_trajectory"]
    passed = apply(state, iteration("qg-1", "0.92")).section["quality_trajectory"]

    assert (failing["current_gate"], failing["current_gate_iteration"]) == ("qg-1", 2)
    assert (failing["gates_completed"], failing["gates_remaining"]) == ([], ["qg-1", "qg-2"])
    assert failing["total_iterations_used"] == 2
    assert passed == {
        "gates_completed": ["qg-1"],
        "gates_remaining": ["qg-2"],
        "current_gate": None,
        "current_gate_iteration": None,
        "score_history": {"qg-1": [0.8, 0.9199, 0.92]},
        "lowest_dimension": "completeness",
        "total_iterations_used": 3,
    }


@pytest.mark.req("RES-07")
def test_lowest_dimension_looks_at_every_gate_not_at_the_last_one() -> None:
    bad = {**iteration("qg-1", "0.95").quality_trajectory.scores, "evidence": "0.30"}
    worst_now = {**iteration("qg-1", "0.95").quality_trajectory.scores, "traceability": "0.80"}
    state = begin(FIRST, [PLAN], ["qg-1", "qg-2"])
    lowest = []
    for gate, given in (("qg-1", bad), ("qg-2", worst_now)):
        trigger = iteration(gate, "0.95")
        scored: typing.Any = trigger.quality_trajectory._replace(scores=given)
        state = apply(state, trigger._replace(quality_trajectory=scored))
        lowest.append(state.section["quality_trajectory"]["lowest_dimension"])

    assert lowest == ["evidence", "evidence"]
    assert [(each.gate, each.iteration) for each in state.results] == [("qg-1", 1), ("qg-2", 1)]


@pytest.mark.req("RES-07")
def test_gate_that_nobody_listed_is_remaining_until_it_passes() -> None:
    once = apply(lived(), iteration("qg-9", "0.5"))
    twice = apply(once, iteration("qg-9", "1"))

    assert once.section["quality_trajectory"]["gates_remaining"] == ["qg-1", "qg-2", "qg-9"]
    assert twice.section["quality_trajectory"]["gates_remaining"] == ["qg-1", "qg-2"]
    assert twice.section["quality_trajectory"]["gates_completed"] == ["qg-9"]


def test_gate_that_passed_is_not_judged_again() -> None:
    passed = apply(lived(), iteration("qg-1", "0.95"))

    with pytest.raises(TriggerRefused, match="`qg-1` has passed already"):
        apply(passed, iteration("qg-1", "0.2"))


@pytest.mark.parametrize("gate", ["", "  ", "qg\u200b1", "qg\n1"])
def test_gate_needs_a_name_that_can_be_seen(gate: str) -> None:
    with pytest.raises(TriggerRefused, match="no name that can be seen"):
        apply(lived(), iteration(gate, "0.9"))


@pytest.mark.parametrize("wrong", [{"evidence": None}, {"evidence": "1.2"}, {"beauty": "1"}])
def test_iteration_with_scores_that_are_none_is_refused(wrong: dict[str, typing.Any]) -> None:
    trigger = iteration("qg-1", "0.9")
    given = {**trigger.quality_trajectory.scores, **wrong}
    scored = trigger.quality_trajectory._replace(scores=given)

    with pytest.raises(BadScore):
        apply(lived(), trigger._replace(quality_trajectory=scored))


@pytest.mark.req("RES-05")
def test_defects_add_up_and_patterns_learn_their_resolution() -> None:
    drift = Pattern("drift", ("qg-1",))
    first = Defects(3, 1, ("D-1", "D-2"), (drift,), "D-1")
    second = Defects(
        1, 2, ("D-3",), (Pattern("drift", ("qg-2",), "pinned"), Pattern("late")), "D-3"
    )
    state = begin(FIRST, [PLAN], ["qg-1"])
    for defects in (first, second):
        state = apply(state, iteration("qg-1", "0.5")._replace(defect_summary=defects))

    assert state.section["defect_summary"] == {
        "total_defects_found": 4,
        "total_defects_resolved": 3,
        "unresolved_defects": ["D-3"],
        "recurring_patterns": [
            {"pattern": "drift", "gates_affected": ["qg-1", "qg-2"], "resolution": "pinned"},
            {"pattern": "late", "gates_affected": []},
        ],
        "last_gate_primary_defect": "D-3",
    }


def test_totals_of_defects_never_fall() -> None:
    with pytest.raises(TriggerRefused):
        apply(lived(), iteration("qg-1", "0.5")._replace(defect_summary=Defects(found=-1)))


# decision_log.


@pytest.mark.req("RES-05", "RES-06")
def test_gate_appends_a_decision_only_if_one_was_made() -> None:
    without = apply(lived(), iteration("qg-1", "0.9"))
    made = apply(lived(), iteration("qg-1", "0.9", Decision("defer", "time", (3,))))

    assert without.section["decision_log"] == lived().section["decision_log"]
    assert made.section["decision_log"][1] == {
        "id": "RD-002",
        "gate": "qg-1",
        "iteration": 2,
        "decision": "defer",
        "rationale": "time",
        "affects_phases": [3],
        "applied": False,
    }


@pytest.mark.req("RES-06", "RES-17")
def test_applied_becomes_true_and_stays_so() -> None:
    state = apply(lived(), CrossPhaseDecision(LATER, Decision("b", "c")))
    before = state.section["decision_log"]
    once = apply(state, APPLIED)

    assert once.section["decision_log"] == [{**before[0], "applied": True}, before[1]]
    assert apply(once, APPLIED).section["decision_log"] == once.section["decision_log"]
    with pytest.raises(TriggerRefused, match="no decision `RD-009`"):
        apply(state, CrossPhaseDecision(LATER, Applied("RD-009")))


@pytest.mark.req("RES-06")
def test_ids_go_on_past_999() -> None:
    state = lived()
    entry = state.section["decision_log"][0]
    many = [{**entry, "id": f"RD-{number:03d}"} for number in range(1, 1000)]
    state = Resumption({**state.section, "decision_log": many}, state.results)

    assert apply(state, TRIGGERS["T6"]).section["decision_log"][-1]["id"] == "RD-1000"


# agent_summaries.


@pytest.mark.req("RES-18")
@pytest.mark.parametrize(
    ("status", "finding", "line"),
    [
        ("PASS", "All 25 deps compatible", "PASS. All 25 deps compatible."),
        ("PASS.", "No blockers. ", "PASS. No blockers."),
        ("DONE", "403 files\nmodified\twith headers", "DONE. 403 files modified with headers."),
        ("DONE", "red \x1b[31m", "DONE. red \\x1b[31m."),
        ("FAIL", "x" * 900, f"FAIL. {'x' * 249}…."),
    ],
)
def test_summary_is_one_line(status: str, finding: str, line: str) -> None:
    after = apply(lived(), AgentCompletion(LATER, Summary("new", status, finding)))

    assert after.section["agent_summaries"]["new"] == line


@pytest.mark.req("RES-18", "RES-06")
def test_another_run_is_another_entry() -> None:
    state = lived()
    for finding in ("second", "third", "fourth"):
        again = Summary("audit-executor", "DONE", finding)
        state = apply(state, AgentCompletion(LATER, again))

    assert state.section["agent_summaries"] == {
        "audit-executor": "PASS. All compatible.",
        "audit-executor-retry": "DONE. second.",
        "audit-executor-retry2": "DONE. third.",
        "audit-executor-retry3": "DONE. fourth.",
    }


def test_agent_may_be_called_as_a_field_is() -> None:
    after = apply(lived(), AgentCompletion(LATER, Summary("updated_at", "DONE", "x")))

    assert validate(after.section) == []


@pytest.mark.parametrize(("status", "finding"), [("", "x"), ("DONE", " . "), ("...", "x")])
def test_summary_that_says_nothing_is_refused(status: str, finding: str) -> None:
    with pytest.raises(TriggerRefused, match="no status or nothing"):
        apply(lived(), AgentCompletion(LATER, Summary("a", status, finding)))


# compaction_events.


@pytest.mark.req("RES-05", "RES-06", "RES-08")
def test_compaction_is_appended_unacknowledged_and_acknowledged_alone() -> None:
    two = apply(lived(), TRIGGERS["T5"])
    told = apply(two, CompactionEvent(LATER, Acknowledged(("CX-002",))))

    assert two.section["compaction_events"]["count"] == 2
    assert two.section["compaction_events"]["events"][1] == {
        "id": "CX-002",
        "timestamp": "2026-02-20T10:20:00Z",
        "trigger": "auto",
        "estimated_fill_before": 0.83,
        "active_phase": 1,
        "active_gate": "qg-1",
        "active_gate_iteration": 1,
        "checkpoint_file": "cx-002-checkpoint.json",
        "acknowledged": False,
    }
    flags = [event["acknowledged"] for event in told.section["compaction_events"]["events"]]
    assert (told.section["compaction_events"]["count"], flags) == (2, [False, True])
    with pytest.raises(TriggerRefused, match="no compaction `CX-009`"):
        apply(two, CompactionEvent(LATER, Acknowledged(("CX-009",))))


def test_new_section_that_breaks_the_schema_is_refused() -> None:
    with pytest.raises(TriggerRefused, match="`files_to_read` is shorter than 1"):
        begin(FIRST, [])


def test_every_sub_section_has_a_column() -> None:
    assert SUB_SECTIONS == COLUMNS
    assert isinstance(TRIGGERS["T3"], GateIteration)

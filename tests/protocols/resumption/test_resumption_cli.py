"""`standfast resumption` from outside."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from claude_calls import SESSION, Claude
from conftest import Cli
from resumption_files import AROUND, FILE, V1, journalled, old, put, section
from standfast.errors.base import DiskFailed
from standfast.journal.store import Journal
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.surfaces.cli import troubles
from standfast.surfaces.cli.command_context import Context
from standfast.surfaces.cli.screen import Screen

PHASE = ("--phase", "1", "--phase-name", "audit", "--next-step", "read the plan")
IN_SESSION = {"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDECODE": "1"}
ALL_SCORES = [word for name in WEIGHTS for word in ("--score", f"{name}=0.9")]


def trigger(*words: str) -> tuple[str, ...]:
    return ("resumption", "trigger", *words)


@pytest.mark.req("RES-01", "RES-03")
def test_first_trigger_begins_the_section_and_writes_the_file(repo: Path, cli: Cli) -> None:
    done = cli(*trigger("T1", *PHASE, "--activity", "phase-1-agent-execution"), cwd=repo)

    assert (done.stdout, done.stderr, done.returncode) == (
        "Recorded T1: phase 1 audit, ACTIVE\n", "", 0,
    )  # fmt: skip
    state = section(repo)["recovery_state"]
    assert state["current_phase"] == 1
    assert state["current_phase_name"] == "audit"
    assert state["next_step"] == "read the plan"
    assert state["context_fill_at_update"] is None
    assert state["last_checkpoint"] is None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", state["updated_at"])
    assert cli("resumption", "validate", cwd=repo).returncode == 0


@pytest.mark.req("RES-05")
def test_activity_and_name_follow_from_the_trigger_where_nobody_says_them(
    repo: Path, cli: Cli
) -> None:
    said = []
    for words in (
        ("T1", *PHASE),
        ("T4", "--agent", "a", "--result", "PASS", "--finding", "all well"),
        ("T1", "--phase", "2"),
        ("T3", "--gate", "QG-2", *ALL_SCORES),
        ("T5", "--compaction", "auto"),
        ("T7", "--activity", "idle"),
    ):
        assert cli(*trigger(*words), cwd=repo).returncode == 0
        state = section(repo)["recovery_state"]
        said.append((state["current_phase_name"], state["current_activity"]))

    assert said == [
        ("audit", "phase-1-agent-execution"),
        ("audit", "phase-1-agent-execution"),
        ("", "phase-2-agent-execution"),
        ("", "qg-2-iteration-1"),
        ("", "compaction-recovery"),
        ("", "idle"),
    ]


@pytest.mark.req("RES-01")
def test_what_stands_around_the_section_stays(repo: Path, cli: Cli) -> None:
    put(repo, old())

    assert cli(*trigger("T7", "--fill", "0.6"), cwd=repo).returncode == 0

    assert (repo / FILE).read_text(encoding="utf-8").startswith(AROUND)
    state = section(repo)["recovery_state"]
    assert state["context_fill_at_update"] == 0.6
    assert state["next_step"] == old()["recovery_state"]["next_step"]
    assert state["cross_session_portable"] is True


@pytest.mark.req("RES-05", "RES-15")
def test_phases_replace_sections_and_only_their_end_adds_files(repo: Path, cli: Cli) -> None:
    put(repo, old())
    cli(*trigger("T1", "--sections", "PLAN.md=phase 2,risks"), cwd=repo)
    cli(*trigger("T2", "--add-file", "NEW.md", "--priority", "2", "--purpose", "what is new",
                 "--sections", "NEW.md=all"), cwd=repo)  # fmt: skip

    listed = section(repo)["files_to_read"]

    assert listed[0]["sections"] == ["phase 2", "risks"]
    new = {"path": "NEW.md", "priority": 2, "purpose": "what is new", "sections": ["all"]}
    assert listed[-1] == new
    done = cli(*trigger("T1", "--sections", "UNKNOWN.md=x"), cwd=repo)
    assert (done.returncode, "UNKNOWN.md" in done.stderr) == (1, True)


@pytest.mark.req("RES-05", "RES-07")
def test_pattern_learns_how_it_was_resolved(repo: Path, cli: Cli) -> None:
    first = ("--gate", "QG-1", *ALL_SCORES, "--pattern", "drift")
    assert cli(*trigger("T3", *first), cwd=repo).returncode == 0
    scores = [score for score in ALL_SCORES if score != "--score"]
    done = cli("gate", "record", "QG-1", *scores, "--resolution", "drift=pinned = done", cwd=repo)

    assert done.returncode == 0, done.stderr
    (pattern,) = section(repo)["defect_summary"]["recurring_patterns"]
    assert pattern["resolution"] == "pinned = done"
    assert pattern["gates_affected"] == ["QG-1"]
    done = cli("gate", "record", "QG-1", *scores, "--resolution", "drift", cwd=repo)
    assert "`drift` is not PATTERN=HOW" in done.stderr


@pytest.mark.req("RES-16")
@pytest.mark.parametrize("score", ["composite=0.93", "composite_score=0.93"])
def test_composite_alone_is_refused_with_what_is_needed(repo: Path, cli: Cli, score: str) -> None:
    done = cli("gate", "record", "QG-1", score, cwd=repo)

    assert done.returncode == 1
    assert "The composite is weighed from them" in done.stderr


@pytest.mark.req("RES-05")
@pytest.mark.parametrize("command", ["resumption", "gate"])
def test_help_names_resolutions_and_composites(cli: Cli, command: str) -> None:
    shown = " ".join(cli(command, "--help").stdout.split())

    assert "--resolution" in shown
    assert "a composite alone is not taken" in shown


@pytest.mark.req("RES-05", "RES-07", "RES-16")
def test_every_iteration_of_a_gate_is_a_t3(repo: Path, cli: Cli) -> None:
    done = cli(*trigger("T3", "--gate", "QG-1", *ALL_SCORES, "--found", "3", "--resolved", "1",
                        "--unresolved", "D-2", "--unresolved", "D-3", "--pattern", "drift",
                        "--primary", "D-2", "--decision", "pin it", "--rationale", "drift"),
               cwd=repo)  # fmt: skip

    assert done.stdout == "Recorded T3: QG-1 iteration 1, 0.9 REVISE\n", done.stderr
    found = section(repo)
    assert found["quality_trajectory"]["score_history"] == {"QG-1": [0.9]}
    assert found["quality_trajectory"]["total_iterations_used"] == 1
    assert found["defect_summary"]["unresolved_defects"] == ["D-2", "D-3"]
    assert found["defect_summary"]["recurring_patterns"][0]["gates_affected"] == ["QG-1"]
    (decision,) = found["decision_log"]
    assert (decision["id"], decision["gate"], decision["iteration"]) == ("RD-001", "QG-1", 1)
    assert "pin it" in cli("status", cwd=repo).stdout


@pytest.mark.req("RES-18")
def test_agent_that_runs_again_gets_a_line_of_its_own(repo: Path, cli: Cli) -> None:
    words = ("--agent", "auditor", "--result", "PASS", "--finding")
    cli(*trigger("T4", *words, "all 25\nfit"), cwd=repo)
    done = cli(*trigger("T4", *words, "all 26 fit"), cwd=repo)

    assert done.stdout == "Recorded T4: auditor-retry\n"
    assert section(repo)["agent_summaries"] == {
        "auditor": "PASS. all 25 fit.",
        "auditor-retry": "PASS. all 26 fit.",
    }


def test_compaction_is_counted_and_acknowledged_later(repo: Path, cli: Cli) -> None:
    first = cli(*trigger("T5", "--compaction", "auto", "--fill", "0.83", *PHASE), cwd=repo)
    assert first.stdout == "Recorded CX-001\n", first.stderr
    (event,) = section(repo)["compaction_events"]["events"]
    assert (event["estimated_fill_before"], event["acknowledged"]) == (0.83, False)

    done = cli(*trigger("T5", "--acknowledge"), cwd=repo)

    assert done.stdout == "Recorded T5: CX-001 acknowledged\n"
    assert section(repo)["compaction_events"]["events"][0]["acknowledged"] is True


@pytest.mark.req("RES-06", "RES-17")
def test_decision_is_recorded_once_for_journal_and_section(repo: Path, cli: Cli) -> None:
    cli("note", "tabs are four blanks", cwd=repo)

    first = cli("resumption", "decide", "keep SPDX", "--rationale", "short", "--affects", "2",
                "--affects", "3", cwd=repo)  # fmt: skip
    cli("note", "no vendoring", cwd=repo)

    assert first.stdout == "Recorded RD-002\n", first.stderr
    log = section(repo)["decision_log"]
    assert [entry["id"] for entry in log] == ["RD-001", "RD-002", "RD-003"]
    assert [entry["decision"] for entry in log][1:] == ["keep SPDX", "no vendoring"]
    assert log[1]["affects_phases"] == [2, 3]
    done = cli("resumption", "decide", "--apply", "RD-002", cwd=repo)
    assert done.stdout == "Recorded RD-002 is applied\n", done.stderr
    assert [entry["applied"] for entry in section(repo)["decision_log"]] == [False, True, False]


@pytest.mark.req("RES-19")
def test_checkpoint_that_was_written_last_is_named(repo: Path, cli: Cli) -> None:
    cli(*trigger("T1", *PHASE), cwd=repo)
    cli("checkpoint", "write", "--run-id", "r", "--phase", "P1", "--stage", "pre_pr",
        "--status", "ready", cwd=repo)  # fmt: skip

    cli(*trigger("T7"), cwd=repo)

    assert section(repo)["recovery_state"]["last_checkpoint"] == "CP-001"


@pytest.mark.req("RES-04")
@pytest.mark.parametrize(
    ("number", "words", "has_it"),
    [
        ("T1", ("--add-file", "x"), "T2"),
        ("T1", ("--gate", "x"), "T3"),
        ("T4", ("--decision", "x"), "T3, T6"),
        ("T6", ("--found", "1"), "T3"),
        ("T7", ("--sections", "a=b"), "T1, T2"),
        ("T2", ("--acknowledge",), "T5"),
    ],
)
def test_flag_that_the_row_forbids_is_refused_by_name(
    repo: Path, cli: Cli, number: str, words: tuple[str, ...], has_it: str
) -> None:
    done = cli(*trigger(number, *words), cwd=repo)

    assert done.returncode == 2
    assert f"{words[0]} cannot be said with {number}" in done.stderr
    assert f"It goes with `trigger` {has_it};" in done.stderr
    assert not (repo / FILE).exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("trigger",), "name a trigger, T1 to T7"),
        (("trigger", "T8"), "there is no trigger `T8`"),
        (("trigger", "T1", "T2"), "one trigger at a time"),
        (("trigger", "T4", "--agent", "a"), "--result and --finding are missing"),
        (("trigger", "T5"), "either --compaction or --acknowledge"),
        (("trigger", "T3", "--gate", "g", "--score", "beauty"), "`beauty` is not DIMENSION=SCORE"),
        (("trigger", "T2", "--priority", "2"), "--add-file is missing"),
        (("trigger", "T1", "--status", "HAPPY"), "invalid choice: 'HAPPY'"),
        (("decide",), "say what was decided"),
        (("decide", "x", "--apply", "RD-001"), "say what was decided, or name a decision"),
        (("show", "x"), "`show` takes no `x`"),
        (("show", "--phase", "1"), "--phase cannot be said with show"),
        (("validate", "--from", "x"), "--from goes with `trigger`"),
    ],
)
def test_wrong_call_is_told_and_nothing_is_recorded(
    repo: Path, cli: Cli, words: tuple[str, ...], says: str
) -> None:
    done = cli("resumption", *words, cwd=repo)

    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert not (repo / ".git" / "standfast" / "journal.db").exists() or not (repo / FILE).exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("T1", "--phase", "-1"), "`recovery_state.current_phase` is below 0"),
        (("T1", "--fill", "1.5"), "`recovery_state.context_fill_at_update` is above 1"),
        (("T1", "--fill", "nan"), "context_fill_at_update"),
        (("T6", "--apply", "RD-009"), "there is no decision `RD-009`"),
        (("T3", "--gate", "g", "--score", "evidence=0.9"), "no score for completeness"),
        (("T3", "--gate", "g", "--score", "evidence=2"), "not a number from 0 to 1"),
    ],
)
def test_refused_trigger_changes_nothing(
    repo: Path, cli: Cli, words: tuple[str, ...], says: str
) -> None:
    cli(*trigger("T1", *PHASE), cwd=repo)
    before = (repo / FILE).read_bytes()

    done = cli(*trigger(*words), cwd=repo)

    assert done.returncode == 1
    assert says in done.stderr
    assert (repo / FILE).read_bytes() == before


def test_whole_trigger_may_come_as_json(repo: Path, cli: Cli) -> None:
    value = {
        "trigger": "T6",
        "recovery_state": {"current_phase": 3, "next_step": "go on"},
        "decision_log": {"decision": "one table", "rationale": "speed", "affects_phases": [4]},
    }

    done = cli("resumption", "trigger", "--from", "-", "--json", cwd=repo, input=json.dumps(value))

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["id"] == "RD-001"
    found = section(repo)
    assert found["recovery_state"]["current_phase"] == 3
    assert found["decision_log"][0]["affects_phases"] == [4]


@pytest.mark.req("RES-04")
@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"trigger": "T1", "decision_log": {}}, "`decision_log` cannot be said here"),
        ({"trigger": "T9"}, "the trigger in the file is `T9`"),
        ({"trigger": "T1", "recovery_state": {"updated_at": "x"}}, "updated_at` cannot be said"),
        ({"trigger": "T1", "recovery_state": {"current_phase": "1"}}, "is not a whole number"),
        ({"trigger": "T1", "recovery_state": []}, "`recovery_state` is not a mapping"),
        ([], "this is no JSON object"),
    ],
)
def test_json_that_is_no_trigger_is_refused(repo: Path, cli: Cli, value: object, says: str) -> None:
    (repo / "t.json").write_text(json.dumps(value), encoding="utf-8")

    done = cli("resumption", "trigger", "--from", "t.json", cwd=repo)

    assert done.returncode in {1, 2}
    assert says in done.stderr
    assert not (repo / FILE).exists()


@pytest.mark.req("RES-03")
def test_advisory_trigger_is_never_an_error(repo: Path, cli: Cli) -> None:
    (repo / FILE).write_text("resumption: [\n", encoding="utf-8")

    done = cli(*trigger("T7", "--fill", "0.9"), cwd=repo)

    assert (done.returncode, done.stdout) == (0, "")
    assert "T7 is advisory and was left out" in done.stderr
    assert f"{FILE}:" in done.stderr
    assert cli(*trigger("T1", *PHASE), cwd=repo).returncode not in {0, 70}
    assert (repo / FILE).read_text(encoding="utf-8") == "resumption: [\n"


@pytest.mark.req("RES-03")
def test_advisory_trigger_is_left_out_while_the_journal_is_busy(repo: Path, cli: Cli) -> None:
    cli(*trigger("T1", *PHASE), cwd=repo)
    with Journal(str(repo / ".git" / "standfast")).writing():
        done = cli("--set", "lock_timeout_s=0", *trigger("T7"), cwd=repo)
        told = cli("--set", "lock_timeout_s=0", *trigger("T6", "--decision", "x"), cwd=repo)

    assert (done.returncode, done.stdout) == (0, "")
    assert "T7 is advisory and was left out" in done.stderr
    assert told.returncode == 23


def test_note_loads_no_rules_of_documents_where_there_are_none(repo: Path) -> None:
    script = (
        "import sys; from standfast.surfaces.cli.entry import main\n"
        "status = main(['note', 'x'])\n"
        "sys.exit(status or 'standfast.protocols.resumption.rules.update_matrix' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", script], cwd=repo, check=False).returncode == 0


BAD_FILES = {
    "broken": ("a: [\nresumption:\n", r"ORCHESTRATION.yaml:\d+: "),
    "twice": ("resumption:\n  a: 1\nb: 2\nresumption:\n  a: 2\n", r"ORCHESTRATION.yaml:4: .*twice"),
    "documents": ("a: 1\n---\nb: 2\n", r"ORCHESTRATION.yaml:\d+: .*document"),
    "none": ("a: 1\n", r"ORCHESTRATION.yaml:1: `resumption` is missing"),
}


@pytest.mark.parametrize("name", list(BAD_FILES))
def test_bad_file_is_told_with_its_line_and_left_alone(repo: Path, cli: Cli, name: str) -> None:
    text, says = BAD_FILES[name]
    (repo / FILE).write_text(text, encoding="utf-8")

    done = cli("resumption", "validate", cwd=repo)

    assert done.returncode == 1
    assert re.search(says, done.stdout), done.stdout + done.stderr
    assert not (repo / ".git" / "standfast").exists()
    machine = json.loads(cli("resumption", "validate", "--json", cwd=repo).stdout)
    assert {"file", "line", "path", "problem", "remedy"} <= set(machine[0])
    if name != "none":
        tried = cli("resumption", "decide", "x", cwd=repo)
        assert tried.returncode not in {0, 70}, tried
        assert "Traceback" not in tried.stderr
        assert (repo / FILE).read_text(encoding="utf-8") == text
        assert cli("resumption", "show", cwd=repo).returncode not in {0, 70}


@pytest.mark.parametrize(
    ("wrong", "right", "says"),
    [
        ("workflow_status: ACTIVE", "workflow_status: HAPPY", "`recovery_state.workflow_status`"),
        ("id: RD-001", "id: RD-1", "`decision_log[0].id` is `RD-1`"),
        ('updated_at: "2026-02-20T10:00:00Z"', "updated_at: 2026-02-20T10:00:00Z", "quotes"),
    ],
)
def test_every_finding_has_its_line(
    repo: Path, cli: Cli, wrong: str, right: str, says: str
) -> None:
    put(repo, old())
    text = (repo / FILE).read_text(encoding="utf-8")
    (repo / FILE).write_text(text.replace(wrong, right), encoding="utf-8")
    line = text[: text.index(wrong)].count("\n") + 1

    done = cli("resumption", "validate", cwd=repo)

    assert done.returncode == 1
    assert f"{FILE}:{line}: `" in done.stdout, done.stdout
    assert says in done.stdout


@pytest.mark.req("RES-09")
def test_first_version_is_a_finding_and_migrates_once(repo: Path, cli: Cli) -> None:
    (repo / FILE).write_text(V1, encoding="utf-8")
    found = cli("resumption", "validate", cwd=repo)
    assert (found.returncode, "`standfast resumption migrate`" in found.stdout) == (1, True)
    refused = cli("resumption", "decide", "x", cwd=repo)
    assert refused.returncode not in {0, 70}
    assert "migrate" in refused.stderr

    done = cli("resumption", "migrate", cwd=repo)

    assert done.returncode == 0, done.stderr
    assert re.search(r"line \d+: `current_state` is now `recovery_state.current_act", done.stdout)
    new = section(repo)
    state = new["recovery_state"]
    assert state["last_checkpoint"] == "CP-003"
    assert state["current_activity"] == "Phase 2 is running,\ntwo agents are done."
    assert state["next_step"] == "wait for the third"
    assert (state["cross_session_portable"], state["ephemeral_references"]) == (True, False)
    assert new["files_to_read"][0] == "PLAN.md"
    assert "two agents are done" in cli("events", "--json", cwd=repo).stdout
    assert cli("resumption", "validate", cwd=repo).returncode == 0
    again = cli("resumption", "migrate", cwd=repo)
    assert (again.returncode, again.stdout) == (0, f"Nothing to do: {FILE} is v2.0 already\n")


def test_show_tells_all_that_a_resuming_session_needs(repo: Path, cli: Cli) -> None:
    journalled(repo)

    done = cli("resumption", "show", cwd=repo)

    assert done.returncode == 0, done.stderr
    for words in (
        f"{FILE}  STALE (", "PHASE    1 audit, ACTIVE", "NEXT     start",
        "1  PLAN.md             the plan: phase 1", "qg-1  REJECTED  0.8",
        "weakest completeness", "2 found, 1 resolved", "open  D-2",
        "RD-001  OPEN  keep SPDX (short; phases 2, 3)", "audit-executor  PASS. All compatible.",
        "CX-001  2026-02-20 10:20  auto  NOT ACKNOWLEDGED; fill 83 %; in phase 1; qg-1 iteration 1",
    ):  # fmt: skip
        assert words in done.stdout, done.stdout
    machine = json.loads(cli("resumption", "show", "--json", cwd=repo).stdout)
    assert machine["resumption"] == old()
    assert (machine["file"], machine["version"]) == (FILE, "2.0")
    assert machine["staleness"]["level"] == "STALE"


@pytest.mark.req("RES-02")
def test_file_that_the_journal_does_not_know_is_shown_as_it_is(repo: Path, cli: Cli) -> None:
    (repo / "deep").mkdir()
    put(repo, old(), "deep/OTHER.yaml")

    done = cli("resumption", "show", "--file", "OTHER.yaml", "--json", cwd=repo / "deep")

    assert json.loads(done.stdout)["resumption"] == old(), done.stderr
    assert json.loads(done.stdout)["file"] == "deep/OTHER.yaml"


def test_words_of_a_section_cannot_move_the_terminal(repo: Path, cli: Cli) -> None:
    value = old()
    value["recovery_state"]["next_step"] = "a\x1b[2Jb\u202e"
    value["agent_summaries"] = {}
    journalled(repo, value)

    for words in (("show",), ("show", "--json"), ("staleness",), ("validate",)):
        done = cli("resumption", *words, cwd=repo)
        assert "\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in done.stdout + done.stderr


@pytest.mark.req("RES-10")
def test_staleness_is_critical_before_stale_before_fresh(repo: Path, cli: Cli) -> None:
    journalled(repo)
    assert cli("resumption", "staleness", cwd=repo).stdout.startswith("STALE (")
    Claude(repo)("SessionStart", source="startup")

    done = cli("resumption", "staleness", cwd=repo, env=IN_SESSION)

    told = "CRITICAL (last updated before this session began)\n"
    assert (done.stdout, done.returncode) == (told, 1)
    assert cli("resumption", "staleness", cwd=repo).returncode == 0  # nobody's session
    cli(*trigger("T7"), cwd=repo, env=IN_SESSION)
    fresh = cli("resumption", "staleness", "--json", cwd=repo, env=IN_SESSION)
    assert (json.loads(fresh.stdout)["level"], fresh.returncode) == ("FRESH", 0)


@pytest.mark.req("RES-10")
def test_compaction_starts_no_session(repo: Path, cli: Cli) -> None:
    journalled(repo)
    Claude(repo)("SessionStart", source="compact")

    done = cli("resumption", "staleness", cwd=repo, env=IN_SESSION)

    assert done.stdout.startswith("STALE ("), done.stdout


def test_file_whose_pipelines_are_ahead_makes_the_section_stale(repo: Path, cli: Cli) -> None:
    cli(*trigger("T1", *PHASE), cwd=repo)
    ahead = "pipelines:\n  main:\n    current_phase: 4\n"
    text = (repo / FILE).read_text(encoding="utf-8")
    (repo / FILE).write_text(ahead + text, encoding="utf-8")

    done = cli("resumption", "staleness", cwd=repo)

    assert done.stdout == "STALE (the file's pipelines are in phase 4, the section in 1)\n"


def test_fill_comes_from_the_transcript_of_the_session(
    repo: Path, cli: Cli, tmp_path: Path
) -> None:
    usage = {"input_tokens": 10_000, "cache_read_input_tokens": 90_000}
    entry = json.dumps({"message": {"usage": usage}}, separators=(",", ":"))
    (tmp_path / "t.jsonl").write_text(entry + "\n", encoding="utf-8")
    Claude(repo)("SessionStart", source="startup", transcript_path=str(tmp_path / "t.jsonl"))

    cli(*trigger("T7"), cwd=repo, env=IN_SESSION)
    assert section(repo)["recovery_state"]["context_fill_at_update"] == 0.5

    cli(*trigger("T7"), cwd=repo)
    assert section(repo)["recovery_state"]["context_fill_at_update"] is None


@pytest.mark.req("RES-08")
@pytest.mark.parametrize(
    "words",
    [
        ("resumption", "decide", "x"),
        ("resumption", "trigger", "T4", "--agent", "a", "--result", "b", "--finding", "c"),
        ("resumption", "trigger", "T7"),
        ("resumption", "migrate"),
        ("gate", "record", "QG-1", "evidence=0.9"),
    ],
)
def test_only_the_orchestrator_writes(repo: Path, cli: Cli, words: tuple[str, ...]) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    claude("SubagentStart", agent_id="scorer", agent_type="x")
    given = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "standfast …"}}
    claude("PreToolUse", agent_id="scorer", **given)

    done = cli(*words, cwd=repo, env=IN_SESSION)

    assert done.returncode == 1
    assert "SF128: the subagent `scorer` asks" in done.stderr
    assert "orchestrator" in done.stderr
    launched = cli(*words, cwd=repo, env={"STANDFAST_OUTPUT": "/x/y.md"})
    assert (launched.returncode, "SF128" in launched.stderr) == (1, True)
    assert not (repo / FILE).exists()


@pytest.mark.req("RES-08")
def test_lead_writes_while_its_subagents_work(repo: Path, cli: Cli) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    for agent, name in (("scorer", "t1"), (None, "t2")):
        given = {"tool_name": "Bash", "tool_use_id": name, "tool_input": {"command": "standfast"}}
        claude("PreToolUse", **given, **({"agent_id": agent} if agent else {}))

    assert cli("resumption", "decide", "x", cwd=repo, env=IN_SESSION).returncode == 0
    assert cli("resumption", "decide", "y", cwd=repo).returncode == 0  # a person, elsewhere


@pytest.mark.req("RES-08")
def test_subagent_may_look(repo: Path, cli: Cli) -> None:
    journalled(repo)
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    given = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "standfast"}}
    claude("PreToolUse", agent_id="scorer", **given)

    for words in (("resumption", "show"), ("gate", "show")):
        assert cli(*words, cwd=repo, env=IN_SESSION).returncode == 0


def test_trouble_that_several_files_met_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    context = Context(directory=".", environ={}, flags=[], screen=Screen(False, 80), json=False)
    context.trouble += [DiskFailed("it is full", file=name) for name in ("a", "b", "a")]

    troubles.tell(context)

    assert capsys.readouterr().err == "but a: it is full\nbut b: it is full\n"


@pytest.mark.req("RES-06")
def test_note_and_what_follows_from_it_are_one_transaction(repo: Path, cli: Cli) -> None:
    cli(*trigger("T1", *PHASE), cwd=repo)
    cli("note", "x", cwd=repo)

    events = [json.loads(line) for line in cli("events", "--json", cwd=repo).stdout.splitlines()]

    noted, triggered = (
        next(each for each in reversed(events) if each["kind"] == kind)
        for kind in ("decision.noted", "resumption.triggered")
    )
    assert triggered["payload"]["decision"] == noted["payload"]["id"] == "RD-001"
    assert (triggered["at_us"], triggered["actor"]) == (noted["at_us"], "user")


def test_files_are_listed_by_priority(repo: Path, cli: Cli) -> None:
    value = old()
    value["files_to_read"] = [
        {"path": "LAST.md", "priority": 9, "purpose": ""},
        "SECOND.md",
        {"path": "FIRST.md", "priority": 1, "purpose": ""},
    ]
    journalled(repo, value)

    lines = cli("resumption", "show", cwd=repo).stdout.splitlines()

    assert [line.split()[1] for line in lines if line.endswith(".md")] == [
        "FIRST.md", "SECOND.md", "LAST.md",
    ]  # fmt: skip


def test_other_worktree_writes_into_the_same_file(repo: Path, cli: Cli) -> None:
    cli(*trigger("T1", *PHASE), cwd=repo)
    subprocess.run(["git", "worktree", "add", "-q", "../lane"], cwd=repo, check=True)

    done = cli("resumption", "decide", "from the lane", cwd=repo.parent / "lane")

    assert done.stdout == "Recorded RD-001\n", done.stderr
    assert section(repo)["decision_log"][0]["decision"] == "from the lane"
    assert not (repo.parent / "lane" / FILE).exists()


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "huge"])
def test_what_is_no_plain_file_is_refused_everywhere(repo: Path, cli: Cli, kind: str) -> None:
    path = repo / FILE
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        (repo / "other.yaml").write_text("a: 1\n", encoding="utf-8")
        path.symlink_to("other.yaml")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"a: " + b"x" * (5 * 1024 * 1024))

    for words in (("validate",), ("show",), ("decide", "x"), ("migrate",), ("trigger", "T1")):
        done = cli("resumption", *words, cwd=repo)
        assert done.returncode not in {0, 70}, (words, done)
        assert FILE in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    assert cli("resumption", "trigger", "T7", cwd=repo).returncode == 0


def test_file_outside_is_looked_at_and_not_written(repo: Path, cli: Cli, tmp_path: Path) -> None:
    put(tmp_path, old(), "OTHER.yaml")

    assert cli("resumption", "validate", "--file", "../OTHER.yaml", cwd=repo).returncode == 0
    done = cli("resumption", "decide", "x", "--file", "../OTHER.yaml", cwd=repo)

    assert (done.returncode, "outside of the repository" in done.stderr) == (30, True)
    assert "ROLE" not in done.stderr


def test_outside_git_it_works_too(tmp_path: Path, cli: Cli) -> None:
    assert cli("resumption", "decide", "x").stdout == "Recorded RD-001\n"
    assert section(tmp_path)["decision_log"][0]["decision"] == "x"
    assert cli("resumption", "staleness").returncode == 0


@pytest.mark.req("RES-08")
def test_call_of_an_earlier_life_of_the_client_binds_nobody(repo: Path, cli: Cli) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    given = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "standfast"}}
    claude("PreToolUse", agent_id="scorer", **given)
    assert cli("resumption", "decide", "x", cwd=repo, env=IN_SESSION).returncode == 1

    claude("SessionStart", source="resume")

    assert cli("resumption", "decide", "x", cwd=repo, env=IN_SESSION).returncode == 0
    claude("PreToolUse", agent_id="scorer", **{**given, "tool_use_id": "t2"})
    assert cli("resumption", "decide", "y", cwd=repo, env=IN_SESSION).returncode == 1
    cli("off", cwd=repo)
    assert cli("resumption", "decide", "y", cwd=repo, env=IN_SESSION).returncode == 0

"""Sections as hurried people and models leave them: shown, migrated, and nothing of them lost."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from claude_calls import Claude
from conftest import Cli
from places import TESTS
from resumption_files import FILE, section

SAMPLES = sorted((TESTS / "fixtures" / "sections").glob("*.yaml"))
NEAR = "near-gates-as-mappings"


def put(repo: Path, name: str) -> str:
    """The sample as the repository's file."""
    text = next(each for each in SAMPLES if each.stem == name).read_text(encoding="utf-8")
    (repo / FILE).write_text(text, encoding="utf-8")
    return text


def told(repo: Path, cli: Cli) -> dict[str, Any]:
    done = cli("resumption", "show", "--json", cwd=repo)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("name", "phase", "status", "checkpoint", "updated_at", "next_step"),
    [
        (NEAR, 3, "ACTIVE", "cp-qg2-pass", "2026-02-19T14:22:31Z", "finish src/, then run QG-3"),
        ("near-finished", None, "COMPLETE", "WORKFLOW_COMPLETE", "2026-02-20T09:00:00Z",
         "archive the branch"),
        ("near-entries-in-other-forms", 4, "PAUSED", "barrier-4-complete", "2026-02-21T00:00:00Z",
         "ask the user which licence wins"),
        ("v1-prose-and-own-keys", 3, "ACTIVE", "CP-006", "2026-02-18T00:00:00Z",
         "wait for candidate 3, then score it"),
        ("v1-finished", None, "COMPLETE", None, "2026-02-10T18:00:00Z", ""),
    ],
)  # fmt: skip
def test_section_is_shown_as_a_person_reads_it_and_stays_as_it_is(
    repo: Path, cli: Cli, name: str, phase: int | None, status: str, checkpoint: str | None,
    updated_at: str, next_step: str,
) -> None:  # fmt: skip
    before = put(repo, name)

    state = told(repo, cli)["resumption"]["recovery_state"]

    assert (state["current_phase"], state["workflow_status"]) == (phase, status)
    assert (state["last_checkpoint"], state["updated_at"]) == (checkpoint, updated_at)
    assert state["next_step"] == next_step
    shown = cli("resumption", "show", cwd=repo).stdout
    assert "`standfast resumption migrate --dry-run` lists them" in shown
    assert "Traceback" not in shown
    assert (repo / FILE).read_text(encoding="utf-8") == before


@pytest.mark.sweep(4)
@pytest.mark.req("RES-09", "RES-25")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_section_is_migrated_and_what_it_was_is_printed_byte_for_byte(
    repo: Path, cli: Cli, sample: Path
) -> None:
    before = put(repo, sample.stem)
    shown = told(repo, cli)["resumption"]
    dry = cli("resumption", "migrate", "--dry-run", cwd=repo)
    assert (dry.returncode, (repo / FILE).read_text(encoding="utf-8")) == (0, before), dry.stderr

    done = cli("resumption", "migrate", cwd=repo)

    assert done.returncode == 0, done.stderr
    assert section(repo) == shown
    assert cli("resumption", "validate", cwd=repo).returncode == 0
    (command,) = set(re.findall(r"`standfast (journal kept [0-9a-f]{12})`", done.stdout))
    assert cli(*command.split(), cwd=repo).stdout == before
    said = [line for line in done.stdout.splitlines() if line.startswith("  line ")]
    assert [line for line in dry.stdout.splitlines() if line.startswith("  line ")] == said
    assert cli("resumption", "decide", "go on", cwd=repo).returncode == 0
    assert cli("resumption", "validate", cwd=repo).returncode == 0


@pytest.mark.req("RES-19", "RES-25")
def test_own_keys_comments_and_lines_around_stay_where_they_are(repo: Path, cli: Cli) -> None:
    before = put(repo, NEAR)

    done = cli("resumption", "migrate", cwd=repo)
    cli("resumption", "trigger", "T1", "--phase", "4", "--next-step", "release", cwd=repo)
    after = (repo / FILE).read_text(encoding="utf-8")

    head, own = before.partition("resumption:")[0], before[before.index("  # written by") :]
    assert after.startswith(f"{head}resumption:\n  # keep this current!\n  recovery_state:\n")
    assert own.partition("\n\n")[0] in after
    assert after.endswith("\n\n\nmetrics: {agents: 7}\n"), "as many blank lines as there were"
    assert "# legal said so" in (repo / FILE).read_text(encoding="utf-8")
    assert "`quality_trajectory.gates_completed[0]` was `QG-1: iterations: 2`" in done.stdout
    found = section(repo)
    assert found["context_keys"]["audit_executor"] == "results/audit.yaml"
    assert found["recovery_state"]["last_checkpoint"] == "cp-qg2-pass"
    assert found["decision_log"][1]["date"] == "2026-02-19"


@pytest.mark.req("RES-25")
def test_who_wants_to_write_is_offered_the_migration_first(repo: Path, cli: Cli) -> None:
    before = put(repo, NEAR)

    tried = cli("resumption", "trigger", "T1", "--phase", "4", cwd=repo)

    assert tried.returncode not in {0, 70}
    assert "more such things" in tried.stderr
    assert "standfast resumption migrate" in tried.stderr
    assert (repo / FILE).read_text(encoding="utf-8") == before
    found = cli("resumption", "validate", cwd=repo)
    assert "`resumption` is nearly v2.0. Bring it to v2.0 with `standf" in found.stdout


@pytest.mark.req("RES-25")
def test_long_prose_and_a_hundred_lines_of_own_keys_survive(repo: Path, cli: Cli) -> None:
    prose = " ".join(f"Candidate {n} is scored." for n in range(2_000))
    own = "".join(f"    lesson_{n}: 'do not {n}'  # seen on day {n}\n" for n in range(3_000))
    text = f"resumption:\n  current_state: {prose}\n  next_step: go\n  lessons:\n{own}b: 1\n"
    (repo / FILE).write_text(text, encoding="utf-8")

    done = cli("resumption", "migrate", cwd=repo)

    assert done.returncode == 0, done.stderr
    assert section(repo)["recovery_state"]["current_activity"] == prose
    assert f"  lessons:\n{own}" in (repo / FILE).read_text(encoding="utf-8")


@pytest.mark.req("RES-25")
def test_number_and_prose_that_disagree_are_told(repo: Path, cli: Cli) -> None:
    (repo / FILE).write_text(
        "pipelines: {a: {current_phase: 2}}\nresumption:\n  current_state: Phase 3 tournament\n",
        encoding="utf-8",
    )

    done = cli("resumption", "migrate", "--dry-run", cwd=repo)

    assert "is 2, and the prose speaks of phase 3: look which of them is right" in done.stdout


@pytest.mark.req("RES-25")
def test_dry_run_goes_with_migrate_alone_and_a_subagent_may_look(repo: Path, cli: Cli) -> None:
    put(repo, NEAR)
    agent = {"STANDFAST_OUTPUT": "x"}

    assert cli("resumption", "show", "--dry-run", cwd=repo).returncode == 2
    assert cli("resumption", "migrate", "--dry-run", cwd=repo, env=agent).returncode == 0
    assert cli("resumption", "migrate", cwd=repo, env=agent).returncode not in {0, 70}
    git = subprocess.run(
        ["git", "status", "--short"], cwd=repo, check=True, capture_output=True, encoding="utf-8"
    )
    assert git.stdout == f"?? {FILE}\n"


@pytest.mark.req("RES-02", "RES-25")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (NEAR, ("phase 3", "headers", "finish src/, then run QG-3", "is nearly v2.0, and not taken",
                "SPDX headers, no full texts")),
        ("v1-prose-and-own-keys", ("phase 3", "wait for candidate 3", "is v1.0, and not taken",
                                   "candidate 2 is out (licence)")),
    ],
)  # fmt: skip
def test_brief_tells_what_the_file_says_and_takes_nothing(
    repo: Path, cli: Cli, name: str, words: tuple[str, ...]
) -> None:
    before = put(repo, name)
    Claude(repo)("SessionStart", source="startup")

    done = cli("brief", cwd=repo)

    assert done.returncode == 0, done.stderr
    assert [each for each in words if each not in done.stdout] == [], done.stdout
    plan = json.loads(cli("brief", "--json", cwd=repo).stdout)["documents"][0]
    assert plan["phase"] == 3
    assert plan["read_from"] == ("nearly v2.0" if name == NEAR else "v1.0")
    assert (repo / FILE).read_text(encoding="utf-8") == before
    assert not told(repo, cli)["journalled"]


@pytest.mark.req("RES-25")
def test_brief_of_a_file_that_is_over_or_broken_is_told_without_it(repo: Path, cli: Cli) -> None:
    Claude(repo)("SessionStart", source="startup")
    for text in (put(repo, "near-finished"), "resumption: [\n", "a: 1\n"):
        (repo / FILE).write_text(text, encoding="utf-8")

        done = cli("brief", cwd=repo)

        assert (done.returncode, "No plan." in done.stdout) == (0, True), done.stderr


@pytest.mark.req("RES-06", "RES-25")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("workflow_status: ACTIVE", "workflow_status: happy"),
        ("next_step: finish", "last_words: {a: [b]}\n    next_step: finish"),
    ],
)
def test_section_that_we_keep_is_migrated_as_an_edit_and_decides_nothing_twice(
    repo: Path, cli: Cli, old: str, new: str
) -> None:
    put(repo, NEAR)
    cli("resumption", "migrate", cwd=repo)
    cli("resumption", "decide", "one more", cwd=repo)
    before = section(repo)
    text = (repo / FILE).read_text(encoding="utf-8").replace("finish src/", "finish lib/")
    (repo / FILE).write_text(text.replace(old, new), encoding="utf-8")

    done = cli("resumption", "migrate", cwd=repo)

    assert done.returncode == 0, done.stderr
    after = section(repo)
    assert after["decision_log"] == before["decision_log"]
    assert after["recovery_state"]["workflow_status"] == "ACTIVE"
    assert after["recovery_state"]["next_step"].startswith("finish lib/")
    assert after["recovery_state"]["updated_at"] >= before["recovery_state"]["updated_at"]
    assert len(json.loads(cli("status", "--json", cwd=repo).stdout)["decisions"]) == 3


@pytest.mark.req("RES-25")
def test_field_by_another_name_that_cannot_be_it_stays_where_it_is(repo: Path, cli: Cli) -> None:
    (repo / FILE).write_text(
        "resumption:\n  recovery_state: {current_phase: 1, next_step: x}\n"
        "  defect_summary:\n    found: [D-1]\n    open: 3\n    resolved: about half\n"
        "    patterns: [late tests]\n"
        "  quality_trajectory:\n"
        "    gates_completed: [A]\n    completed: [B]\n    iteration: first\n",
        encoding="utf-8",
    )
    said = cli("resumption", "migrate", cwd=repo)
    assert said.returncode == 0

    moved = json.loads(cli("resumption", "show", "--json", cwd=repo).stdout)["resumption"]
    shown = cli("resumption", "show", cwd=repo).stdout

    defects, gates = moved["defect_summary"], moved["quality_trajectory"]
    own = {"found": ["D-1"], "open": 3, "resolved": "about half"}
    assert {key: defects[key] for key in own} == own
    assert [each["pattern"] for each in defects["recurring_patterns"]] == ["late tests"]
    assert (gates["gates_completed"], gates["completed"], gates["iteration"]) == (
        ["A"], ["B"], "first")  # fmt: skip
    assert "`defect_summary.patterns` is now `defect_summary.recurring_patterns`" in said.stdout
    assert "defect_summary.resolved" in shown
    assert "quality_trajectory.completed" in shown


@pytest.mark.req("RES-25")
@pytest.mark.parametrize("none", ["none", "None yet", "nothing so far.", "[none]", "n/a", "[]", ""])
def test_what_says_that_there_is_none_is_nothing(repo: Path, cli: Cli, none: str) -> None:
    lists = ("files_to_read", "decision_log", "agent_summaries", "compaction_events",
             "defect_summary")  # fmt: skip
    (repo / FILE).write_text(
        "resumption:\n  recovery_state: {current_phase: 1, next_step: x}\n"
        + "".join(f"  {name}: {none}\n" for name in lists),
        encoding="utf-8",
    )

    found = json.loads(cli("resumption", "show", "--json", cwd=repo).stdout)["resumption"]

    assert found["decision_log"] == []
    assert found["agent_summaries"] == {}
    assert found["compaction_events"]["events"] == []
    assert found["defect_summary"]["total_defects_found"] == 0
    if none != "[none]":  # which may be a path
        assert found["files_to_read"] == [FILE]


@pytest.mark.req("RES-25")
def test_several_things_in_one_line_are_several(repo: Path, cli: Cli) -> None:
    (repo / FILE).write_text(
        "resumption:\n  recovery_state: {phase: P2, next: go}\n"
        "  files_to_read: a.md, docs/b.md\n"
        "  quality_trajectory: {current_gate: QG-2 (iteration 3)}\n"
        "  compaction_events: two of them, both auto\n",
        encoding="utf-8",
    )

    found = json.loads(cli("resumption", "show", "--json", cwd=repo).stdout)["resumption"]
    said = cli("resumption", "migrate", "--dry-run", cwd=repo).stdout

    gates = found["quality_trajectory"]
    assert found["files_to_read"] == ["a.md", "docs/b.md"]
    assert (gates["current_gate"], gates["current_gate_iteration"]) == ("QG-2", 3)
    assert "`files_to_read` was `a.md, docs/b.md`: read as `a.md; docs/b.md`" in said
    assert "read as `QG-2; iteration 3`" in said
    removed = said.partition("Removed from the file")[2]
    assert "`compaction_events` was `two of them, both auto`" in removed
    assert "now has `current_phase`" not in said  # it was there, by another name

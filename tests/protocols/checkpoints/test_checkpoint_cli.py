"""`standfast checkpoint` from outside."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from standfast.app import faces
from standfast.runs.records import run_log

LANE = ("--run-id", "P1-20260102", "--phase", "P1", "--lane", "SL-1")


def stage(name: str, status: str, *more: str) -> tuple[str, ...]:
    return ("checkpoint", "write", *LANE, "--stage", name, "--status", status, *more)


def shown(repo: Path) -> list[dict[str, object]]:
    return list(json.loads((repo / faces.CHECKPOINTS_FILE).read_bytes()))


@pytest.mark.req("CKP-01", "CKP-02")
def test_record_has_every_field_absolute_paths_and_utc(repo: Path, cli: Cli) -> None:
    done = cli(*stage("before_lane_start", "ready"), cwd=repo)

    assert (done.stdout, done.stderr, done.returncode) == (
        "Recorded CP-001: P1-20260102/P1/SL-1/before_lane_start ready\n", "", 0,
    )  # fmt: skip
    (record,) = shown(repo)
    assert record["base_branch"] == "main"
    assert record["worktree_path"] == str(repo)
    assert record["log_path"] == str(repo / ".claude/ai-dev-kit/run-logs/P1-20260102.jsonl")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(record["timestamp"]))
    assert record["notes"] == ""
    for hint in ("resume_hint", "rollback_hint"):
        assert shlex.split(str(record[hint]))[:3] == ["standfast", "-C", str(repo)]


@pytest.mark.req("CKP-02")
def test_extra_fields_for_an_exact_rollback_are_kept(repo: Path, cli: Cli) -> None:
    sha = "ab" * 20

    cli(*stage("pre_pr", "ready", "--head-sha", sha, "--base-sha", sha, "--commits", sha,
               "--commits", sha, "--target-branch", "main", "--branch", "lane/P1/SL-1",
               "--test-command", "make test", "--exit-code", "0",
               "--failure-context", "Attempt 1: x"), cwd=repo)  # fmt: skip

    (record,) = shown(repo)
    assert record["commits"] == [sha, sha]
    assert (record["head_sha"], record["base_sha"], record["exit_code"]) == (sha, sha, 0)
    assert record["target_branch"] == "main"
    assert record["failure_context"] == ["Attempt 1: x"]


def test_next_stage_goes_on_with_what_the_lane_said_before(repo: Path, cli: Cli) -> None:
    cli(*stage("before_lane_start", "ready", "--base-branch", "develop", "--worktree-path",
               "../trees/SL-1", "--notes", "first"), cwd=repo)  # fmt: skip

    cli(*stage("after_lane_start", "in_progress"), cwd=repo)

    second = shown(repo)[1]
    assert second["base_branch"] == "develop"
    assert second["worktree_path"] == str(repo.parent / "trees" / "SL-1")
    assert second["notes"] == ""


@pytest.mark.req("CKP-12")
def test_record_of_a_phase_has_the_lane_dash(repo: Path, cli: Cli) -> None:
    words = ("checkpoint", "write", "--run-id", "r", "--phase", "P1", "--stage", "pre_pr")
    cli(*words, "--status", "ready", cwd=repo)
    cli(*words, "--status", "complete", "--lane", "-", cwd=repo)

    (record,) = shown(repo)
    assert (record["lane"], record["status"]) == ("-", "complete")


@pytest.mark.req("CKP-13")
def test_wrong_move_names_the_legal_ones_and_changes_nothing(repo: Path, cli: Cli) -> None:
    cli(*stage("after_lane_tests", "complete"), cwd=repo)
    before = (repo / faces.CHECKPOINTS_FILE).read_bytes()

    done = cli(*stage("after_lane_tests", "in_progress"), cwd=repo)

    assert done.returncode == 17
    assert "may become complete, failed, blocked, rolled_back, not `in_progress`" in done.stderr
    assert (repo / faces.CHECKPOINTS_FILE).read_bytes() == before


@pytest.mark.req("CKP-02")
@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        (("--stage", "after_lunch"), 2),
        (("--status", "done"), 2),
        (("--run-id", "../../x"), 10),
        (("--lane", "a b"), 10),
        (("--head-sha", "HEAD"), 16),
        (("--retry-attempt", "3", "--max-retries", "2"), 16),
        (("--base-branch", "--upload-pack=x"), 2),
    ],
)
def test_wrong_call_is_refused_before_anything_is_recorded(
    repo: Path, cli: Cli, wrong: tuple[str, ...], status: int
) -> None:
    done = cli(*stage("before_lane_start", "ready"), *wrong, cwd=repo)

    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert not (repo / faces.CHECKPOINTS_FILE).exists()


@pytest.mark.req("CKP-06", "CKP-10", "CKP-15")
def test_show_tells_fields_history_log_and_what_to_do(repo: Path, cli: Cli) -> None:
    cli(*stage("after_lane_tests", "failed", "--exit-code", "2"), cwd=repo)
    cli(*stage("after_lane_tests", "failed", "--exit-code", "1"), cwd=repo)
    log = str(shown(repo)[0]["log_path"])
    entry = dict.fromkeys(run_log.NEEDED, "-")
    for number in range(7):
        run_log.append(log, {**entry, "event": f"event-{number}", "status": "ok"})
    with open(log, "a", encoding="utf-8") as file:
        file.write('{"event": "tor')

    said = cli("checkpoint", "show", cwd=repo).stdout

    assert re.search(r"^exit_code +1$", said, re.MULTILINE)
    assert re.search(r"^CP-001  failed .*\nCP-002  failed", said, re.MULTILINE)
    assert re.findall(r"event-\d", said) == [f"event-{number}" for number in range(2, 7)]
    assert "(torn lines that were passed over: 1)" in said
    assert "Current stage: after_lane_tests (failed) of lane SL-1" in said
    assert f"Checkpoint: {repo / faces.CHECKPOINTS_FILE}" in said
    assert "Next: The tests failed" in said
    assert "--to before_lane_start" in said
    old = json.loads(cli("checkpoint", "show", "CP-001", "--json", cwd=repo).stdout)
    assert old["checkpoint"]["exit_code"] == 2
    assert [each["id"] for each in old["history"]] == ["CP-001", "CP-002"]
    assert "Roll back to before_lane_start: standfast -C" in old["prompt"]


def test_latest_is_the_last_written_and_none_lists_the_known_ones(repo: Path, cli: Cli) -> None:
    cli(*stage("before_lane_start", "ready"), cwd=repo)
    cli(*stage("after_lane_start", "in_progress"), cwd=repo)
    cli(*stage("before_lane_start", "ready"), cwd=repo)

    found = json.loads(cli("checkpoint", "latest", *LANE, "--json", cwd=repo).stdout)
    none = cli("checkpoint", "latest", "--run-id", "other", cwd=repo)

    assert (found["id"], found["stage"]) == ("CP-003", "before_lane_start")
    assert none.returncode == 87
    assert "known are P1-20260102/P1/SL-1" in none.stderr


def test_list_filters_and_an_empty_one_creates_nothing(repo: Path, cli: Cli) -> None:
    assert cli("checkpoint", "list", cwd=repo).stdout == "No checkpoints yet.\n"
    assert not (repo / ".claude").exists()
    assert not (repo / ".git" / "standfast").exists()
    cli(*stage("before_lane_start", "ready"), cwd=repo)
    cli(*stage("after_lane_start", "in_progress"), cwd=repo)

    said = json.loads(cli("checkpoint", "list", "--status", "ready", "--json", cwd=repo).stdout)

    assert [record["stage"] for record in said["checkpoints"]] == ["before_lane_start"]
    assert said["path"] == str(repo / faces.CHECKPOINTS_FILE)


@pytest.mark.req("CKP-01", "CKP-02")
def test_file_that_cannot_be_read_is_told_and_the_write_is_kept(repo: Path, cli: Cli) -> None:
    cli(*stage("before_lane_start", "ready"), cwd=repo)
    file = repo / faces.CHECKPOINTS_FILE
    file.write_text('{"not": "an array"}\n', encoding="utf-8")

    done = cli(*stage("after_lane_start", "in_progress"), cwd=repo)
    status = json.loads(cli("status", "--json", cwd=repo).stdout)

    assert done.returncode == 0
    assert done.stdout.startswith("Recorded CP-002")
    assert f"{file}:1: not an array of records" in done.stderr
    assert file.read_text(encoding="utf-8") == '{"not": "an array"}\n'
    assert [trouble["line"] for trouble in status["needs_you"]] == [1]
    assert "CP-002" in cli("checkpoint", "list", cwd=repo).stdout
    file.unlink()
    cli(*stage("after_lane_start", "in_progress"), cwd=repo)
    assert [record["id"] for record in shown(repo)] == ["CP-001", "CP-003"]


def test_words_of_a_file_cannot_move_the_terminal(repo: Path, cli: Cli) -> None:
    cli(*stage("before_lane_start", "ready", "--notes", "\x1b[2Jgone\u202e"), cwd=repo)

    for words in (("list",), ("show",), ("latest",), ("show", "--json")):
        said = cli("checkpoint", *words, cwd=repo).stdout
        assert "\x1b" not in said
        assert "\u202e" not in said


def test_outside_git_a_base_branch_must_be_given(tmp_path: Path, cli: Cli) -> None:
    assert "`base_branch` is missing" in cli(*stage("before_lane_start", "ready")).stderr

    done = cli(*stage("before_lane_start", "ready", "--base-branch", "main"))

    assert done.returncode == 0, done.stderr
    assert len(shown(tmp_path)) == 1


@pytest.mark.prove
@pytest.mark.req("CKP-01")
def test_commands_at_once_all_keep_their_records_and_the_file_shows_them(
    repo: Path, cli: Cli
) -> None:
    several = [
        subprocess.Popen(
            [sys.executable, "-m", "standfast", "checkpoint", "write", "--run-id", "r",
             "--phase", "P1", "--lane", f"SL-{number}", "--stage", "before_lane_start",
             "--status", "ready"],
            cwd=repo, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]  # fmt: skip
    told = [each.communicate(timeout=60) for each in several]

    assert [each.returncode for each in several] == [0] * 8, told
    assert sorted(str(record["lane"]) for record in shown(repo)) == [f"SL-{n}" for n in range(8)]
    assert cli("journal", "verify", cwd=repo).returncode == 0


@pytest.mark.req("CKP-02")
def test_commands_exit_codes_and_commits_are_told_in_the_notes_too(repo: Path, cli: Cli) -> None:
    sha, failing = "a1" * 20, ("--test-command", "make test", "--exit-code", "2")
    words = ("checkpoint", "write", "--run-id", "r", "--phase", "P1", "--lane", "L")
    more = ("--stage", "after_lane_tests", "--status", "failed", "--base-branch", "main")
    done = cli(*words, *more, *failing, "--head-sha", sha, "--notes", "two red", "--json", cwd=repo)
    notes = json.loads(done.stdout)["record"]["notes"]

    assert notes == f"two red; test_command: make test; exit_code: 2; head_sha: {sha}"


def test_what_a_checkpoint_needs_is_named(repo: Path, cli: Cli) -> None:
    done = cli("checkpoint", "write", "--run-id", "r", cwd=repo)

    assert done.returncode == 2
    assert "a checkpoint needs --phase, --stage, --status" in done.stderr


def theirs(repo: Path) -> bytes:
    """A file as another tool left it, before any journal."""
    path = repo / faces.CHECKPOINTS_FILE
    path.parent.mkdir(parents=True)
    common = {"phase": "P1", "base_branch": "main", "worktree_path": "/w", "log_path": "/l",
              "timestamp": "2026-01-01T00:00:00Z", "notes": "", "resume_hint": "x",
              "rollback_hint": "y"}  # fmt: skip
    records = [
        {"run_id": "z", "lane": "SL-1", "stage": "before_lane_start", "status": "ready", **common},
        {"run_id": "z", "lane": "SL-1", "stage": "after_lane_start", "status": "in_progress",
         **common},
        {"run_id": "a", "lane": "SL-2", "stage": "before_lane_start", "status": "ready", **common},
    ]  # fmt: skip
    path.write_text(json.dumps(records, indent=2), encoding="utf-8")
    return path.read_bytes()


@pytest.mark.req("CKP-01", "CKP-04", "CKP-14", "RES-24")
def test_file_that_was_there_before_is_seen_in_its_own_order_before_any_write(
    repo: Path, cli: Cli
) -> None:
    before = theirs(repo)
    listed = json.loads(cli("checkpoint", "list", "--json", cwd=repo).stdout)["checkpoints"]
    latest = json.loads(cli("checkpoint", "latest", "--run-id", "z", "--json", cwd=repo).stdout)

    assert [(each["run_id"], each["stage"]) for each in listed] == [
        ("z", "before_lane_start"),
        ("z", "after_lane_start"),
        ("a", "before_lane_start"),
    ]
    assert latest["stage"] == "after_lane_start"
    assert cli("checkpoint", "list", cwd=repo).stdout.count("2026-01-01 ") == len(listed)
    assert (repo / faces.CHECKPOINTS_FILE).read_bytes() == before


@pytest.mark.req("CKP-01")
def test_first_write_beside_such_a_file_comes_after_what_is_in_it(repo: Path, cli: Cli) -> None:
    theirs(repo)
    done = cli(*stage("before_lane_start", "ready"), cwd=repo)

    assert done.stdout.startswith("Recorded CP-004")
    assert [each["run_id"] for each in shown(repo)] == ["z", "z", "a", "P1-20260102"]
    assert [each["id"] for each in shown(repo)] == [f"CP-00{n}" for n in range(1, 5)]


@pytest.mark.req("CKP-01", "RES-24")
def test_committed_edit_of_a_record_is_taken_and_not_taken_back(repo: Path, cli: Cli) -> None:
    cli(*stage("before_lane_start", "ready"), cwd=repo)
    path = repo / faces.CHECKPOINTS_FILE
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    path.write_text(path.read_text("utf-8").replace('"notes":""', '"notes":"by hand"'), "utf-8")
    subprocess.run(["git", "commit", "-qam", "edit"], cwd=repo, check=True)
    edited = path.read_bytes()
    told = cli("checkpoint", "list", cwd=repo).stdout
    assert "by hand" in told
    assert path.read_bytes() == edited
    cli(*stage("after_lane_start", "in_progress"), cwd=repo)

    assert shown(repo)[0]["notes"] == "by hand"

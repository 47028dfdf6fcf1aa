"""A gate that knows `not yet`: who is at work or may still be launched fails nothing."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from claude_calls import Claude
from conftest import Cli
from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.outputs.rules.whole_output import SENTINEL

GOOD = f"Found it.\n{SENTINEL}\n"
PENDING = 75
REVIEWERS = ("security", "ux-dx", "correctness", "architecture")


@pytest.fixture
def session(repo: Path, cli: Cli) -> Path:
    (repo / "task.md").write_text("Look at the diff.\n", encoding="utf-8")
    return Path(cli("live-state", "begin", "s", cwd=repo).stdout.strip())


class Stage:
    """The gate of one stage, asked for from outside; and the client that launches its agents."""

    def __init__(self, repo: Path, cli: Cli, session: Path) -> None:
        self.repo, self.cli, self.session, self.name = repo, cli, session, "review-code"
        self.claude = Claude(repo)
        self.claude("SessionStart", source="startup")

    def __call__(self, action: str, *words: str) -> subprocess.CompletedProcess[str]:
        return self.cli("outputs", action, "--stage", self.name, *words, cwd=self.repo)

    def gate(self, *words: str) -> tuple[int, str]:
        done = self("gate", *words)
        (line,) = [each for each in done.stdout.splitlines() if "PERSISTENCE_GATE" in each]
        return done.returncode, line.removeprefix("PERSISTENCE_GATE=")

    def path(self, role: str) -> Path:
        return self.session / f"review-{role}-code.md"

    def launch(self, role: str) -> str:
        """The client asks for a subagent, which begins."""
        prompt = whole_output.prompt("Look.", str(self.path(role)))
        use = self.claude.begins("Agent", prompt=prompt, subagent_type=role)
        self.claude("SubagentStart", agent_id=f"{role}-{use}", agent_type=role)
        return use

    def end(self, role: str, use: str) -> None:
        self.claude("SubagentStop", agent_id=f"{role}-{use}", agent_type=role,
                    stop_hook_active=True, last_assistant_message="Done.")  # fmt: skip
        self.claude.ends(use, "Agent")


@pytest.fixture
def stage(repo: Path, cli: Cli, session: Path) -> Stage:
    return Stage(repo, cli, session)


# Not yet.


@pytest.mark.req("OUT-22")
def test_gate_before_any_launch_says_not_yet(stage: Stage) -> None:
    done = stage("gate")

    assert stage.gate() == (PENDING, "PENDING")
    assert done.stdout.count("pending: review-") == 6
    assert "pending: review-security-code.md: missing, never launched" in done.stdout
    assert "failed" not in done.stdout


@pytest.mark.req("OUT-08", "OUT-22")
def test_soft_outputs_are_not_left_out_before_their_retry(stage: Stage) -> None:
    stage.name = "clarify"

    assert stage.gate() == (PENDING, "PENDING")
    (stage.session / "clarify-web-research.md").write_text("cut o", encoding="utf-8")
    done = stage("gate")
    assert done.returncode == PENDING
    assert "left out" not in done.stdout
    assert "pending: clarify-web-research.md: no-sentinel" in done.stdout


@pytest.mark.req("OUT-06", "OUT-07", "OUT-22")
def test_gate_fails_only_after_the_retry(stage: Stage) -> None:
    for left in (2, 1):
        assert stage.gate("security") == (PENDING, "PENDING")
        done = stage("launched", "security")
        assert done.stdout == (
            f"Counted: review-security-code.md, launch {3 - left}, {left - 1} left\n"
        )
    assert stage.gate("security") == (1, "HARD_FAIL")

    third = stage("launched", "security")

    assert third.returncode == 1
    assert "has been launched 2 x: no launch is left" in third.stderr
    assert "standfast outputs grant" in third.stderr
    stage("grant", "security")
    assert stage.gate("security") == (PENDING, "PENDING")
    assert stage("launched", "security").returncode == 0
    stage.path("security").write_text(GOOD, encoding="utf-8")
    assert stage.gate("security") == (0, "PASS")


@pytest.mark.req("OUT-22")
def test_machines_are_told_what_the_gate_waits_for(stage: Stage) -> None:
    stage.launch("security")
    told = json.loads(stage("gate", "--json").stdout)

    assert (told["gate"], told["pending"]) == ("PENDING", ["security"])
    assert told["outputs"][0]["at_work"] == "a subagent of session 8f2c0000"


# Who is at work.


@pytest.mark.req("OUT-22")
def test_subagent_of_a_client_is_at_work_until_it_stops(stage: Stage) -> None:
    for launch in (1, 2):
        use = stage.launch("security")
        done = stage("gate")
        assert done.returncode == PENDING, launch
        assert "a subagent of session 8f2c0000 is at work on it" in done.stdout
        assert "AT WORK" in stage("check").stdout
        assert "is at work" in stage("launched", "security").stderr
        stage.end("security", use)

    assert stage.gate() == (1, "HARD_FAIL")


@pytest.mark.req("OUT-22")
def test_subagent_in_the_background_is_at_work_after_its_call_came_back(stage: Stage) -> None:
    use = stage.launch("security")
    stage.launch("security")
    stage.claude.ends(use, "Agent", response={"isAsync": True, "status": "async_launched",
                                              "agentId": f"security-{use}"})  # fmt: skip

    assert stage.gate() == (PENDING, "PENDING")


@pytest.mark.req("OUT-22")
@pytest.mark.parametrize("how", ["killed", "ended", "resumed", "stopped by the user"])
def test_subagent_whose_client_is_gone_is_not_at_work(stage: Stage, how: str) -> None:
    client = subprocess.Popen(["sleep", "600"])
    stage.claude.pid = str(client.pid)
    stage.claude("SessionStart", source="startup")
    stage.launch("security")
    stage.launch("security")
    assert stage.gate() == (PENDING, "PENDING")

    if how == "ended":
        stage.claude("SessionEnd", reason="other")
    elif how == "stopped by the user":
        stage.claude("UserPromptSubmit", prompt="stop that")
        for use in ("toolu_1", "toolu_2"):
            stage.claude("SubagentStop", agent_id=f"security-{use}", agent_type="security")
    client.kill()
    client.wait()
    if how == "resumed":
        stage.claude.pid = str(os.getpid())
        stage.claude("SessionStart", source="resume")

    assert stage.gate() == (1, "HARD_FAIL")


@pytest.mark.req("OUT-22")
def test_stage_launches_no_agent_beside_a_subagent_of_a_client(stage: Stage) -> None:
    stage.launch("security")

    done = stage.cli("stage", "run", "--stage", "review-code", "--role", "security", "--task",
                     "task.md", "--", "sh", "-c", "echo x >> launched", cwd=stage.repo)  # fmt: skip

    assert done.returncode == PENDING
    assert not (stage.repo / "launched").exists()
    assert "is at work on it" in done.stdout


@pytest.mark.req("OUT-22")
def test_agent_of_a_stage_is_at_work_until_it_is_gone(stage: Stage) -> None:
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "standfast", "stage", "run", "--stage", "review-code"),
            *("--role", "security", "--task", "task.md", "--"),
            *("sh", "-c", "echo $$ > pid.draft; mv pid.draft pid; exec sleep 600"),
        ],
        cwd=stage.repo,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    while not (stage.repo / "pid").exists():
        assert running.poll() is None
    stage("grant", "security", "--why", "one more")

    done = stage("gate", "security")
    running.send_signal(signal.SIGINT)
    running.wait(timeout=60)

    assert done.returncode == PENDING
    assert "an agent of `stage run` is at work on it" in done.stdout
    assert "at work" not in stage("gate", "security").stdout


# Which reviewers.


@pytest.mark.req("OUT-19")
def test_review_with_four_of_six_reviewers_judges_those_four(stage: Stage) -> None:
    for role in REVIEWERS:
        use = stage.launch(role)
        stage.path(role).write_text(GOOD, encoding="utf-8")
        stage.end(role, use)

    assert stage.gate() == (0, "PASS")
    stage.path("architecture").write_text("cut o", encoding="utf-8")
    assert stage.gate() == (PENDING, "PENDING")
    stage.end("architecture", stage.launch("architecture"))
    assert stage.gate() == (1, "HARD_FAIL")


@pytest.mark.req("OUT-19")
def test_files_and_words_say_which_reviewers_there_are(stage: Stage) -> None:
    stage.path("security").write_text(GOOD, encoding="utf-8")
    assert stage.gate() == (0, "PASS")
    stage("launched", "ux-dx")
    assert stage.gate() == (PENDING, "PENDING")


# Counting by hand.


@pytest.mark.req("OUT-05")
def test_what_an_agent_will_write_over_is_kept_before_its_launch_is_counted(stage: Stage) -> None:
    stage.path("security").write_text("half of a ver", encoding="utf-8")

    assert stage("launched", "security").returncode == 0

    assert stage.path("security").read_text(encoding="utf-8") == "half of a ver"
    listed = stage.cli("journal", "kept", cwd=stage.repo).stdout
    assert "review-security-code.md" in listed


@pytest.mark.req("OUT-04", "OUT-06")
def test_nothing_is_counted_where_one_needs_no_launch(stage: Stage) -> None:
    stage.path("security").write_text(GOOD, encoding="utf-8")

    done = stage("launched", "ux-dx", "security")

    assert done.returncode == 1
    assert "review-security-code.md is valid" in done.stderr
    assert stage.gate("ux-dx") == (PENDING, "PENDING")
    assert stage("launched", "ux-dx").stdout.endswith("launch 1, 1 left\n")


@pytest.mark.req("OUT-06", "OUT-08")
def test_a_role_that_the_stage_does_not_have_is_not_counted(stage: Stage) -> None:
    stage.name = "clarify"

    done = stage("launched", "nosuch")

    assert done.returncode == 2
    assert "stage `clarify` has no output of a role `nosuch`" in done.stderr
    assert "advisor-alpha" in done.stderr
    assert "nosuch" not in stage("gate").stdout


@pytest.mark.req("OUT-19", "OUT-22")
def test_a_stage_of_the_project_judges_those_that_were_picked(stage: Stage) -> None:
    stage.name = "review-design"
    (stage.repo / ".standfast.yaml").write_text(
        "stages:\n  review-design:\n    skill: review\n    suffix: -design\n"
        "    outputs: {security: critical, ux-dx: critical}\n    expects: picked\n",
        encoding="utf-8",
    )
    assert stage("gate").stdout.count("pending: review-") == 2

    stage("launched", "security")
    (stage.session / "review-security-design.md").write_text(GOOD, encoding="utf-8")

    assert stage.gate() == (0, "PASS")


@pytest.mark.req("OUT-06")
def test_of_eight_processes_that_count_a_launch_two_may(stage: Stage) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: stage("launched", "security"), range(8)))

    assert sorted(each.returncode for each in done) == [0, 0, 1, 1, 1, 1, 1, 1]


# A directory that takes no file.


@pytest.mark.req("OUT-02", "OUT-05", "OUT-06")
@pytest.mark.parametrize(
    "command",
    [
        ("stage", "run", "--task", "task.md", "--", "true"),
        ("outputs", "launched", "security"),
        ("outputs", "prompt", "security"),
    ],
)
def test_session_directory_that_cannot_be_written_costs_no_launch(
    stage: Stage, command: tuple[Any, ...]
) -> None:
    closed = f"/proc/{os.getpid()}"  # not even root may make a file there
    where = ("--stage", "review-code", "--session-dir", closed)

    done = stage.cli(*command[:2], *where, *command[2:], cwd=stage.repo)

    assert done.returncode == 25
    assert f"the session directory cannot be written: {closed}"[:41] in done.stderr
    assert closed in done.stderr
    assert "output.launched" not in stage.cli("events", cwd=stage.repo).stdout

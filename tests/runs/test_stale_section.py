"""While a section is CRITICAL no run, lane or stage begins anything."""

from pathlib import Path

import pytest

from claude_calls import SESSION, Claude
from conftest import Cli
from resumption_files import FILE, journalled, old
from run_worlds import night

IN_SESSION = {"CLAUDE_CODE_SESSION_ID": SESSION}
STAGE = ("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md",
         "--session-dir", ".", "--", "sh", "-c", "exit 3")  # fmt: skip


@pytest.fixture
def begun(repo: Path) -> Path:
    (repo / "task.md").write_text("Look.\n", encoding="utf-8")
    Claude(repo)("SessionStart", source="startup")
    return repo


def launched(repo: Path, cli: Cli) -> bool:
    return "output.launched" in cli("events", "--json", cwd=repo).stdout


@pytest.mark.req("RES-20")
def test_stage_is_not_run_until_the_section_is_updated(begun: Path, cli: Cli) -> None:
    journalled(begun)

    done = cli(*STAGE, cwd=begun, env=IN_SESSION)

    assert done.returncode == 1
    assert "SF129" in done.stderr
    assert FILE in done.stderr
    assert "standfast resumption" in done.stderr
    assert not launched(begun, cli)
    assert cli("resumption", "trigger", "T7", cwd=begun, env=IN_SESSION).returncode == 0
    assert "SF129" not in cli(*STAGE, cwd=begun, env=IN_SESSION).stderr
    assert launched(begun, cli)


@pytest.mark.req("RES-20")
def test_who_has_no_session_or_no_live_document_is_not_stopped(begun: Path, cli: Cli) -> None:
    assert "SF129" not in cli(*STAGE, cwd=begun, env=IN_SESSION).stderr
    value = old()
    value["recovery_state"]["workflow_status"] = "COMPLETE"
    journalled(begun, value)

    assert "SF129" not in cli(*STAGE, cwd=begun, env=IN_SESSION).stderr
    assert "SF129" not in cli(*STAGE, cwd=begun).stderr


@pytest.mark.req("RES-20")
def test_run_and_lane_are_neither_begun_nor_gone_on_with(tmp_path: Path) -> None:
    world = night(tmp_path)
    world.agent("exit 3")
    plan = world.plan("run: r\nlanes: {a: Do a.}\n")
    task = world.top / "task.md"
    task.write_text("Look.\n", encoding="utf-8")
    lane = ("--run-id", "s", "--phase", "P1", "--lane", "b")
    calls = [
        ("run", plan), ("resume", "r"),
        ("lane", "run", *lane, "--runner", "exit 3", "--task", str(task)),
        ("lane", "resume", *lane),
    ]  # fmt: skip
    for words in calls[::2]:
        assert world.call(*words).returncode != 0
    paid = world.paid().total()
    Claude(world.repo)("SessionStart", source="startup")
    journalled(world.repo)

    for words in calls:
        done = world.call(*words, **IN_SESSION)
        assert (done.returncode, "SF129" in done.stderr) == (1, True), done.stderr
    assert world.paid().total() == paid

"""Sessions in a linked worktree that has a copy of a committed document: they work by it too."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from claude_calls import Claude, context
from conftest import Cli
from resumption_world import FILE, HOUR_US, begun, payloads, section, transcript
from standfast import clock
from standfast.journal.store import Journal
from standfast.protocols.resumption.records import live_documents

OLD = "resumption:\n  recovery_state:\n    updated_at: 2026-02-20T10:30:00Z\n"


@pytest.fixture
def copied(repo: Path) -> Path:
    """A linked worktree with a copy of the document that is at home in the main checkout."""
    (repo / FILE).write_text(OLD, encoding="utf-8")
    for words in (("add", FILE), ("commit", "-qm", "x"), ("worktree", "add", "-q", "../w")):
        subprocess.run(["git", *words], cwd=repo, check=True)
    return repo.parent / "w"


@pytest.fixture
def journal(repo: Path) -> Journal:
    return Journal(str(repo / ".git" / "standfast"))


@pytest.fixture
def claude(copied: Path, journal: Journal, repo: Path) -> Claude:
    begun(journal, repo, ago=HOUR_US)
    made = Claude(copied)
    made("SessionStart", source="startup")
    return made


def ask(claude: Claude, tokens: int = 1_000) -> str:
    path = transcript(claude.root.parent / "t.jsonl", tokens)
    return context(claude("UserPromptSubmit", prompt="go on", transcript_path=str(path)))


def moved_on(cli: Cli, where: Path) -> None:
    phase = ("--phase", "3", "--phase-name", "next", "--next-step", "go")
    done = cli("resumption", "trigger", "T2", *phase, cwd=where)
    assert done.returncode == 0, done.stderr


@pytest.mark.req("RES-11", "RES-10")
def test_command_in_the_worktree_ends_what_its_hooks_demand(claude: Claude, cli: Cli) -> None:
    assert "CRITICAL" in ask(claude)
    assert "is CRITICAL" in context(claude("PreToolUse", tool_name="Bash", tool_use_id="a"))

    moved_on(cli, claude.root)

    assert "CRITICAL" not in ask(claude)
    assert claude("PreToolUse", tool_name="Bash", tool_use_id="b") == ""


@pytest.mark.req("RES-11")
def test_document_that_is_over_is_not_judged_by_its_copy(claude: Claude, journal: Journal) -> None:
    with journal.writing() as tx:
        at = "$.section.recovery_state.workflow_status"
        tx.execute("UPDATE cells SET value = json_set(value, ?, 'COMPLETE') "
                   "WHERE key LIKE 'resumption:%'", (at,))  # fmt: skip

    assert ask(claude) == ""


@pytest.mark.req("WAKE-01", "WAKE-06")
def test_brief_in_the_worktree_tells_the_plan_and_where_it_is_kept(
    claude: Claude, repo: Path
) -> None:
    claude("PreCompact", trigger="auto")

    said = claude.wakes()

    assert f"Plan {FILE}, phase 2" in said
    assert re.search(rf"{FILE} is kept in «(\w+) {repo} \1»: the copy here is not read\.", said)


@pytest.mark.req("RES-08")
def test_compaction_in_the_worktree_is_merged_once(claude: Claude, journal: Journal) -> None:
    claude("PreCompact", trigger="auto")
    claude.wakes()
    claude.does("Bash", command="true")
    claude.wakes("resume")

    (told,) = payloads(journal, "compaction.checkpoint")
    assert list(told["documents"]) == [FILE]
    (event,) = section(journal)["compaction_events"]["events"]
    assert event["checkpoint_file"] == ".git/standfast/checkpoints/cx-001-checkpoint.json"


@pytest.mark.req("RES-08")
def test_document_that_moved_does_not_get_its_compactions_again(
    copied: Path, journal: Journal, repo: Path, cli: Cli
) -> None:
    begun(journal, copied)
    claude = Claude(copied)
    claude("SessionStart", source="startup")
    claude("PreCompact", trigger="auto")
    claude.wakes()
    shutil.rmtree(copied)
    cli("note", "go on here", cwd=repo)
    cli("note", "and here", cwd=repo)

    assert len(payloads(journal, "resumption.moved")) == 1
    assert len(section(journal)["compaction_events"]["events"]) == 1


@pytest.mark.req("RES-23")
def test_threshold_that_is_crossed_in_the_worktree_is_noted(
    claude: Claude, journal: Journal, cli: Cli
) -> None:
    moved_on(cli, claude.root)
    ask(claude, 150_000)

    assert section(journal)["recovery_state"]["context_fill_at_update"] == 0.75


@pytest.mark.req("RES-12")
def test_write_to_the_copy_says_where_the_section_is_kept(claude: Claude, repo: Path) -> None:
    said = context(claude.does("Edit", file_path=str(claude.root / FILE)))

    assert f"kept in {repo / FILE}: this copy of {FILE} is not read" in said
    assert "this copy" not in context(claude.does("Edit", file_path=str(repo / FILE)))


@pytest.mark.req("RES-12")
def test_write_to_the_section_itself_is_judged_by_it(
    claude: Claude, repo: Path, journal: Journal
) -> None:
    (repo / FILE).write_text(OLD.replace("2026-02-20T10:30:00Z", clock.rfc3339(clock.now_us())),
                             encoding="utf-8")  # fmt: skip

    said = claude("PreToolUse", tool_name="Edit", tool_use_id="a",
                  tool_input={"file_path": str(repo / FILE)})  # fmt: skip

    assert "before this write" not in said


def test_document_at_home_goes_before_every_copy(
    claude: Claude, journal: Journal, repo: Path
) -> None:
    begun(journal, claude.root, file="other.yaml")

    here = [file for file, *_ in live_documents.documents(journal.query, str(claude.root))]
    there = [file for file, *_ in live_documents.documents(journal.query, str(repo))]

    assert (here, there) == (["other.yaml"], [FILE])


@pytest.mark.req("RES-10")
def test_status_judges_by_the_session_only_what_concerns_it(
    claude: Claude, cli: Cli, copied: Path
) -> None:
    environ = {"CLAUDE_CODE_SESSION_ID": claude.session}

    by_copy = json.loads(cli("status", "--json", cwd=copied, env=environ).stdout)
    (copied / FILE).unlink()
    without = json.loads(cli("status", "--json", cwd=copied, env=environ).stdout)

    levels = [told["documents"][0]["staleness"]["level"] for told in (by_copy, without)]
    assert levels[0] == "CRITICAL"
    assert levels[1] != "CRITICAL"

"""Compactions of an agent that works by a document: left by the hook, merged, acknowledged."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_calls import Claude
from conftest import Cli
from hook_calls import Hooks, put_launcher
from resumption_samples import scores
from resumption_world import FILE, HOUR_US, MINUTE_US, begun, payloads, section, transcript
from standfast import clock
from standfast.clients.hooks import aftermath
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.protocols.resumption.records import compactions, document_records
from standfast.protocols.resumption.rules import staleness
from standfast.protocols.resumption.rules.triggers import ThresholdCrossing

OTHER = "9a3d0000-aaaa-4bbb-8ccc-ddddeeee0000"
MAIN = Author("claude", session=OTHER)


@pytest.fixture
def claude(repo: Path) -> Claude:
    made = Claude(repo)
    made("SessionStart", source="startup")
    begun(made.journal, repo)
    return made


def events(claude: Claude) -> list[tuple[str, bool]]:
    told = section(claude.journal)["compaction_events"]["events"]
    return [(event["id"], event["acknowledged"]) for event in told]


def activity(claude: Claude) -> str:
    return str(section(claude.journal)["recovery_state"]["current_activity"])


@pytest.mark.req("RES-08")
def test_hook_leaves_one_event_and_its_file_and_nothing_else(claude: Claude, repo: Path) -> None:
    path = transcript(repo.parent / "t.jsonl", 150_000)
    before = sorted(repo.iterdir()), section(claude.journal)

    printed = claude("PreCompact", trigger="auto", transcript_path=str(path))

    assert printed == ""
    assert (sorted(repo.iterdir()), section(claude.journal)) == before
    (told,) = payloads(claude.journal, "compaction.checkpoint")
    file = repo / ".git" / "standfast" / "checkpoints" / "cx-001-checkpoint.json"
    assert json.loads(file.read_text(encoding="utf-8")) == told
    assert file.stat().st_mode & 0o777 == 0o600
    assert (told["id"], told["file"], told["root"]) == ("CX-001", str(file), str(repo))
    assert (told["trigger"], told["fill"]) == ("auto", 0.75)
    stood = told["documents"][FILE]
    assert (stood["active_phase"], stood["active_gate"]) == (2, None)
    assert stood["recovery_state"] == section(claude.journal)["recovery_state"]


@pytest.mark.req("RES-08", "RES-14")
def test_what_is_not_known_is_null(claude: Claude, repo: Path) -> None:
    claude("PreCompact", trigger="manual", transcript_path="/nowhere")

    (told,) = payloads(claude.journal, "compaction.checkpoint")
    assert (told["trigger"], told["fill"]) == ("manual", None)


def test_gate_that_is_being_scored_is_named(claude: Claude) -> None:
    with claude.journal.writing() as tx:
        some = dict(list(scores("0.9").items())[:2])
        document_records.score(tx, FILE, "qg-1", some, MAIN)
    claude("PreCompact", trigger="auto")

    (told,) = payloads(claude.journal, "compaction.checkpoint")
    stood = told["documents"][FILE]
    assert (stood["active_gate"], stood["active_gate_iteration"]) == ("qg-1", 1)
    claude.wakes()
    found = document_records.find(claude.journal.query, FILE)
    assert found is not None
    assert found.pending is None


def test_where_nobody_works_by_a_document_there_is_no_checkpoint(repo: Path) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    claude("PreCompact", trigger="auto")
    begun(claude.journal, repo.parent / "elsewhere")
    claude("PreCompact", trigger="auto")
    claude("PreCompact", trigger="auto", agent_id="a1")

    assert payloads(claude.journal, "compaction.checkpoint") == []


@pytest.mark.req("RES-08")
def test_compaction_is_merged_before_the_brief_and_acknowledged_when_it_was_seen(
    claude: Claude, repo: Path
) -> None:
    claude("PreCompact", trigger="auto")
    claude.wakes()

    assert events(claude) == [("CX-001", False)]
    assert activity(claude) == "compaction-recovery"
    (event,) = section(claude.journal)["compaction_events"]["events"]
    assert event["checkpoint_file"] == ".git/standfast/checkpoints/cx-001-checkpoint.json"
    assert (event["active_phase"], event["trigger"]) == (2, "auto")
    claude("UserPromptSubmit", prompt="go on")  # by nobody who was shown anything
    with claude.journal.writing() as tx:
        document_records.catch_up(tx, MAIN)
    assert events(claude) == [("CX-001", False)]

    claude("Stop")

    assert events(claude) == [("CX-001", True)]
    assert activity(claude) == "phase-2-agent-execution"
    assert not document_records.lags(claude.journal.query)


@pytest.mark.req("RES-08")
def test_any_command_acknowledges_what_was_seen(claude: Claude) -> None:
    claude("PreCompact", trigger="auto")
    claude.wakes()
    claude.begins("Bash", command="standfast status")

    assert document_records.lags(claude.journal.query)
    with claude.journal.writing() as tx:
        document_records.catch_up(tx, MAIN)

    assert events(claude) == [("CX-001", True)]


@pytest.mark.req("RES-08")
def test_brief_that_nobody_waited_for_acknowledges_nothing(claude: Claude) -> None:
    claude("PreCompact", trigger="auto")
    claude.misses("SessionStart", source="compact")
    claude.begins("Bash", command="make")
    with claude.journal.writing() as tx:
        document_records.catch_up(tx, MAIN)

    assert events(claude) == [("CX-001", False)]


@pytest.mark.req("RES-08")
def test_several_compactions_are_acknowledged_at_once(claude: Claude) -> None:
    for _ in range(3):
        claude("PreCompact", trigger="auto")
        claude.wakes()
    assert events(claude) == [("CX-001", False), ("CX-002", False), ("CX-003", False)]

    claude("Stop")

    assert all(acknowledged for _, acknowledged in events(claude))
    assert activity(claude) == "phase-2-agent-execution"
    fired = [told["trigger"] for told in payloads(claude.journal, "resumption.triggered")]
    ids = [each["compaction_events"].get("ids") for each in fired]
    assert ids == [None, None, None, ["CX-001", "CX-002", "CX-003"]]


@pytest.mark.req("RES-08")
def test_brief_of_an_earlier_compaction_acknowledges_no_later_one(claude: Claude) -> None:
    claude("PreCompact", trigger="auto")
    claude.wakes()
    claude("Stop")
    claude("PreCompact", trigger="manual")
    claude("Stop")

    assert events(claude) == [("CX-001", True), ("CX-002", False)]


@pytest.mark.req("RES-06", "RES-08")
def test_two_sessions_at_once_are_acknowledged_each_by_itself(claude: Claude, repo: Path) -> None:
    other = Claude(repo, OTHER)
    other("SessionStart", source="startup")
    for each in (claude, other):
        each("PreCompact", trigger="auto")
    claude.wakes()
    assert events(claude) == [("CX-001", False), ("CX-002", False)]
    claude("Stop")

    assert events(claude) == [("CX-001", True), ("CX-002", False)]
    other.wakes()
    other("Stop")
    assert events(claude) == [("CX-001", True), ("CX-002", True)]


def test_work_that_went_on_keeps_its_activity_when_it_is_acknowledged(claude: Claude) -> None:
    claude("PreCompact", trigger="auto")
    claude.wakes()
    found = document_records.find(claude.journal.query, FILE)
    assert found is not None
    with claude.journal.writing() as tx:
        some = dict(list(scores("0.9").items())[:2])
        document_records.score(tx, FILE, "qg-1", some, MAIN)
        state = document_records.recovery(
            tx.execute, found, clock.now_us(), current_activity="qg-1-iteration-1"
        )
        document_records.fire(tx, FILE, crossing(state), MAIN)
    claude("Stop")

    assert events(claude) == [("CX-001", True)]
    assert activity(claude) == "qg-1-iteration-1"
    found = document_records.find(claude.journal.query, FILE)
    assert found is not None
    assert found.pending is not None  # to be told of a compaction cuts no iteration


def crossing(state: document_records.Recovery) -> ThresholdCrossing:
    return ThresholdCrossing(state)


@pytest.mark.req("RES-10", "RES-08")
def test_late_merge_does_not_make_a_section_look_updated(repo: Path) -> None:
    first = Claude(repo)
    first("SessionStart", source="startup")
    begun(first.journal, repo)
    first("PreCompact", trigger="auto")
    with first.journal.writing() as tx:  # all of it was yesterday
        tx.execute("UPDATE cells SET at = at - ?", (24 * HOUR_US,))
        tx.execute(
            "UPDATE cells SET value = json_set(value, '$.section.recovery_state.updated_at', ?)"
            " WHERE key LIKE 'resumption:%'",
            (clock.rfc3339(clock.now_us() - 25 * HOUR_US),),
        )
    Claude(repo, OTHER)("SessionStart", source="startup")

    assert events(first) == [("CX-001", False)]
    updated = staleness.seconds(section(first.journal)["recovery_state"]["updated_at"])
    assert updated is not None
    assert updated < clock.now_us() // clock.MICROSECONDS - 23 * 3600


def test_thousandth_comes_after_the_one_before_it(claude: Claude) -> None:
    with claude.journal.writing() as tx:
        tx.execute("INSERT INTO counters VALUES ('CX', 998)")
    for _ in range(3):
        claude("PreCompact", trigger="auto")
    claude.wakes()

    told = section(claude.journal)["compaction_events"]["events"]
    names = [os.path.basename(event["checkpoint_file"]) for event in told]
    assert names == [f"cx-{number}-checkpoint.json" for number in (999, 1000, 1001)]


@pytest.mark.req("RES-08")
def test_hook_that_is_killed_before_its_file_loses_nothing(
    claude: Claude, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(aftermath, "tidy", lambda *_: None)
        claude("PreCompact", trigger="auto")
    folder = repo / ".git" / "standfast" / "checkpoints"
    assert not folder.exists()

    claude.wakes()

    assert [file.name for file in folder.iterdir()] == ["cx-001-checkpoint.json"]
    assert events(claude) == [("CX-001", False)]


def test_merging_twice_changes_nothing(claude: Claude) -> None:
    claude("PreCompact", trigger="auto")
    with claude.journal.writing() as tx:
        compactions.merge(tx, MAIN)
    before = section(claude.journal)
    with claude.journal.writing() as tx:
        compactions.merge(tx, MAIN)
        compactions.acknowledge(tx, MAIN)

    assert section(claude.journal) == before


@pytest.mark.req("RES-08")
def test_document_that_is_not_worked_by_any_more_gets_no_compaction(claude: Claude) -> None:
    claude("PreCompact", trigger="auto")
    with claude.journal.writing() as tx:
        tx.execute(
            "UPDATE cells SET value = json_set(value,"
            " '$.section.recovery_state.workflow_status', 'COMPLETE')"
            " WHERE key LIKE 'resumption:%'"
        )
    claude.wakes()

    assert events(claude) == []


def test_file_of_the_document_shows_it_after_the_wake_up(claude: Claude, repo: Path) -> None:
    (repo / FILE).write_text("workflow:\n  id: w1  # mine\n", encoding="utf-8")
    claude("PreCompact", trigger="auto")
    before = (repo / FILE).read_text(encoding="utf-8")
    claude.wakes()

    text = (repo / FILE).read_text(encoding="utf-8")
    assert before == "workflow:\n  id: w1  # mine\n"
    assert text.startswith(before)
    assert "current_activity: compaction-recovery" in text


def test_resumed_session_that_was_killed_after_its_compaction_is_told_too(claude: Claude) -> None:
    claude("PreCompact", trigger="auto")
    claude.misses("SessionStart", source="compact")
    assert claude.wakes("resume")
    claude("Stop")

    assert events(claude) == [("CX-001", True)]


def journal_of(repo: Path) -> Journal:
    return Journal(str(repo / ".git" / "standfast"))


@pytest.mark.req("RES-10")
def test_compaction_in_a_session_leaves_the_section_as_fresh_as_it_was(
    claude: Claude, repo: Path
) -> None:
    begun(journal_of(repo), repo, ago=5 * MINUTE_US)
    claude("PreCompact", trigger="auto")
    claude.wakes()

    updated = section(claude.journal)["recovery_state"]["updated_at"]
    assert staleness.judge(updated, now_us=clock.now_us()).level == staleness.FRESH


def test_document_that_makes_no_sense_costs_no_fact(
    claude: Claude, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude("PreCompact", trigger="auto")
    monkeypatch.setattr(aftermath, "tidy", lambda *_: None)
    with claude.journal.writing() as tx:
        tx.execute("UPDATE cells SET value = '{\"root\": 1}' WHERE key LIKE 'cx:%'")

    assert claude.wakes()
    assert len(payloads(claude.journal, "session.started")) == 2


@pytest.mark.req("RES-08")
def test_next_command_writes_the_file_of_a_hook_that_was_killed(
    claude: Claude, repo: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aftermath, "tidy", lambda *_: None)
    claude("PreCompact", trigger="auto")

    assert cli("status", cwd=repo).returncode == 0

    file = repo / ".git" / "standfast" / "checkpoints" / "cx-001-checkpoint.json"
    assert json.loads(file.read_text(encoding="utf-8"))["id"] == "CX-001"
    assert cli("note", "go on", cwd=repo).returncode == 0
    assert events(claude) == [("CX-001", False)]


@pytest.mark.prove
@pytest.mark.req("RES-06", "RES-08")
def test_many_sessions_that_compact_at_once_leave_no_gap(repo: Path, tmp_path: Path) -> None:
    launcher = put_launcher(tmp_path / "bin" / "hook")
    hooks = [Hooks(repo, launcher) for _ in range(8)]
    hooks[0]("SessionStart", source="startup")
    journal = journal_of(repo)
    begun(journal, repo)

    def compacts(number: int) -> None:
        name = f"00000000-0000-4000-8000-00000000000{number}"
        for event, fields in (
            ("SessionStart", {"source": "startup"}),
            ("PreCompact", {"trigger": "auto"}),
            ("SessionStart", {"source": "compact"}),
            ("Stop", {}),
        ):
            hooks[number](event, session_id=name, **fields)

    with ThreadPoolExecutor(len(hooks)) as pool:
        list(pool.map(compacts, range(len(hooks))))
    with journal.writing() as tx:
        document_records.catch_up(tx, MAIN)

    wanted = [f"CX-00{number}" for number in range(1, len(hooks) + 1)]
    assert [told["id"] for told in payloads(journal, "compaction.checkpoint")] == wanted
    told = section(journal)["compaction_events"]["events"]
    assert [event["id"] for event in told] == wanted
    # On a busy machine a client has left before its brief was printed: then nobody was told.
    whose = "SELECT session FROM events WHERE kind = 'compaction.checkpoint' ORDER BY seq"
    seen = journal.query("SELECT session FROM briefs WHERE why = 'compact' AND seen > 0")
    was_told = [row in seen for row in journal.query(whose)]
    assert [event["acknowledged"] for event in told] == was_told
    assert len({event["checkpoint_file"] for event in told}) == len(hooks)
    assert all((repo / event["checkpoint_file"]).is_file() for event in told)
    hooks[0].whole()

"""Thirty days and 500 MB: enforced in bounded steps by commands, never by hooks, on purpose."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from attacks import (
    DONE,
    STANDFAST,
    call,
    decisions,
    done,
    fair,
    record,
    refused,
    run,
    shell,
    unprivileged,
    with_mounts,
)
from claude_calls import Claude
from places import TESTS
from standfast import clock, config
from standfast.brief import brief_text, facts
from standfast.errors.base import BadConfig, DiskFailed
from standfast.journal import mirror, questions
from standfast.journal.author import Author
from standfast.journal.retention import retention_limits
from standfast.journal.retention.retention_limits import Limits
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records as deciding
from standfast.journal.verification import verify

DAY_US = 86_400 * clock.MICROSECONDS
USUAL = Limits(days=30, mb=500)
MUSEUM = TESTS / "museum"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "standfast"))


@contextmanager
def days_ago(days: float) -> Iterator[None]:
    """Everything that is recorded in here happened so long ago."""
    real = clock.now_us
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now_us", lambda: real() - round(days * DAY_US))
        yield


def fill(journal: Journal, *ages: float, text: str = "words", count: int = 1) -> None:
    """So many events of each age in days, in this order."""
    now = clock.now_us()
    with journal.writing() as tx:
        for age in ages:
            for _ in range(count):
                at = now - round(age * DAY_US)
                tx.append("x", {"text": text}, Author(session="s"), at=at)


def first(journal: Journal) -> int:
    return int(journal.query("SELECT min(seq) FROM events")[0][0])


def folder(repo: Path) -> Journal:
    return Journal(str(repo / ".git" / "standfast"))


# Age.


@pytest.mark.req("SEC-08")
def test_what_is_older_than_the_days_goes_and_nothing_younger(journal: Journal) -> None:
    fill(journal, 40, 31, 30.01, 29.9, 35, 0)

    done = retention_limits.trim(journal, USUAL)

    assert (done.events, done.through, done.is_done) == (3, 3, True)
    assert first(journal) == 4  # the old one behind a young one came late, and goes with it
    assert retention_limits.trim(journal, USUAL).events == 0
    assert verify(journal).problems == []


@pytest.mark.req("SEC-08")
def test_commands_drop_by_age_once_a_day(journal: Journal) -> None:
    fill(journal, 30.9, 1)
    assert not retention_limits.is_due(journal, USUAL)

    fill(other := Journal(f"{journal.folder}-2"), 31.1, 30.5, 1)

    assert retention_limits.is_due(other, USUAL)
    assert retention_limits.trim(other, USUAL).events == 2
    assert not retention_limits.is_due(other, USUAL)


@pytest.mark.req("SEC-08")
def test_date_in_the_future_holds_nothing_back_and_a_clock_set_back_drops_nothing(
    journal: Journal,
) -> None:
    fill(journal, -4_000, 40, -4_000, 39, 2, 0)

    with days_ago(20_000):
        assert not retention_limits.is_due(journal, USUAL)
        assert retention_limits.trim(journal, USUAL).events == 0
    assert retention_limits.is_due(journal, USUAL)
    assert retention_limits.trim(journal, USUAL).events == 4
    assert not retention_limits.is_due(journal, USUAL)


@pytest.mark.req("SEC-08")
def test_journal_without_anything_young_is_left_to_a_person(journal: Journal) -> None:
    """Back from a long holiday, or a clock that ran ahead: looking must not empty a journal."""
    fill(journal, 90, 60)

    assert not retention_limits.is_due(journal, USUAL)
    assert retention_limits.trim(journal, USUAL).events == 2
    assert retention_limits.trim(journal, USUAL).events == 0
    assert verify(journal).problems == []


@pytest.mark.req("REL-05")
def test_clock_set_forward_by_years_empties_nothing_before_it_has_stood_for_a_day(
    journal: Journal,
) -> None:
    fill(journal, 2, 1, 0)

    with days_ago(-4_000):
        fill(journal, 0)  # what is recorded under the wrong clock is young by it
        wrong = retention_limits.is_due(journal, USUAL)
    with days_ago(-4_001.5):
        fill(journal, 0)
        stood = retention_limits.is_due(journal, USUAL)

    assert (wrong, stood) == (False, True)


@pytest.mark.req("SEC-08")
def test_what_tells_of_a_drop_is_dropped_with_others_only(journal: Journal) -> None:
    with days_ago(60):
        fill(journal, 40, 0)
        retention_limits.trim(journal, USUAL)

    assert retention_limits.trim(journal, USUAL).events == 2  # the younger one then, and the drop
    with days_ago(-60):
        assert retention_limits.trim(journal, USUAL).events == 0
    assert journal.query("SELECT seq, kind FROM events") == [(4, "events.dropped")]
    assert verify(journal).problems == []


@pytest.mark.req("SEC-08")
def test_nought_keeps_for_ever(journal: Journal) -> None:
    fill(journal, 4_000, 0)

    for limits in (Limits(0, 0), Limits(0, 500)):
        assert not retention_limits.is_due(journal, limits)
        assert retention_limits.trim(journal, limits).events == 0


# Size.


@pytest.mark.req("SEC-08")
def test_too_much_is_brought_well_below_the_limit_and_no_further(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention_limits, "STEP", 100)
    fill(journal, 1, text="words " * 100, count=4_000)
    limits = Limits(days=30, mb=3)
    assert retention_limits.size(journal) > 3e6
    assert retention_limits.is_due(journal, limits)

    done = retention_limits.trim(journal, limits)

    assert 0.7 * 3e6 < done.size < 0.8 * 3e6
    assert done.size == retention_limits.size(journal)
    assert not retention_limits.is_due(journal, limits)
    assert verify(journal).problems == []


@pytest.mark.req("SEC-08")
def test_size_never_takes_the_newest_thousand(journal: Journal) -> None:
    fill(journal, 1, text="words " * 200, count=1_500)

    done = retention_limits.trim(journal, Limits(days=30, mb=1))

    assert (done.events, first(journal)) == (500, 501)
    fill(journal, 0, count=50)
    assert retention_limits.trim(journal, Limits(days=30, mb=1)).events == 0  # not worth a step


# Bounded steps.


@pytest.mark.prove
@pytest.mark.req("SEC-08")
def test_a_hundred_thousand_events_go_in_bounded_steps(journal: Journal) -> None:
    for _ in range(20):
        fill(journal, 40, text="words " * 20, count=5_000)
    fill(journal, 0)
    journal.mirror()

    some = retention_limits.trim(journal, USUAL, steps=retention_limits.STEPS_BY_THE_WAY)
    rest = retention_limits.trim(journal, USUAL)

    assert some.events == retention_limits.STEP * retention_limits.STEPS_BY_THE_WAY
    assert not some.is_done
    assert some.events + rest.events == 100_000
    assert rest.is_done
    steps = journal.query(
        "SELECT max(payload ->> 'events'), count(*) FROM events WHERE kind = 'events.dropped'"
    )
    assert steps == [(retention_limits.STEP, 100_000 // retention_limits.STEP)]
    report = verify(journal)
    assert (report.problems, report.dropped) == ([], 100_000)


@pytest.mark.req("SEC-08")
def test_second_trim_at_the_same_time_leaves_it_to_the_first(journal: Journal) -> None:
    fill(journal, 40, 0)

    with mirror.alone(journal.folder) as is_mine:
        meanwhile = retention_limits.trim(Journal(journal.folder), USUAL)

    assert is_mine
    assert (meanwhile.events, meanwhile.is_done) == (0, False)
    assert retention_limits.trim(journal, USUAL).events == 1


@pytest.mark.req("SEC-08")
def test_events_that_the_mirror_lacks_are_not_dropped(journal: Journal) -> None:
    fill(journal, 40, 39)
    journal.mirror()
    fill(journal, 38, 0)

    assert retention_limits.boundary(journal, USUAL, is_over=False) == 2
    assert retention_limits.boundary(journal, USUAL, is_over=True) == 2
    journal.mirror()
    assert retention_limits.boundary(journal, USUAL, is_over=False) == 3


# The commands.


@pytest.mark.req("SEC-08")
def test_command_drops_by_the_way_and_a_hook_never_does(repo: Path) -> None:
    with days_ago(40):
        record(repo, "decided long ago")
    fill(folder(repo), 2)
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    claude("UserPromptSubmit", prompt="go on")
    claude("Stop", last_assistant_message="done")
    after_hooks = first(folder(repo))

    done(call("-C", str(repo), "status"))

    assert after_hooks == 1
    assert first(folder(repo)) == 2
    assert decisions(repo) == ["decided long ago"]
    assert verify(folder(repo)).problems == []


@pytest.mark.req("SEC-08")
def test_looking_commands_change_nothing(repo: Path) -> None:
    with days_ago(40):
        record(repo, "one")
    fill(folder(repo), 0)

    for command in (("doctor",), ("journal", "verify"), ("journal", "export"), ("journal", "path")):
        fair(call("-C", str(repo), *command))

    assert first(folder(repo)) == 1


@pytest.mark.req("SEC-08")
def test_trimmed_journal_says_so_wherever_it_is_asked(repo: Path, tmp_path: Path) -> None:
    with days_ago(40):
        record(repo, "one", "two")
    fill(folder(repo), 0)
    here = ("-C", str(repo))

    trimmed = json.loads(done(call(*here, "journal", "trim", "--json")).out)
    again = done(call(*here, "journal", "trim")).out
    verified = json.loads(done(call(*here, "journal", "verify", "--json")).out)
    said = done(call(*here, "journal", "verify")).out
    exported = done(call(*here, "journal", "export"))
    kept = json.loads(
        done(call(*here, "journal", "export", "-o", str(tmp_path / "out"), "--json")).out
    )
    listed = done(call(*here, "events", "-n", "0", "--json"))
    checked = fair(call(*here, "doctor")).out  # whether hooks are installed is not the question

    assert (trimmed["dropped"], trimmed["dropped_through"], trimmed["done"]) == (2, 2, True)
    on_purpose = "Events 1 to 2 were dropped on purpose"
    assert again.startswith("0 events dropped; kept: 30 days and 500 MB, now ")
    assert on_purpose in again
    assert (verified["ok"], verified["events"], verified["dropped_through"]) == (True, 2, 2)
    assert on_purpose in said
    assert on_purpose in exported.err
    assert [json.loads(line)["seq"] for line in exported.out.splitlines()] == [3, 4]
    assert (kept["events"], kept["dropped_through"]) == (2, 2)
    assert len((tmp_path / "out").read_text(encoding="utf-8").splitlines()) == 2
    assert "events 1 to 2 were dropped on purpose" in listed.err
    assert [json.loads(line)["seq"] for line in listed.out.splitlines()] == [3, 4]
    assert "MB of 500, 30 days, events 1 to 2 dropped" in checked
    assert decisions(repo) == ["one", "two"]


@pytest.mark.req("SEC-08")
@pytest.mark.parametrize("key", ["keep_days", "keep_mb"])
def test_repository_cannot_shorten_a_history(repo: Path, key: str) -> None:
    fill(folder(repo), 10, 5, 0)
    variable = f"STANDFAST_{key.upper()}"
    by_variable = run("status", cwd=repo, env={variable: "1"})
    (repo / ".standfast.yaml").write_text(f"{key}: 1\n", encoding="utf-8")

    refused(run("journal", "trim", cwd=repo), BadConfig)
    (repo / ".standfast.yaml").unlink()

    assert done(by_variable)
    assert first(folder(repo)) == 1
    assert done(run("--set", "keep_days=7", "journal", "trim", cwd=repo))
    assert first(folder(repo)) == 2


@pytest.mark.parametrize("value", ["-1", "1.5", "many", "", "12345678"])
def test_limit_is_a_whole_number(value: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="keep_days"):
        config.load(str(tmp_path), {"HOME": str(tmp_path)}, flags=(f"keep_days={value}",))


# What is told afterwards.


@pytest.mark.req("SEC-08")
def test_brief_and_status_tell_the_same_decisions_and_sessions_after_a_trim(repo: Path) -> None:
    with days_ago(45):
        old = Claude(repo, "0ld00000-session")
        old("SessionStart", source="startup")
        old("UserPromptSubmit", prompt="long ago")
        old.does("Bash", command="make old")
        old("SessionEnd", reason="logout")
    claude = Claude(repo)
    with days_ago(35):
        claude("SessionStart", source="startup")
        claude("UserPromptSubmit", prompt="the old question")
        claude.begins("Bash", command="npm run watch")
        with folder(repo).writing() as tx:
            deciding.note(tx, "mine for ever", Author(session=claude.session))
            deciding.note(tx, "everybody's for ever")
    with days_ago(2):
        claude.does("Bash", command="make new")
    journal = folder(repo)
    before = told(repo, claude.session)
    listed = json.loads(done(call("-C", str(repo), "status", "--all", "--json")).out)

    dropped = retention_limits.trim(journal, USUAL)
    after = told(repo, claude.session)

    assert first(journal) > 2  # also by `status`, which was called before
    assert dropped.is_done
    assert verify(journal).problems == []
    for section in ("DECISIONS", "- RD-001", "- RD-002", "IN FLIGHT", "npm run watch"):
        assert section in before
        assert section in after
    assert "make new" in after
    assert "the old question" in before
    assert "the old question" not in after
    status = json.loads(done(call("-C", str(repo), "status", "--all", "--json")).out)
    assert status["decisions"] == listed["decisions"]
    names = [(s["session"], s["state"], s["last_at"]) for s in status["sessions"]]
    assert names[0] == (
        claude.session,
        "running",
        next(s["last_at"] for s in listed["sessions"] if s["session"] == claude.session),
    )
    assert names[1][:2] == (old.session, "ended")
    assert "1970" not in str(status) + told(repo, old.session)
    assert "make old" not in told(repo, old.session)


def told(repo: Path, session: str) -> str:
    found = facts.gather(folder(repo).query, session, "claude", "resume", most=20)
    return brief_text.render(found, "nonce", brief_text.SHORT)


@pytest.mark.req("SEC-08")
def test_fork_still_knows_the_decisions_before_it_when_its_start_was_dropped(repo: Path) -> None:
    journal = folder(repo)
    with days_ago(40):
        claude = Claude(repo, "parent00")
        claude("SessionStart", source="startup")
        with journal.writing() as tx:
            deciding.note(tx, "before the fork", Author(session="parent00"))
        payload = {"source": "fork", "client": "claude", "parent": "parent00"}
        journal.append("session.started", payload, Author("claude", session="forked00"))
        with journal.writing() as tx:
            deciding.note(tx, "after the fork", Author(session="parent00"))
    journal.append("prompt", {"text": "young"}, Author(session="forked00"))
    before = told(repo, "forked00")

    retention_limits.trim(journal, USUAL)
    after = told(repo, "forked00")

    assert first(journal) > 3
    for text in (before, after):
        assert "before the fork" in text
        assert "after the fork" not in text


# Where it cannot be done.


@pytest.mark.req("SEC-08", "SEC-07")
def test_read_only_journal_is_told_as_it_is_and_nothing_is_dropped(repo: Path) -> None:
    with days_ago(40):
        record(repo, "kept")
    fill(folder(repo), 0)
    place = repo / ".git" / "standfast"
    through = unprivileged()
    for path in (*place.rglob("*"), place):
        path.chmod(0o500 if path.is_dir() else 0o400)

    try:
        status = done(run("status", "--json", cwd=repo, through=through))
        trim = fair(run("journal", "trim", cwd=repo, through=through))
    finally:
        for path in (place, *place.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)

    assert "kept" in status.out
    assert json.loads(status.out)["needs_you"] == []
    assert trim.status != DONE
    assert first(folder(repo)) == 1
    assert verify(folder(repo)).problems == []


@pytest.mark.sweep(3)
@pytest.mark.req("SEC-08")
@pytest.mark.parametrize("blocks", [1, 40, 400, 1_200, 2_000, 3_000])
def test_trim_that_may_write_no_more_drops_all_or_nothing(repo: Path, blocks: int) -> None:
    """No file may grow over so many KiB: the base, the log and the mirror are cut off in turn."""
    journal = folder(repo)
    with days_ago(40):
        record(repo, "kept")
    fill(journal, 40, text="words " * 100, count=1_500)
    fill(journal, 0)
    journal.close()

    answer = fair(run("journal", "trim", cwd=repo, through=shell(f"ulimit -f {blocks}")))

    assert answer.status in {DONE, DiskFailed.exit_status}
    assert verify(journal).problems == []
    assert first(journal) in {1, 1_502}
    assert done(run("journal", "trim", cwd=repo))
    assert verify(journal).dropped == 1_501
    assert decisions(repo) == ["kept"]


@pytest.mark.req("SEC-08")
def test_trim_on_a_full_disk_drops_all_or_nothing_and_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    made = tmp_path / "made"
    with days_ago(40):
        source = Journal(str(made))
        with source.writing() as tx:
            deciding.note(tx, "kept")
        fill(source, 40, text="words " * 100, count=1_500)
    fill(source, 0)
    source.close()
    log = tmp_path / "log"
    python = STANDFAST[0]
    script = (
        f"mount -t tmpfs -o size=16m none '{place}'; cd '{place}'; git init -q --template= .\n"
        f"cp -r '{made}' .git/standfast\n"
        "dd if=/dev/zero of=fill bs=4k 2>/dev/null || true\n"
        f"for k in 0 8 40 400 2000; do truncate -s -${{k}}k fill; {python} -m standfast journal"
        f" trim >>'{log}' 2>&1; echo status $? >>'{log}';"
        f" {python} -m standfast journal verify >>'{log}' 2>&1; echo verified $? >>'{log}'; done\n"
        f"rm fill; {python} -m standfast journal trim >>'{log}' 2>&1\n"
        f"{python} -m standfast journal verify --json >>'{log}' 2>&1\n"
    )

    subprocess.run([*with_mounts(), "bash", "-c", script], cwd=tmp_path, check=True, timeout=120)

    text = log.read_text(encoding="utf-8")
    assert "Traceback" not in text
    assert text.count("verified 0") == 5, text
    assert f"status {DiskFailed.exit_status}" in text
    last = json.loads(text.splitlines()[-1])
    assert (last["ok"], last["dropped_through"]) == (True, 1_501)


@pytest.mark.req("SEC-08", "PLAT-01")
@pytest.mark.parametrize("schema", ["schema-1", "schema-2"])
def test_journal_of_an_older_schema_is_trimmed(tmp_path: Path, schema: str) -> None:
    shutil.copytree(MUSEUM / schema, tmp_path / "standfast")
    journal = Journal(str(tmp_path / "standfast"))
    texts = [decision.text for decision in questions.decisions(journal)]
    last = questions.last_seq(journal)

    with days_ago(-4_000):
        done = retention_limits.trim(journal, USUAL)

    assert done.events == last
    assert [decision.text for decision in questions.decisions(journal)] == texts
    assert verify(journal).problems == []

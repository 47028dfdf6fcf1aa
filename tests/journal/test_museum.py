"""Journals of every schema there ever was open with this version, and go on. It only grows."""

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from conftest import Cli
from places import TESTS
from standfast.errors.lanes import PowerFailed
from standfast.journal import questions
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records, schema
from standfast.journal.verification import verify

MUSEUM = TESTS / "museum"


@pytest.mark.parametrize("exhibit", sorted(path.name for path in MUSEUM.glob("schema-*")))
def test_journal_of_an_older_schema_is_whole_and_goes_on(exhibit: str, tmp_path: Path) -> None:
    folder = tmp_path / "standfast"
    shutil.copytree(MUSEUM / exhibit, folder)
    journal = Journal(str(folder))

    before = verify(journal).problems
    with journal.writing() as tx:
        identity = decision_records.note(tx, "one more")
        token = tx.take("lane/SL-API", "worker-2", expect=1)

    assert before == []
    assert (identity, token) == ("RD-003", 2)
    assert [(d.text, d.actor, d.subdir) for d in questions.decisions(journal)] == [
        ("sessions in Postgres", "user", ""),
        ("nothing under src/legacy", "lead", "services/api"),
        ("one more", "user", ""),
    ]
    assert questions.cell(journal, "phase") == ({"is": 2}, 4)
    assert verify(journal).problems == []


def test_museum_has_an_exhibit_of_the_present_schema() -> None:
    assert (MUSEUM / f"schema-{schema.VERSION}" / "journal.db").is_file()


# A whole place, as a version before left it: documents, outputs, a base of dropped events, facts
# in the spool, and a run that was killed with -9 under its second lane. Its folder is another one
# now, so a person is asked before anything is begun.

DOUBT = "lane/plan/P1/second/task-task/1"


@pytest.fixture
def half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with tarfile.open(MUSEUM / "half-done.tar.xz") as packed:
        packed.extraction_filter = lambda member, _: member  # ours: its links and modes count
        packed.extractall(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home/.local/state"))
    return tmp_path / "repo"


@pytest.mark.req("PLAT-01")
def test_run_that_an_older_version_left_half_done_is_taken_on_without_loss(
    half_done: Path, cli: Cli
) -> None:
    told = cli("status", cwd=half_done).stdout
    assert DOUBT in told
    assert "wave 2/2, 1 waiting, 1 done" in told
    assert [words for words in DECIDED if words not in told] == []
    gate = cli("outputs", "gate", "--stage", "review-code", "--session-dir", "s", cwd=half_done)
    assert (gate.returncode, gate.stdout) == (0, "PERSISTENCE_GATE=PASS\n")

    (half_done / ".worktrees/plan/P1/second/two.txt").write_text("two\n", encoding="utf-8")
    told_first = trusted(cli, half_done, "settle", DOUBT, "done")  # the power failed under it
    settled = cli("settle", DOUBT, "done", cwd=half_done).returncode
    resumed = trusted(cli, half_done, "resume", "plan")

    assert (told_first, settled, resumed) == (PowerFailed.exit_status, 0, 0)
    assert shown(half_done, "main:one.txt") == "one\n"
    assert shown(half_done, "main:two.txt") == "two\n"
    assert "PHASE    1 P1, " in cli("resumption", "show", cwd=half_done).stdout
    verified = cli("journal", "verify", cwd=half_done).stdout
    assert "kept every promise.\nEvents 1 to 5 were dropped on purpose" in verified
    spooled = cli("events", "--kind", "tool.done", "--json", cwd=half_done).stdout
    assert len(spooled.splitlines()) == 2
    again = cli("resume", cwd=half_done)
    assert (again.returncode, again.stdout) == (0, "Nothing was left in the middle.\n")


DECIDED = ("sessions in Postgres", "nothing under src/legacy", "SPDX headers")


def trusted(cli: Cli, repo: Path, *words: str) -> int:
    """What a person does: look at what it would begin, and say that it may."""
    asked = cli(*words, cwd=repo)
    (fingerprint,) = set(re.findall(r"[0-9a-f]{64}", asked.stderr))
    return cli(*words, "--trust", fingerprint, cwd=repo).returncode


def shown(repo: Path, what: str) -> str:
    done = subprocess.run(
        ["git", "show", what], cwd=repo, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout

"""Damage that SQLite passes over is noticed; what a crash leaves is never taken for damage.

A byte that flips in the write-ahead log takes with it everything committed after it. The log's
index knows better, until SQLite makes it anew.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import apsw
import pytest

from damaged import DATABASE, INDEX, LOG, Sample, fill, flip, make, mend, told
from hook_calls import Hooks, put_launcher
from standfast.errors.base import JournalDamaged
from standfast.journal import damage, questions
from standfast.journal.store import Journal
from standfast.journal.verification import verify

FRAME = 24 + 2_048


@pytest.fixture(scope="module")
def sample(world_of_the_session: None, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return make(tmp_path_factory.mktemp("sample") / "standfast")


@pytest.fixture
def folder(sample: Sample, tmp_path: Path) -> Path:
    return sample.copy(tmp_path / "standfast")


def frames(folder: Path) -> int:
    return ((folder / LOG).stat().st_size - 32) // FRAME


@pytest.mark.req("REL-06")
def test_flip_anywhere_in_the_log_is_noticed_although_the_mirror_never_saw_it(
    sample: Sample, tmp_path: Path
) -> None:
    """Twice over: once SQLite has made the index anew, only the mark remembers."""
    dice = random.Random("log")
    size = (sample.folder / LOG).stat().st_size
    for number, offset in enumerate([0, 5, 17, 25, *(dice.randrange(size) for _ in range(40))]):
        folder = sample.copy(tmp_path / str(number))
        shutil.rmtree(folder / "mirror")
        flip(folder / LOG, offset, dice.randrange(8))

        first, second = told(folder), told(folder)

        assert isinstance(first, JournalDamaged), offset
        assert isinstance(second, JournalDamaged), offset
        shutil.rmtree(folder)


@pytest.mark.req("REL-06")
def test_hook_notices_too_and_nothing_is_written_over_what_was_lost(
    sample: Sample, folder: Path
) -> None:
    flip(folder / LOG, 32 + 20 * FRAME + 500)
    before = (folder / LOG).read_bytes()
    journal = Journal(str(folder), checkpoint=False)

    for _ in range(2):
        with pytest.raises(JournalDamaged):
            journal.append("x", {})

    assert (folder / LOG).read_bytes() == before
    assert (folder / "damaged").read_text("utf-8").startswith("pages in the write-ahead log: ")


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("size", [0, 1])
def test_log_is_not_thrown_away_with_an_emptied_database(folder: Path, size: int) -> None:
    os.truncate(folder / DATABASE, size)

    assert isinstance(told(folder), JournalDamaged)
    assert frames(folder) > 10


def test_log_that_is_all_in_the_database_may_be_damaged(sample: Sample, folder: Path) -> None:
    """Nothing is lost: whoever opens the journal gets all of it."""
    Journal(str(folder)).checkpoint()
    flip(folder / LOG, 32 + 500)

    assert told(folder) == sample.truth


# What is no damage.


@pytest.mark.req("REL-01")
@pytest.mark.parametrize("cut", [1, 24, 100, FRAME, FRAME + 1])
def test_torn_tail_that_was_never_committed_is_no_damage(
    sample: Sample, folder: Path, cut: int
) -> None:
    """Death in the middle of a commit: frames are there, the index does not know of them."""
    ahead = folder.with_name("ahead")
    shutil.copytree(folder, ahead)
    journal = Journal(str(ahead))
    fill(journal, 2)
    journal.let_go()
    log = (ahead / LOG).read_bytes()
    (folder / LOG).write_bytes(log[:-cut])

    found = told(folder)

    assert isinstance(found, list)
    assert found[: len(sample.truth)] == sample.truth


@pytest.mark.req("REL-01")
def test_index_that_a_loss_of_power_left_behind_is_no_damage(
    sample: Sample, folder: Path, tmp_path: Path
) -> None:
    """The index is never synced: any older one may be on disk beside a newer log."""
    older = [(folder / INDEX).read_bytes()]
    journal = Journal(str(folder))
    for step in range(8):
        fill(journal, 3)
        if step == 3:
            journal.checkpoint()
        if step == 5:
            journal.query("PRAGMA wal_checkpoint(RESTART)")
        if step == 6:
            journal.query("PRAGMA wal_checkpoint(TRUNCATE)")
        older.append((folder / INDEX).read_bytes())
        for number, index in enumerate(older):
            copy = tmp_path / f"{step}-{number}"
            shutil.copytree(folder, copy)
            (copy / INDEX).write_bytes(index)
            found = told(copy)
            assert isinstance(found, list), (step, number, found)
            assert len(found) == questions.last_seq(journal)
            shutil.rmtree(copy)
    journal.close()


WRITE = """
import random, sys
from standfast.journal.store import Journal
journal = Journal(sys.argv[1], lock_timeout_s=60, checkpoint=sys.argv[2] == "1")
print("ready", flush=True)
while True:
    with journal.writing() as tx:
        for number in range(random.choice((1, 1, 40))):
            tx.append("x", {"text": "y" * random.randrange(3000)}, Author("user", session="s"))
    print("done", flush=True)
    if random.random() < 0.05:
        journal.checkpoint()
    if random.random() < 0.1:
        journal.let_go()
"""


@pytest.mark.req("REL-01")
@pytest.mark.prove
def test_kills_in_mid_commit_are_never_called_damage(folder: Path) -> None:
    dice = random.Random("kills")
    for number in range(25):
        argv = [sys.executable, "-c", WRITE, str(folder), str(number % 2)]
        writers = [
            subprocess.Popen(argv, stdout=subprocess.PIPE) for _ in range(dice.choice((1, 3)))
        ]
        for writer in writers:
            assert writer.stdout is not None
            for _ in range(dice.randrange(1, 12)):
                writer.stdout.readline()
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        assert isinstance(told(folder), list), number
    assert verify(Journal(str(folder))).problems == []


# The mark.


@pytest.mark.req("REL-06")
def test_hooks_spool_while_the_journal_waits_for_its_repair(repo: Path, world: Path) -> None:
    hooks = Hooks(repo, put_launcher(world / "home" / ".local" / "share" / "standfast" / "hook"))
    hooks.begin()
    hooks("UserPromptSubmit", prompt="before")
    folder = repo / ".git" / "standfast"
    (folder / "damaged").write_text("somebody saw it", "utf-8")

    hooks("UserPromptSubmit", prompt="meanwhile")
    refused = told(folder)
    mend(folder)
    hooks("UserPromptSubmit", prompt="after")
    hooks.rest()
    found = told(folder)

    assert isinstance(refused, JournalDamaged)
    assert refused.problem == "somebody saw it"
    assert isinstance(found, list)
    prompts = [event.payload for event in found if event.kind == "prompt"]
    assert [sum(word in text for text in prompts) for word in ("before", "meanwhile", "after")] == [
        1,
        1,
        1,
    ]


# The index is read without harm.


def test_reading_the_index_takes_no_lock_away(folder: Path) -> None:
    """The system drops a process's locks on a file when it closes any handle of that file."""
    journal = Journal(str(folder))
    with journal.writing() as tx:
        tx.append("x", {})
        for _ in range(3):
            other = Journal(str(folder))
            questions.last_seq(other)
            other.let_go()
        intruder = subprocess.run(
            [
                sys.executable,
                "-c",
                "import apsw, sys; c = apsw.Connection(sys.argv[1]); c.execute('BEGIN IMMEDIATE')",
                str(folder / DATABASE),
            ],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    journal.close()

    assert "BusyError" in intruder.stderr


READ = """
import shutil, sys
from standfast.journal.damage import _indexes
from standfast.journal.questions import Filter, events
from standfast.journal.store import Journal
for folder in sys.argv[1:]:
    journal = Journal(folder)
    assert list(events(journal, Filter()))
    journal.close()
    shutil.rmtree(folder)
print(len(_indexes))
"""


def test_many_journals_in_one_process_leave_few_files_open(sample: Sample, tmp_path: Path) -> None:
    folders = [sample.copy(tmp_path / str(each)) for each in range(damage._MOST_OPEN * 2)]

    done = subprocess.run(
        [sys.executable, "-c", READ, *folders], capture_output=True, encoding="utf-8", check=False
    )

    assert done.stderr == ""
    assert int(done.stdout) <= damage._MOST_OPEN + 1


def test_many_journals_are_opened_while_another_thread_is_at_work(
    sample: Sample, tmp_path: Path
) -> None:
    at_work, go = Event(), Event()

    def hold() -> int:
        at_work.set()
        return int(go.wait(60))

    busy = apsw.Connection(":memory:")
    busy.create_scalar_function("hold", hold)
    thread = Thread(target=lambda: busy.execute("SELECT hold()").fetchall())
    thread.start()
    at_work.wait(60)
    try:
        for number in range(damage._MOST_OPEN + 1):
            assert told(sample.copy(tmp_path / str(number))) == sample.truth
    finally:
        go.set()
        thread.join()


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "garbage", "empty"])
def test_odd_index_is_no_reason_to_hang_or_to_lie(sample: Sample, folder: Path, kind: str) -> None:
    path = folder / INDEX
    path.unlink()
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/dev/zero")
        case "garbage":
            path.write_bytes(random.Random(4).randbytes(32_768))
        case "empty":
            path.write_bytes(b"")

    assert damage.log_of(str(folder / DATABASE)) is None
    if kind in {"garbage", "empty"}:
        assert told(folder) == sample.truth

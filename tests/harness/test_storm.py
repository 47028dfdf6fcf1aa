"""Many processes write one journal and some are killed with -9: nothing acknowledged is lost."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness import storm_demo
from harness.storm import Storm
from standfast.errors.base import JournalBusy
from standfast.journal import questions
from standfast.journal.author import Author
from standfast.journal.store import Journal


@pytest.mark.prove
@pytest.mark.req("PERF-02")
def test_sixteen_writers_with_kills_lose_nothing_and_nobody_starves(tmp_path: Path) -> None:
    storm = Storm(folder=str(tmp_path / "standfast"), writers=16, each=500, kills=40, seed=7)

    counted = storm.run()

    assert counted.acknowledged == 8_000
    assert counted.kills >= 40
    assert counted.lost == 0
    assert counted.repeated == 0
    assert counted.id_gaps == 0
    assert counted.problems == []
    assert 1 <= counted.fairness < 3


def test_storm_shows_the_count_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    status = storm_demo.main(["--writers", "4", "--each", "40", "--kills", "3", "--seed", "5"])

    shown = capsys.readouterr().out
    assert status == 0
    assert "160    facts acknowledged" in shown
    assert "0    lost" in shown


def test_stopped_writer_makes_others_wait_then_say_who_holds_the_journal(tmp_path: Path) -> None:
    folder = str(tmp_path / "standfast")
    Journal(folder).append("begin", {})
    hold = (
        "import os, signal, sys\n"
        "from standfast.journal.store import Journal\n"
        "with Journal(sys.argv[1]).writing() as tx:\n"
        "    print('in', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    tx.append('held', {})\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", hold, folder], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()

    with pytest.raises(JournalBusy, match=f"process {holder.pid} holds it"):
        Journal(folder, lock_timeout_s=0.5).append("x", {})
    seen_meanwhile = questions.last_seq(Journal(folder))
    os.kill(holder.pid, signal.SIGCONT)
    Journal(folder, lock_timeout_s=120).append("x", {}, Author(session="s"))
    holder.communicate()

    assert seen_meanwhile == 1  # readers wait for nobody
    assert questions.last_seq(Journal(folder)) == 3


def test_wait_that_was_given_up_takes_no_lock_from_a_later_write(tmp_path: Path) -> None:
    folder = str(tmp_path / "standfast")
    holder, waiter = Journal(folder), Journal(folder, lock_timeout_s=0.05)
    holder.append("begin", {})
    with holder.writing() as tx:
        with pytest.raises(JournalBusy):
            waiter.append("x", {})
        tx.append("held", {})

    waiter.lock_timeout_s = 120
    for _ in range(20):
        with waiter.writing() as tx:
            for thread in threading.enumerate():
                if thread.name == "standfast-lock":
                    thread.join(0.2)
            with pytest.raises(JournalBusy):
                Journal(folder, lock_timeout_s=0).append("pushed in", {})
            tx.append("inside", {})

    assert [e.kind for e in questions.events(holder, questions.Filter())].count("pushed in") == 0


def test_wait_that_was_given_up_does_not_keep_the_lock_later(tmp_path: Path) -> None:
    folder = str(tmp_path / "standfast")
    holder, waiter = Journal(folder), Journal(folder, lock_timeout_s=0.05)
    holder.append("begin", {})

    with holder.writing() as tx:
        with pytest.raises(JournalBusy):
            waiter.append("x", {})
        tx.append("held", {})
    for number in range(5):
        Journal(folder, lock_timeout_s=120).append("after", {"n": number})

    assert questions.last_seq(holder) == 7

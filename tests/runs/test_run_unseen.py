"""Runs asked about where nobody can say who holds a lock: without /proc, or on btrfs."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from effect_desk import until
from lane_runs import WRITES
from run_worlds import Night, night, slow_git
from standfast.runs import run_locks

ASKS = """
import sys
from standfast.journal.store import Journal
from standfast.runs import run_locks

journal = Journal(sys.argv[1])
while True:
    print(run_locks.is_taken(journal, run_locks.RUNS, "live"), flush=True)
"""
BLIND = """
import sys
from pathlib import Path
from standfast.processes import process_identity

process_identity.PROC = Path("/nowhere")
from standfast.surfaces.cli.entry import main

sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def start(world: Night, *words: str) -> subprocess.Popen[str]:
    """A command that sees no /proc."""
    return subprocess.Popen([sys.executable, "-c", BLIND, *words], cwd=world.repo,
                            env=world.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, encoding="utf-8")  # fmt: skip


def call(world: Night, *words: str) -> tuple[int, str]:
    asked = start(world, *words)
    said, _ = asked.communicate(timeout=60)
    return asked.returncode, said


@pytest.fixture
def going(world: Night) -> Iterator[subprocess.Popen[str]]:
    """A run whose agent waits until `go` is there."""
    world.agent(f"until test -e {world.top}/go; do sleep 0.02; done")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n", "live.yaml"))
    until(lambda: world.paid().total() >= 1)
    yield begun
    (world.top / "go").touch()
    begun.communicate(timeout=60)


def over(world: Night, begun: subprocess.Popen[str]) -> None:
    (world.top / "go").touch()
    said, _ = begun.communicate(timeout=60)
    assert begun.returncode == 0, said
    assert world.lanes("live") == {"a": "done"}


@pytest.mark.req("RUN-05")
def test_run_that_goes_on_is_shown_as_such(world: Night, going: subprocess.Popen[str]) -> None:
    _, listed = call(world, "status")
    _, shown = call(world, "status", "live")
    _, told = call(world, "status", "live", "--json")

    assert "RUNNING  live" in listed
    assert "live: taken on by a process, into main" in shown
    assert json.loads(told)["lanes"][0]["state"] == "running"
    over(world, going)


@pytest.mark.req("RUN-05")
def test_run_between_two_commands_is_not_forgotten_and_waited_for_when_stopped(
    world: Night,
) -> None:
    path, waits, go = slow_git(world, "commit")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n", "live.yaml"), PATH=path)
    until(waits.exists)
    forgotten, said = call(world, "forget", "live")
    stopping = start(world, "stop", "live")
    until(lambda: world.word("live") == "stopped")
    with pytest.raises(subprocess.TimeoutExpired):
        stopping.wait(1)
    go.touch()
    stopped, _ = stopping.communicate(timeout=60)
    begun.communicate(timeout=60)

    assert forgotten == 118, said
    assert stopping.returncode == 0, stopped


@pytest.mark.req("RUN-05")
def test_run_that_goes_on_is_followed_until_it_is_over(
    world: Night, going: subprocess.Popen[str]
) -> None:
    following = start(world, "logs", "-f", "live")
    assert following.stdout is not None
    assert following.stdout.readline()
    over(world, going)
    said, _ = following.communicate(timeout=60)

    assert following.returncode == 0
    assert "lane_done" in said or "merge" in said, said


@pytest.mark.req("RUN-07")
def test_run_that_goes_on_is_left_alone_by_resume(
    world: Night, going: subprocess.Popen[str]
) -> None:
    left = world.start("run", world.plan("lanes: {b: Do b.}\n", "left.yaml"))
    until(lambda: world.paid().total() >= 2)
    left.kill()
    left.communicate()
    resumed = start(world, "resume")
    until(lambda: resumed.poll() is not None or world.lanes("left") == {"b": "running"})
    over(world, going)
    said, _ = resumed.communicate(timeout=60)

    assert resumed.returncode == 0, said
    assert "live is being worked on already, and left to that" in said
    assert "Done: left, 1 done" in said


@pytest.mark.req("RUN-07")
def test_lane_that_goes_on_is_left_alone_by_resume(world: Night) -> None:
    task, go = world.top / "one.md", world.top / "go"
    task.write_text("Do it.\n", encoding="utf-8")
    begun = world.start("lane", "run", "--run-id", "r1", "--phase", "P1", "--lane", "SL-1",
                        "--task", str(task), "--runner",
                        f"touch {world.top}/began; until test -e {go}; do sleep 0.02; done; "
                        + WRITES)  # fmt: skip
    until((world.top / "began").exists)
    status, said = call(world, "resume")
    go.touch()
    begun.communicate(timeout=60)

    assert status == 0, said
    assert "Nothing was left in the middle." in said
    assert begun.returncode == 0


@pytest.mark.req("RUN-07")
def test_nobody_is_refused_because_others_ask(world: Night) -> None:
    journal = world.journal()
    askers = [subprocess.Popen([sys.executable, "-c", ASKS, journal.folder],
                               stdout=subprocess.PIPE, encoding="utf-8")
              for _ in range(2)]  # fmt: skip
    for each in askers:
        assert each.stdout is not None
        assert each.stdout.readline() == "False\n"
    for _ in range(50):
        with run_locks.taken(journal, run_locks.RUNS, "live"):
            is_seen = run_locks.is_taken(journal, run_locks.RUNS, "live")
            assert is_seen
    assert not run_locks.is_taken(journal, run_locks.RUNS, "live")
    for each in askers:
        each.kill()
        each.communicate()
    journal.close()

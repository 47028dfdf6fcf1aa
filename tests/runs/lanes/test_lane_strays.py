"""Worktrees that stray from their lane's branch before or under the tests: a person is asked."""

import subprocess
from pathlib import Path

import pytest

from effect_desk import until
from lane_runs import BRANCH, LANE, WRITES, Lane, build
from standfast.errors.lanes import LaneBlocked, LaneFailed
from standfast.protocols.checkpoints.rules import checkpoint as cp

MOST = 6  # the tests fail from then on: a loop without an end would never come back


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


def counted(lane: Lane, more: str) -> str:
    """A test command that leaves a line each time, and gives up at last."""
    ledger = lane.home / "tests"
    return f"echo x >> '{ledger}'; test $(wc -l < '{ledger}') -lt {MOST} || exit 3; {more}"


def times(lane: Lane) -> int:
    path = lane.home / "tests"
    return len(path.read_text(encoding="utf-8").split()) if path.exists() else 0


def failed_once(lane: Lane) -> Path:
    """A lane whose tests fail until there is a file; gives that file."""
    go = lane.home / "go"
    done = lane.run(WRITES, "--test", counted(lane, f"test -e '{go}'"))
    assert done.returncode == LaneFailed.exit_status, done.stderr
    return go


@pytest.mark.req("RUN-04")
def test_worktree_on_another_branch_is_neither_committed_to_nor_tested(lane: Lane) -> None:
    go = failed_once(lane)
    lane.git("checkout", "-q", "-b", "fix", cwd=lane.tree)
    (lane.tree / "fixed").write_text("by hand\n", encoding="utf-8")
    go.touch()

    done = lane.resume()

    assert done.returncode == LaneBlocked.exit_status, done.stderr
    assert f"on fix, not on {BRANCH}" in done.stderr
    assert lane.git("log", "-n1", "--format=%s", "fix") != "by hand"
    assert lane.git("status", "--porcelain", cwd=lane.tree) == "?? fixed"
    assert times(lane) == 1
    lane.git("checkout", "-q", BRANCH, cwd=lane.tree)
    assert lane.resume().returncode == 0
    assert lane.show("main", "fixed") == "by hand"


def test_merge_that_a_person_has_not_finished_is_not_committed(lane: Lane) -> None:
    go = failed_once(lane)
    (lane.repo / "made.txt").write_text("theirs\n", encoding="utf-8")
    lane.git("add", ".")
    lane.git("commit", "-qm", "theirs")
    with pytest.raises(Exception, match="merge"):
        lane.git("merge", "-q", "main", cwd=lane.tree)
    go.touch()
    before = lane.git("rev-parse", BRANCH)

    done = lane.resume()

    assert done.returncode == LaneBlocked.exit_status, done.stderr
    assert "a merge is unfinished" in done.stderr
    assert lane.git("rev-parse", BRANCH) == before
    assert "<<<<<<<" in (lane.tree / "made.txt").read_text(encoding="utf-8")


@pytest.mark.req("RUN-04")
def test_tests_that_commit_each_time_are_run_once_more_and_then_a_person_is_asked(
    lane: Lane,
) -> None:
    again = "date +%N >> stamp; git add stamp; git commit -qm stamp"

    done = lane.run(WRITES, "--test", counted(lane, again))

    assert done.returncode == LaneBlocked.exit_status, done.stderr
    assert "commit" in done.stderr
    assert times(lane) == 2
    assert lane.git("log", "--format=%s", "main") == "first"


def test_tests_that_commit_once_are_run_on_what_they_made(lane: Lane) -> None:
    once = "test -e stamp || { echo x > stamp; git add stamp; git commit -qm stamp; }"

    done = lane.run(WRITES, "--test", counted(lane, once))

    assert done.returncode == 0, done.stderr
    assert times(lane) == 2
    assert lane.show("main", "stamp") == "x"


def test_person_who_mended_such_tests_goes_on(lane: Lane) -> None:
    off = lane.home / "off"
    again = f"test -e '{off}' || {{ date +%N >> stamp; git add stamp; git commit -qm stamp; }}"
    assert lane.run(WRITES, "--test", counted(lane, again)).returncode == LaneBlocked.exit_status
    off.touch()

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert times(lane) == 3
    assert lane.records()[cp.PRE_PR]["status"] == cp.COMPLETE


@pytest.mark.req("RUN-04", "EFF-02")
def test_commit_that_came_while_nobody_watched_the_tests_is_tested_too(lane: Lane) -> None:
    """They go on when who began them is killed, and say nothing about what came after them."""
    go, looked = lane.home / "go", lane.home / "looked"
    waits = f"touch '{looked}'; until test -e '{go}'; do sleep 0.02; done"
    slow = counted(lane, f"test ! -e bad || exit 4; {waits}")
    words = lane.argv("run", *LANE, "--runner", WRITES, "--task", lane.task("one"), "--test", slow)
    with subprocess.Popen(
        words, cwd=lane.repo, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as begun:
        until(looked.exists)
        begun.kill()
    (lane.tree / "bad").write_text("x\n", encoding="utf-8")
    lane.git("add", "bad", cwd=lane.tree)
    lane.git("commit", "-qm", "by hand", cwd=lane.tree)
    go.touch()

    done = lane.resume()

    assert done.returncode == LaneFailed.exit_status, done.stderr
    assert times(lane) == 2
    assert lane.git("log", "--format=%s", "main") == "first"

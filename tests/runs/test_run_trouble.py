"""Runs on a machine in trouble: every lane comes back, and says what is wrong; from outside."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, night


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def own_python(world: Night) -> Path:
    """An interpreter with all that ours has, which can be taken away."""
    there = world.top / "python"
    (there / "bin").mkdir(parents=True)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", there)
    (there / "lib").symlink_to(Path(sys.prefix) / "lib")
    python = there / "bin" / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    return python


@pytest.mark.req("RUN-11")
def test_notification_that_cannot_be_begun_keeps_no_run_from_its_end(world: Night) -> None:
    """As when Standfast is upgraded in the night: what it was started with is gone."""
    python = own_python(world)
    world.settings("notify: 'true'\n")
    world.agent(f"rm {python}; exit 3")
    plan = world.plan("lanes: {a: Do a.}\n")
    done = world.call("run", plan, python=python)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.req("RUN-11")
def test_command_that_cannot_be_begun_is_told_as_such_and_resumed(world: Night) -> None:
    python = own_python(world)
    world.agent(f"rm {python}")
    plan = world.plan("test: 'test ! -e plan-a.txt || test -e plan-a.txt'\nlanes: {a: Do a.}\n")
    done = world.call("run", plan, python=python)
    assert done.returncode == 115, done.stderr
    assert "could not be begun" in done.stdout
    assert world.call("resume").returncode == 0
    assert world.paid() == {"a/task": 1}


def read_only(world: Night, folder: str) -> Path:
    """An interpreter for which a folder of the repository is on a disk that takes no writes."""
    (world.repo / folder).mkdir()
    mount = 'mount -t tmpfs -o ro none "$0" || exit 99; exec "$PYTHON" "$@"'
    script = world.top / "confined"
    line = f"PYTHON={sys.executable} exec unshare -rm sh -c '{mount}' {folder} \"$@\""
    script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    script.chmod(0o755)
    if subprocess.run([script, "-c", ""], cwd=world.repo, check=False).returncode:
        pytest.skip("no disk may be mounted here")
    return script


@pytest.mark.req("RUN-11")
def test_disk_that_takes_no_writes_is_no_bug_of_ours(world: Night) -> None:
    confined = read_only(world, ".worktrees")
    done = world.call("run", world.plan("lanes: {a: Do a.}\n"), python=confined)
    assert done.returncode == 115, done.stderr
    assert "a bug in Standfast" not in done.stdout
    assert "Read-only file system: " + str(world.repo / ".worktrees" / "plan") in done.stdout
    assert "Check the free space" in done.stdout
    assert world.call("resume").returncode == 0


def told_to(world: Night) -> Path:
    """Where the user's own command writes what it is called for."""
    told = world.top / "told"
    world.settings(f'notify: echo "$STANDFAST_EVENT $STANDFAST_LANE $STANDFAST_TEXT" >> {told}\n')
    return told


def events(told: Path) -> list[str]:
    return [" ".join(line.split(" ")[:2]) for line in told.read_text("utf-8").splitlines()]


@pytest.mark.req("RUN-11")
def test_what_nobody_could_tell_is_told_by_whoever_comes_next(world: Night) -> None:
    python, told = own_python(world), told_to(world)
    world.agent(f"rm {python}; exit 3")
    plan = world.plan("lanes: {a: Do a.}\n")
    assert world.call("run", plan, python=python).returncode == 1
    assert not told.exists()
    for _ in range(2):  # the second finds nothing that is not told
        assert world.call("resume").returncode == 1
        assert events(told) == ["needs-you P1/a", "finished "]


@pytest.mark.req("RUN-11")
def test_words_that_no_environment_can_hold_are_told_all_the_same(world: Night) -> None:
    told = told_to(world)
    world.agent(r"printf 'broken \000 pipe\n' >&2; exit 3")
    assert world.call("run", world.plan("lanes: {a: Do a.}\n")).returncode == 1
    assert events(told)[0] == "needs-you P1/a"
    assert "broken \\x00 pipe" in told.read_text("utf-8")


@pytest.mark.req("RUN-11")
def test_failed_baseline_is_told_each_time_and_is_how_the_run_ended(world: Night) -> None:
    told, flag = told_to(world), world.top / "fails"
    flag.touch()
    plan = world.plan(f"test: 'test ! -e {flag}'\nlanes: {{a: Do a.}}\n")
    for count in (1, 2):
        assert world.call("run", plan).returncode == 113
        assert events(told) == ["needs-you ", "finished "] * count
    shown = world.call("status", "plan").stdout
    assert shown.startswith("plan: needs you")
    assert "the test command fails on main" in shown

    flag.unlink()
    assert world.call("resume").returncode == 0
    assert events(told)[4:] == ["finished "]


def test_agent_that_removes_what_is_recorded_gives_no_traceback(world: Night) -> None:
    world.agent('rm -rf "$(git rev-parse --git-common-dir)/standfast"')

    done = world.call("run", world.plan("lanes: {a: Do a.}\n"))

    assert done.returncode != 0
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.req("RUN-01")
def test_journal_that_is_busy_for_longer_than_a_command_waits_stops_no_lane(world: Night) -> None:
    go = world.top / "go"
    world.agent(f"until test -e {go}; do sleep 0.02; done")
    running = world.start("run", world.plan("merge: none\nlanes: {one: Do it.}\n"),
                          STANDFAST_LOCK_TIMEOUT_S="0.1")  # fmt: skip
    until(lambda: world.paid().total() == 1)
    journal = world.journal()
    journal.enter()
    go.touch()
    assert running.stdout is not None
    told = next(line for line in running.stdout if "waiting for a lock" in line)
    journal.leave()
    said, _ = running.communicate(timeout=60)

    assert "writer.lock" in told
    assert running.returncode == 0, said
    journal.close()

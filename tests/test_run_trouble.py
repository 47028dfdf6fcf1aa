"""Runs on a machine in trouble: every lane comes back, and says what is wrong; from outside."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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

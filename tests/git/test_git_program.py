"""The user's `git` setting is the git that commands run, not only the one `doctor` looks at."""

import shutil
from pathlib import Path

import pytest

import lane_runs
from lane_runs import WRITES, Lane


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    return lane_runs.build(tmp_path)


def test_lane_runs_the_git_that_the_environment_names(lane: Lane, tmp_path: Path) -> None:
    log, program = tmp_path / "gits", tmp_path / "my-git"
    program.write_text(
        f'#!/bin/sh\necho "$1" >> {log}\nexec {shutil.which("git")} "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)

    done = lane.run(WRITES, STANDFAST_GIT=str(program))

    assert done.returncode == 0, done.stderr
    assert "worktree" in log.read_text(encoding="utf-8").split()


def test_nothing_is_begun_with_a_git_that_is_not_there(lane: Lane) -> None:
    done = lane.run(WRITES, STANDFAST_GIT="/nonexistent/git")

    assert done.returncode != 0
    assert "/nonexistent/git" in done.stderr
    assert not lane.tree.exists()

"""What a plan needs of this machine: no more than it uses; `plan check` says what is missing."""

import json
import os
from pathlib import Path

import pytest

from run_worlds import Night, night

pytestmark = pytest.mark.req("RUN-01", "RUN-02")

SHELLS = """\
lanes:
  a: {task: "echo one > one.txt", runner: shell}
  b: {after: a, task: "cat > b.txt; echo done >> b.txt", runner: shell}
"""


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A PATH with git and the tools of a system, and no agent."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "cat", "env", "python3"):
        found = next(p for p in os.get_exec_path() if os.access(os.path.join(p, name), os.X_OK))
        (folder / name).symlink_to(os.path.join(found, name))
    return str(folder)


def _no_settings(world: Night) -> None:
    (world.top / "config" / "standfast" / "config.yaml").unlink(missing_ok=True)


def test_plan_of_shell_lanes_needs_no_agent_on_path(world: Night, bare: str) -> None:
    _no_settings(world)
    plan = world.plan(SHELLS)

    checked = world.call("plan", "check", plan, PATH=bare)
    done = world.call("run", plan, PATH=bare)

    assert "begin nothing" not in checked.stderr
    assert done.stdout.splitlines()[-1:] == ["Done: plan, 2 done"], done.stderr


def test_input_of_a_shell_task_is_empty_not_its_own_words(world: Night) -> None:
    assert world.call("run", world.plan(SHELLS)).returncode == 0

    assert world.git("show", "main:b.txt") == "done"


def test_check_says_what_run_refuses(world: Night, bare: str) -> None:
    _no_settings(world)
    plan = world.plan("test: 'true'\nlanes: {a: x}\n", trusted=False)

    checked = world.call("plan", "check", plan, PATH=bare)
    run = world.call("run", plan, PATH=bare)

    assert checked.returncode == 0, "the file itself is good"
    assert checked.stdout.endswith("good, 1 phase, 1 wave, 1 lane\n")
    assert "`run` would begin nothing here: `claude`, which the runner" in checked.stderr
    assert f"{plan}:1: nobody has trusted its 1 commands" in checked.stderr
    assert "`claude`, which the runner `claude` needs, is not on PATH" in run.stderr


def test_check_says_that_a_branch_stands_in_the_way(world: Night) -> None:
    world.git("branch", "lane/plan/P1/a")
    plan = world.plan("lanes: {a: x}\n")

    said = json.loads(world.call("plan", "check", plan, "--json").stdout)

    assert said["valid"]
    assert ["lane/plan/P1/a" in each["problem"] for each in said["refused"]] == [True]


def test_check_says_that_a_run_was_begun_from_another_plan(world: Night) -> None:
    world.agent()
    assert world.call("run", world.plan("lanes: {a: x}\n")).returncode == 0

    same = world.call("plan", "check", str(world.top / "plan.yaml"))
    other = world.call("plan", "check", world.plan("lanes: {a: y}\n"))

    assert same.stderr == ""
    assert "run plan was begun from another plan" in other.stderr


def test_check_changes_nothing(world: Night) -> None:
    plan = world.plan("test: 'true'\nlanes: {a: x}\n", trusted=False)
    before = sorted((world.repo / ".git").rglob("*"))

    world.call("plan", "check", plan)

    assert sorted((world.repo / ".git").rglob("*")) == before


@pytest.mark.req("RUN-04")
def test_test_of_what_a_task_is_to_make_may_fail_before_it_is_made(world: Night) -> None:
    """A plan in Markdown names tests of its own for each task: they are red until it is done."""
    world.agent('echo made > "made-$STANDFAST_LANE.txt"')
    plan = world.plan(
        """\
# Plan: two files

## Step by Step Tasks

### 1. First
- **Task ID**: first
- **Depends On**: none
- **Verify**: `test -f made-first.txt`

### 2. Second
- **Task ID**: second
- **Depends On**: first
- **Verify**: `test -f made-first.txt && test -f made-second.txt`

## Validation Commands
- `git diff --check HEAD`
""",
        "two.md",
    )

    done = world.call("run", plan)

    assert done.stdout.splitlines()[-1] == "Done: two, 2 done", done.stderr
    assert world.git("show", "main:made-second.txt") == "made"


def test_check_says_that_a_file_to_copy_is_not_there(world: Night) -> None:
    plan = world.plan("copy: [.env, a.txt]\nlanes: {a: x}\n")

    said = json.loads(world.call("plan", "check", plan, "--json").stdout)
    run = world.call("run", plan)

    (refused,) = said["refused"]
    assert "`.env`" in refused["problem"]
    assert run.returncode != 0
    assert "`.env`" in run.stderr
    assert not world.git("branch", "--list", "lane/*"), "nothing was begun"

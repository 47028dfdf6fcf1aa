"""Tests of a run on its base, killed between any two facts: nothing of it is left."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from run_worlds import Night, night
from standfast.errors import StandfastError
from standfast.journal import reading

PLAN = "run: r\ntest: 'echo tested >> {count}'\nlanes: {{one: Do it.}}\n"


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def facts(world: Night) -> int:
    journal = world.journal()
    try:
        return reading.last_seq(journal) if journal.exists else 0
    except StandfastError:
        return 0  # it is being made
    finally:
        journal.close()


def killed_after(world: Night, words: list[str], count: int) -> bool:
    """Run it until the journal holds *count* facts, and kill it; False if it was done before."""
    life = world.start(*words)
    while life.poll() is None:
        if facts(world) >= count:
            os.kill(life.pid, signal.SIGKILL)
            break
    life.communicate()
    return life.returncode == -signal.SIGKILL


@pytest.mark.req("RUN-07", "RUN-09")
def test_baseline_killed_after_each_of_its_facts_leaves_nothing(world: Night) -> None:
    words, kills = ["run", world.plan(PLAN.format(count=world.top / "count"))], 0
    # A life begins with a fact of its own: some have to get further.
    while not world.paid() and killed_after(world, words, facts(world) + 2 + kills % 4):
        words, kills = ["resume"], kills + 1
    done = world.call("resume")

    assert done.returncode == 0, done.stdout
    assert kills >= 2, "a slow look lets a life get further than it should"
    assert (world.top / "count").read_text("utf-8").split() == ["tested"] * 2, "base, then lane"
    assert world.git("worktree", "list").count("\n") == 0
    assert world.git("branch", "--format=%(refname:short)") == "main"


def test_baseline_killed_while_its_worktree_went_is_cleared_by_the_next_call(world: Night) -> None:
    world.agent("exit 3")
    plan = world.plan("test: git status\nlanes: {one: Do it.}\n")
    assert world.call("run", plan, "--run-id", "r").returncode == 1
    place, branch = ".worktrees/r/-baseline-0-1", "lane/r/-baseline-0-1"
    world.git("worktree", "add", "-q", "-b", branch, place, "main")
    world.git("worktree", "lock", "--reason", "standfast takes it away", place)
    shutil.rmtree(world.repo / place)  # as one leaves it who dies before git forgets it
    world.agent()

    done = world.call("resume", "r", "one")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(world.git("worktree", "list").splitlines()) == 1
    assert world.git("branch", "--format=%(refname:short)") == "main"

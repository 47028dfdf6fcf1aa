"""Tests of a run on its base, killed between any two facts: nothing of it is left."""

import os
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
    assert kills >= 5
    assert (world.top / "count").read_text("utf-8").split() == ["tested"] * 2, "base, then lane"
    assert world.git("worktree", "list").count("\n") == 0
    assert world.git("branch", "--format=%(refname:short)") == "main"

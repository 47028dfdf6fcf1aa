"""Tests of a run on its base, killed between any two facts: nothing of it is left."""

import os
import shutil
import signal
from pathlib import Path

import pytest

import lane_runs
from effect_desk import until
from lane_runs import Lane
from run_worlds import Night, night
from standfast.errors.base import StandfastError
from standfast.journal import questions

PLAN = "run: r\ntest: 'echo tested >> {count}'\nlanes: {{one: Do it.}}\n"


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def facts(world: Night) -> int:
    journal = world.journal()
    try:
        return questions.last_seq(journal) if journal.exists else 0
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


@pytest.mark.sweep
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


def tries(world: Night) -> list[str]:
    """The branches of tries that there are, each with its worktree."""
    found = world.git("branch", "--format=%(refname:lstrip=4)", "--list", "lane/r/-baseline-*")
    folders = [path.name for path in (world.repo / ".worktrees" / "r").glob("-baseline-*")]
    assert sorted(folders) == found.split()
    return found.split()


@pytest.mark.req("RUN-09")
def test_only_the_newest_baseline_that_failed_stays_to_be_looked_at(world: Night) -> None:
    ok = world.top / "ok"
    (world.repo / ".git" / "info" / "exclude").write_text("built\n", encoding="utf-8")
    setup = "setup: 'date > built'\n"  # nobody's work, known of each try
    plan = world.plan(f"run: r\n{setup}test: 'test -f {ok}'\nlanes: {{one: Do it.}}\n")
    assert world.call("run", plan).returncode != 0
    assert tries(world) == ["-baseline-0-1"]
    assert world.call("resume").returncode != 0
    assert tries(world) == ["-baseline-0-2"]

    ok.touch()
    done = world.call("resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not tries(world)
    assert world.git("branch", "--format=%(refname:short)") == "main"


@pytest.mark.req("RUN-09")
def test_baseline_in_which_somebody_left_something_stays_and_is_told(world: Night) -> None:
    ok = world.top / "ok"
    plan = world.plan(f"run: r\ntest: 'test -f {ok}'\nlanes: {{one: Do it.}}\n")
    assert world.call("run", plan).returncode != 0
    note = world.repo / ".worktrees" / "r" / "-baseline-0-1" / "note"
    note.write_text("why it fails", encoding="utf-8")
    again = world.call("resume")
    assert again.returncode != 0
    assert "the worktree of the baseline stays" in again.stdout + again.stderr
    assert tries(world) == ["-baseline-0-1", "-baseline-0-2"]

    ok.touch()
    assert world.call("resume").returncode == 0
    assert tries(world) == ["-baseline-0-1"]
    assert note.read_text(encoding="utf-8") == "why it fails"


@pytest.mark.req("RUN-05", "RUN-09")
@pytest.mark.parametrize(
    ("where", "built"), [("test", ":"), ("setup", "test -e built || date > built")]
)
def test_baseline_that_was_interrupted_is_gone_in_the_end(
    world: Night, where: str, built: str
) -> None:
    begun, go = world.top / "begun", world.top / "go"
    (world.repo / ".git" / "info" / "exclude").write_text("built\n", encoding="utf-8")
    waits = f"{built}; touch {begun}; until test -e {go}; do sleep 0.02; done"
    plan = world.plan(f"run: r\n{where}: '{waits}'\nlanes: {{one: Do it.}}\n")
    life = world.start("run", plan)
    until(begun.exists)
    life.send_signal(signal.SIGINT)
    said, _ = life.communicate(timeout=60)
    assert life.returncode == 130, said
    assert tries(world) == ["-baseline-0-1"]

    go.touch()
    done = world.call("resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not tries(world)


@pytest.mark.req("RUN-09")
def test_branch_of_a_baseline_stays_where_nothing_else_holds_its_commit(world: Night) -> None:
    ok = world.top / "ok"
    plan = world.plan(f"run: r\ntest: 'test -f {ok}'\nlanes: {{one: Do it.}}\n")
    assert world.call("run", plan).returncode != 0
    before = world.git("rev-parse", "main")
    world.git("commit", "-q", "--amend", "--allow-empty", "-m", "mended")
    ok.touch()
    done = world.call("resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the branch of the baseline stays" in done.stdout + done.stderr
    assert world.git("rev-parse", "lane/r/-baseline-0-1") == before


@pytest.mark.req("REL-10", "RUN-07")
@pytest.mark.parametrize("what", ["test", "setup"])
def test_what_a_power_cut_tore_under_the_tests_of_the_base_is_no_red_base(
    world: Night, what: str
) -> None:
    (world.repo / "lib").write_text("whole\n", encoding="utf-8")
    world.git("add", "lib")
    world.git("commit", "-qm", "lib")
    mark = world.top / "mark"
    line = f"test -s lib || exit 1; test -e {mark} || {{ : > lib; touch {mark}; sleep 600; }}"
    plan = world.plan(f"run: r\n{what}: '{line}'\nlanes: {{one: Do it.}}\n")
    life = world.start("run", plan)
    until(mark.exists)
    lane_runs.end_everything(Lane(repo=world.repo, home=world.top), life.pid)
    life.communicate()
    lane_runs.reboot(Lane(repo=world.repo, home=world.top))

    done = world.call("resume")

    assert done.returncode == 0, done.stdout + done.stderr
    assert world.git("show", "main:lib") == "whole"

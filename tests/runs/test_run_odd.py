"""Runs as crashes, people and other programs treat them: from outside, with real processes."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, night, slow_git


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


def begins(world: Night, marker: Path, *words: str) -> subprocess.Popen[str]:
    """Start a call, and come back when a command of it has written a line into *marker*."""
    before = lines(marker)
    begun = world.start(*words)
    until(lambda: lines(marker) > before)
    return begun


def waits(world: Night, marker: str = "marker") -> tuple[Path, str]:
    """A command that says that it runs and then waits for a file."""
    path = world.top / marker
    return path, f"echo x >> {path}; until test -e {world.top}/go; do sleep 0.05; done"


def running(world: Night) -> bool:
    return bool(json.loads(world.call("ps", "--json").stdout)["effects"])


# Two calls at once.


def test_two_plans_that_begin_under_one_name_are_not_mixed(world: Night) -> None:
    path, asked, go = slow_git(world, "for-each-ref")  # after the first look at the journal
    late = world.plan("lanes: {late: Do it.}\n", "late.yaml")
    early = world.plan("lanes: {early: Do it.}\n", "early.yaml")
    second = world.start("run", late, "--run-id", "same", PATH=path)
    until(asked.exists)
    first = world.call("run", early, "--run-id", "same")
    go.touch()
    said, _ = second.communicate(timeout=60)

    assert first.returncode == 0, first.stderr
    assert second.returncode == 119, said
    assert world.lanes("same") == {"early": "done"}
    assert world.paid() == {"early/task": 1}


def test_forgotten_run_stays_forgotten_when_it_is_stopped(world: Night) -> None:
    assert world.call("run", world.plan("test: 'false'\nlanes: {a: Do a.}\n")).returncode == 113
    assert world.call("forget", "plan").returncode == 0
    stopped = world.call("stop", "plan")

    assert stopped.stdout == "plan is forgotten: there is nothing to stop.\n"
    assert "plan" not in world.call("status").stdout


# Before any agent.


def test_baseline_that_failed_is_in_nobody_elses_way(world: Night) -> None:
    bad = world.plan("test: 'echo x > left; false'\nlanes: {a: Do a.}\n", "bad.yaml")
    good = world.plan("test: 'true'\nlanes: {a: Do a.}\n", "good.yaml")
    assert world.call("run", bad).returncode == 113
    done = world.call("run", good)
    assert done.returncode == 0, done.stderr


def test_run_whose_baseline_fails_holds_no_other_back(world: Night) -> None:
    bad = world.plan("test: 'false'\nlanes: {a: Do a.}\n", "bad.yaml")
    assert world.call("run", bad).returncode == 113
    flag = world.top / "fails"
    flag.touch()
    text = f"test: 'test ! -e {flag}'\nlanes: {{b: Do b.}}\n"
    assert world.call("run", world.plan(text, "good.yaml")).returncode == 113
    flag.unlink()

    done = world.call("resume")
    assert done.returncode == 115, done.stderr
    assert "Done: good, 1 done" in done.stdout
    assert "the test command fails on main" in done.stdout
    assert world.paid() == {"b/task": 1}


def test_setup_of_a_baseline_that_runs_on_is_waited_for(world: Night) -> None:
    marker, line = waits(world)
    plan = world.plan(f"setup: '{line}'\nlanes: {{a: Do a.}}\n", "s.yaml")
    begun = begins(world, marker, "run", plan)
    begun.kill()
    begun.communicate()
    resumed = world.start("resume")
    until(lambda: bool(json.loads(world.call("status", "s", "--json").stdout)["processes"]))
    (world.top / "go").touch()
    said, _ = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, said
    assert lines(marker) == 2  # the baseline's, and the lane's


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_in_a_baseline_ends_it_and_says_how_to_go_on(world: Night, number: int) -> None:
    marker, line = waits(world)
    plan = world.plan(f"test: '{line}'\nlanes: {{a: Do a.}}\n", "s.yaml")
    begun = begins(world, marker, "run", plan)
    begun.send_signal(number)
    said, _ = begun.communicate(timeout=60)
    assert begun.returncode == 130, said
    assert "Go on: standfast resume s" in said
    assert not running(world)

    (world.top / "go").touch()
    assert world.call("resume").returncode == 0
    assert world.paid() == {"a/task": 1}


def test_stop_in_a_baseline_is_no_failure_of_it(world: Night) -> None:
    marker, line = waits(world)
    plan = world.plan(f"test: '{line}'\nlanes: {{a: Do a.}}\n", "s.yaml")
    begun = begins(world, marker, "run", plan)
    stopped = world.call("stop", "s")
    assert stopped.returncode == 0, stopped.stderr
    said, _ = begun.communicate(timeout=60)
    assert begun.returncode == 117, said
    assert not running(world)

    (world.top / "go").touch()
    assert world.call("resume", "s").returncode == 0


def test_run_below_nohup_outlives_its_terminal(world: Night) -> None:
    marker, line = waits(world)
    world.agent(line)
    plan = world.plan("lanes: {a: Do a.}\n")
    argv = ["nohup", *world.argv("run", plan)]
    begun = subprocess.Popen(argv, cwd=world.repo, env=world.environ, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    until(marker.exists)
    os.kill(begun.pid, signal.SIGHUP)
    (world.top / "go").touch()
    assert begun.wait() == 0


# A run that is known already.


@pytest.mark.sweep(2)
@pytest.mark.parametrize("is_named", [False, True])
def test_lanes_at_once_are_said_anew_by_each_call(world: Night, *, is_named: bool) -> None:
    here, flag, tries = world.top / "here", world.top / "flag", 500
    all_are = f"test $(wc -l < {here}) -ge 3"
    world.agent(f"echo x >> {here}; n=0; until {all_are} || test $n -ge {tries}; do sleep 0.02;"
                f" n=$((n + 1)); done; {all_are} || exit 1")  # fmt: skip
    text = f"limits: {{lanes: 1}}\ntest: 'test -e {flag}'\nlanes: {{a: Do., b: Do., c: Do.}}\n"
    plan = world.plan(text)
    assert world.call("run", plan).returncode == 113  # it is known, and nothing has begun
    flag.touch()
    words = ("run", "--run-id", "plan", "--resume") if is_named else ("run", plan)

    assert world.call(*words, "--lanes", "0").returncode == 2
    done = world.call(*words, "--lanes", "3")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("what", ["--resume", "--rollback"])
def test_run_is_gone_on_with_as_it_was_begun_or_not_at_all(world: Night, what: str) -> None:
    world.agent("exit 1")
    plan = world.plan("lanes: {a: Do a.}\n")
    other = world.plan("lanes: {b: Do b.}\n", "other.yaml")
    assert world.call("run", plan).returncode == 1
    world.git("branch", "elsewhere")
    known = ("run", "--run-id", "plan", what)

    assert world.call(*known, other).returncode == 119
    assert world.call(*known, "--base", "elsewhere").returncode == 119
    assert set(world.lanes("plan").values()) == {"failed"}
    assert world.call(*known, plan, "--base", "main").returncode == int(what == "--resume")


def test_rollback_takes_nothing_that_is_for_going_on(world: Night) -> None:
    world.agent("exit 1")
    assert world.call("run", world.plan("lanes: {a: Do a.}\n")).returncode == 1
    back = ("run", "--run-id", "plan", "--rollback")

    assert world.call(*back, "--lanes", "2").returncode == 2
    assert world.call(*back, "--wait-limit", "2h").returncode == 2


# Which part of a plan.

PHASES = "phases:\n  P1: {lanes: {a: Do a.}}\n  P2: {lanes: {b: {task: Do b., after: P1/a}}}\n"


def test_phase_that_waits_for_another_is_run_by_itself(world: Night) -> None:
    done = world.call("run", world.plan(PHASES), "--phase", "P2")
    assert done.returncode == 0, done.stderr
    assert world.lanes("plan") == {"b": "done"}
    assert world.call("resume").returncode == 0


@pytest.mark.sweep(3)
@pytest.mark.parametrize("more", [[], ["--phase", "P2"], ["--phase", "P1", "--base", "other"]])
def test_call_that_asks_for_more_than_was_begun_does_not_say_done(
    world: Night, more: list[str]
) -> None:
    plan = world.plan(PHASES)
    assert world.call("run", plan, "--phase", "P1").returncode == 0
    again = world.call("run", plan, *more)
    assert again.returncode == 119
    assert "was begun with phase P1 into main" in again.stderr
    assert world.call("run", plan, "--phase", "P1").returncode == 0


# Nobody listens, nobody looks.


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_reader_that_goes_away_ends_no_run(world: Night, more: list[str]) -> None:
    go = world.top / "go"
    world.agent(f"until test -e {go}; do sleep 0.02; done")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"), *more)
    until(lambda: world.paid().total() >= 1)
    assert begun.stdout is not None
    begun.stdout.close()
    go.touch()
    assert begun.wait() == 0
    assert world.lanes("plan") == {"a": "done"}


@pytest.mark.parametrize("retries", [0, 1])
def test_work_that_somebody_removed_is_not_called_done(world: Night, retries: int) -> None:
    go = world.leave(f"retries: {retries}\nlanes: {{a: Do a.}}\n")
    go.touch()
    until(lambda: not running(world))
    world.git("worktree", "remove", "--force", str(world.repo / ".worktrees/plan/P1/a"))
    done = world.call("resume")
    assert done.returncode == 1 - retries, done.stderr
    assert "the worktree was gone when it ended" in done.stderr
    assert world.merged().total() == retries


def test_stop_while_nobody_took_it_on_is_over_when_it_is_resumed(world: Night) -> None:
    go = world.leave("lanes: {a: Do a.}\n")
    assert world.call("stop", "plan").returncode == 0
    go.touch()
    done = world.call("resume", "plan")
    assert done.returncode == 0, done.stdout
    assert world.merged().total() == 1


# What is said of it afterwards.


def test_lane_that_needs_somebody_still_says_so_when_nobody_runs_it(world: Night) -> None:
    world.agent('echo "$STANDFAST_LANE" > same.txt')
    assert world.call("run", world.plan("lanes: {a: Do a., b: Do b.}\n")).returncode == 115
    assert sorted(world.lanes("plan").values()) == ["done", "needs_you"]
    shown = world.call("status", "plan").stdout
    assert "conflicts with main in same.txt" in shown
    assert shown.startswith("plan: needs you")
    assert "NEEDS YOU  plan" in world.call("status").stdout


def test_run_that_was_cut_off_says_so_and_where_its_lanes_are(world: Night) -> None:
    go = world.leave("lanes: {a: Do a., b: {task: Do b., after: a}}\n")
    head, _, first, second = world.call("status", "plan").stdout.splitlines()
    go.touch()
    assert head.startswith("plan: cut off")
    assert first.split()[:4] == ["1", "P1/a", "running", "after_lane_start"]
    assert second.split() == ["2", "P1/b", "waiting"]
    until(lambda: not running(world))


def test_failed_run_names_the_call_that_tries_once_more(world: Night) -> None:
    flag = world.top / "fails"
    flag.touch()
    world.agent(f"test ! -e {flag} || exit 3")
    failed = world.call("run", world.plan("lanes: {a: Do a.}\n"))
    assert failed.returncode == 1
    flag.unlink()
    _, _, words = failed.stdout.splitlines()[-1].partition("standfast ")
    assert world.call(*words.split()).returncode == 0


def test_run_that_is_done_is_not_stopped(world: Night) -> None:
    assert world.call("run", world.plan("lanes: {a: Do a.}\n")).returncode == 0
    assert "nothing to stop" in world.call("stop", "plan").stdout
    assert world.call("status", "plan").stdout.startswith("plan: done")


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_resume_where_nothing_was_ever_recorded_has_nothing_to_do(
    world: Night, more: list[str]
) -> None:
    done = world.call("resume", *more)
    assert (done.returncode, done.stderr) == (0, "")


# What somebody makes while a run goes on.


FOREIGN = "$(git commit-tree -p HEAD -m foreign HEAD^{tree})"


@pytest.mark.req("RUN-03", "CKP-11")
def test_branch_that_somebody_made_meanwhile_is_not_taken_for_the_lanes(world: Night) -> None:
    world.agent(f'[ "$STANDFAST_LANE" != a ] || git branch lane/r/P1/b "{FOREIGN}"')
    plan = world.plan("lanes: {a: Do a., b: {task: Do b., after: a}}\n")
    done = world.call("run", plan, "--run-id", "r")

    assert done.returncode == 115, done.stdout + done.stderr
    assert "there is a branch `lane/r/P1/b` already" in done.stdout
    assert world.paid() == {"a/task": 1}
    assert world.git("log", "-n1", "--format=%s", "lane/r/P1/b") == "foreign"
    assert "foreign" not in world.merged()
    world.git("branch", "-m", "lane/r/P1/b", "mine")
    done = world.call("resume", "r")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "foreign" not in world.merged()


def test_folder_that_somebody_made_meanwhile_is_not_taken_for_the_lanes(world: Night) -> None:
    there = f"{world.repo}/.worktrees/r/P1/b"
    world.agent(f'[ "$STANDFAST_LANE" != a ] || mkdir {there}')
    plan = world.plan("lanes: {a: Do a., b: {task: Do b., after: a}}\n")
    done = world.call("run", plan, "--run-id", "r")

    assert done.returncode == 115, done.stdout + done.stderr
    assert os.listdir(there) == []


@pytest.mark.parametrize("base", ["main~0", "main^{commit}", "main@{0}"])
def test_run_into_what_is_no_branch_begins_nothing(world: Night, base: str) -> None:
    """It leads to a commit, so that agents would be paid for what can never land."""
    plan = world.plan("test: exit 0\nlanes: {a: Do a.}\n")

    done = world.call("run", plan, "--base", base)

    assert done.returncode == 2, done.stdout + done.stderr
    assert "can be no branch" in done.stderr
    assert world.paid() == {}

"""What a run makes below `.claude/` is no news of `git status`; what others keep there is."""

import os
import shutil
from pathlib import Path

import pytest

from lane_runs import WRITES, Lane
from run_worlds import Night, night
from standfast.git import excludes
from standfast.git.command import Git

pytestmark = pytest.mark.req("RUN-01")

LOGS = ".claude/ai-dev-kit/run-logs"
PLAN = "merge: none\nlanes: {a: x, b: y}\n"


@pytest.fixture
def world(tmp_path: Path) -> Night:
    """Git ignores nothing here that we make."""
    made = night(tmp_path)
    (made.repo / ".gitignore").write_text("*.log\n", encoding="utf-8")
    made.git("commit", "-qam", "ignores")
    return made


def seen(world: Night) -> list[str]:
    said = world.git("status", "--porcelain", "--untracked-files=all")
    return sorted(line.split()[-1] for line in said.splitlines())


def put(world: Night, name: str) -> None:
    path = world.repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[]\n", encoding="utf-8")


def test_files_of_a_run_are_hidden_and_no_others_beside_them(world: Night) -> None:
    put(world, ".claude/commands/mine.md")
    done = world.call("run", world.plan(PLAN))
    put(world, f"{LOGS}/mine.jsonl")

    assert done.returncode == 0, done.stderr
    assert {path.name for path in (world.repo / LOGS).iterdir()} == {
        "checkpoints.json", "mine.jsonl", "plan.jsonl",
    }  # fmt: skip
    assert seen(world) == [f"{LOGS}/mine.jsonl", ".claude/commands/mine.md"]
    lines = (world.repo / ".git/info/exclude").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("/")] == [
        f"/{LOGS}/checkpoints.json", f"/{LOGS}/plan.jsonl", "/.worktrees/",
    ]  # fmt: skip


def test_file_that_was_there_before_the_run_stays_to_be_seen(world: Night) -> None:
    put(world, f"{LOGS}/checkpoints.json")

    world.call("run", world.plan(PLAN))
    world.call("resume")

    assert seen(world) == [f"{LOGS}/checkpoints.json"]


def test_tracked_file_that_is_gone_is_not_hidden(world: Night) -> None:
    put(world, f"{LOGS}/checkpoints.json")
    world.git("add", "-f", ".claude")
    world.git("commit", "-qm", "checkpoints")
    (world.repo / LOGS / "checkpoints.json").unlink()

    world.call("run", world.plan(PLAN))

    assert "checkpoints.json" not in (world.repo / ".git/info/exclude").read_text("utf-8")


def test_lane_that_is_run_by_itself_hides_its_files_too(world: Night) -> None:
    lane = Lane(repo=world.repo, home=world.top)

    assert lane.run(WRITES, "--merge", "none").returncode == 0

    assert seen(world) == []


@pytest.mark.parametrize("word", ["ls-files -z", "rev-parse --path-format"])
@pytest.mark.parametrize("command", ["run", "lane"])
def test_files_are_hidden_after_a_run_that_was_stopped_while_it_hid_them(
    world: Night, word: str, command: str
) -> None:
    """Everything may be told to write them from then on, and later they would be somebody's."""
    fake, stopped = world.top / "fake" / "git", world.top / "stopped"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in *"{word}"*) test -e {stopped} ||'
        f" {{ touch {stopped}; kill -TERM $PPID; }};; esac\n"
        f'exec {shutil.which("git")} "$@"\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)
    path = f"{fake.parent}{os.pathsep}{world.environ['PATH']}"
    lane = Lane(repo=world.repo, home=world.top)
    if command == "run":
        begun = world.call("run", world.plan(PLAN), PATH=path)
    else:
        begun = lane.run(WRITES, "--merge", "none", PATH=path)

    done = world.call("resume")

    assert stopped.exists()
    assert begun.returncode != 0
    assert done.returncode == 0, done.stderr
    assert seen(world) == []


def test_name_that_would_be_a_pattern_stands_for_itself(world: Night) -> None:
    git = Git(directory=world.repo)
    names = ["a [b]*.txt", "#c", "!d", "e ", "f\\g"]
    for name in (*names, "a b.txt", "ab.txt"):
        put(world, name)

    excludes.exclude_new(git, names)

    said = world.git("status", "--porcelain", "-z").split("\0")
    assert sorted(line[3:] for line in said if line) == ["a b.txt", "ab.txt"]


def test_run_that_begins_beside_another_changes_no_setting_of_it(world: Night) -> None:
    go = world.leave(PLAN)
    world.agent()
    other = world.call("run", world.plan(PLAN, "other.yaml"), "--run-id", "other")
    go.touch()

    resumed = world.call("resume", "plan")

    assert other.returncode == resumed.returncode == 0, resumed.stderr
    assert "config_changed" not in other.stderr + resumed.stderr + other.stdout + resumed.stdout
    assert "run-logs/other.jsonl" in (world.repo / ".git/info/exclude").read_text("utf-8")

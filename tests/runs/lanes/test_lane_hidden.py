"""Tests pass on what is committed: no change is hidden from git."""

from pathlib import Path

import pytest

import lane_library as library
from lane_runs import WRITES, Lane, build

SEEN = ("--test", "grep -q b a.txt")
LOOKS_AWAY = "git update-index {} a.txt; echo b > a.txt"
SET_BACK = (
    "git config core.trustctime false; git config core.checkStat minimal; sleep 1.2;"
    " git update-index --refresh; cp -p a.txt ../ref; echo b > a.txt; touch -r ../ref a.txt"
)


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


@pytest.mark.sweep(3)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize(
    "agent",
    [LOOKS_AWAY.format("--assume-unchanged"), LOOKS_AWAY.format("--skip-worktree"), SET_BACK],
)
def test_change_that_is_hidden_from_git_is_committed_before_the_tests(
    lane: Lane, agent: str
) -> None:
    done = lane.run(f"{WRITES}; {agent}", *SEEN)
    if "settings" in done.stderr and done.returncode:
        done = lane.resume("--settings-changed")

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "a.txt") == "b"
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-04")
def test_hidden_change_is_told(lane: Lane) -> None:
    hides = "git update-index --assume-unchanged a.txt; rm a.txt"

    done = lane.run(f"{WRITES}; {hides}", "--test", "test ! -e a.txt")

    assert "told to look away from a.txt" in done.stderr
    assert "a.txt" not in lane.git("ls-tree", "--name-only", "main").split()


@pytest.mark.req("RUN-04")
def test_file_that_a_setup_hides_on_purpose_is_not_committed(lane: Lane) -> None:
    hides = LOOKS_AWAY.format("--skip-worktree")

    library.take_on(lane, library.spec(lane, runner=WRITES, setup=hides, test="grep -q b a.txt"))

    assert lane.show("main", "a.txt") == "a"
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize(
    "rule",
    [
        "mkdir -p $C/info; echo new >> $C/info/exclude",
        "echo new > $C/x; git config core.excludesFile $C/x",
    ],
)
def test_file_that_is_ignored_by_a_rule_that_changed_is_told(lane: Lane, rule: str) -> None:
    common = "C=$(git rev-parse --path-format=absolute --git-common-dir)"

    done = lane.run(
        f"{WRITES}; {common}; {rule}; echo x > new; touch x.log", "--test", "test -e new"
    )

    assert done.returncode == 0, done.stderr
    assert "have git ignore new" in done.stderr
    assert "x.log" not in done.stderr

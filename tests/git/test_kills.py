"""Killed at every call that changes a file, then called again: whole, and nobody lost anything.

There are three ways to die: the one that calls, only the caller of git, all of them. A sample of
the points is tried here, the ways in turn; STANDFAST_ALL_KILLS=1 in the environment tries all.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import git_lanes
import lane_killing
from git_lanes import BRANCH, CHANGES, FILES, Repo
from harness.faults.shim import compiler
from lane_killing import MODES, SELF, Killer
from standfast.git import worktree_state
from standfast.processes import programs

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C compiler here")

SAMPLE = 20
EVERY = bool(os.environ.get("STANDFAST_ALL_KILLS"))
MINE = {"line\nbreak": b"mine\n", "untracked": b"mine\n"}


@pytest.fixture
def killer(tmp_path: Path) -> Iterator[Killer]:
    with lane_killing.killer(tmp_path) as made:
        yield made


def points(calls: int) -> Iterator[tuple[int, int]]:
    """At which call to die, and how."""
    every = 1 if EVERY else max(1, calls // SAMPLE)
    for number, nth in enumerate(range(1, calls + 1, every)):
        yield from ((nth, mode) for mode in (MODES if EVERY else (MODES[number % 3],)))


def copy(repo: Repo) -> Repo:
    """Worktrees know where they are: the copy takes the place of the one before."""
    template = repo.top.parent / "template"
    if not template.exists():
        repo.top.rename(template)
    lane_killing.fresh(template, repo.top)
    return repo


@pytest.mark.sweep
@pytest.mark.req("REL-01")
def test_making_a_worktree_survives_a_death_at_every_point(tmp_path: Path, killer: Killer) -> None:
    repo = git_lanes.build(tmp_path)
    order = ("add", str(repo.top), str(repo.lane), BRANCH, repo.head())
    calls = killer.act(*order, nth=0).calls
    repo.git("worktree", "remove", str(repo.lane))
    repo.git("branch", "-D", BRANCH)
    deaths = 0

    for nth, mode in points(calls):
        copy(repo)
        died = killer.act(*order, nth=nth, mode=mode)
        again = killer.act(*order)

        where = f"at {nth} by {mode}: {died}, then {again}"
        deaths += died.status != 0
        assert again.status == 0, where
        assert git_lanes.contents(repo.lane) == FILES, where
        assert repo.git("symbolic-ref", "HEAD", cwd=repo.lane) == f"refs/heads/{BRANCH}", where
        assert repo.head(cwd=repo.lane) == repo.head(), where
        assert repo.status(repo.lane) == repo.status() == [], where
        listed = repo.git("worktree", "list", "--porcelain")
        assert listed.count("worktree ") == 2, where
        assert "locked" not in listed, where
        assert not [*repo.top.glob(".git/**/*.lock")], where
    assert deaths >= SAMPLE // 2


@pytest.mark.sweep
@pytest.mark.req("REL-01")
@pytest.mark.parametrize("is_found", [False, True], ids=["alone", "somebody comes"])
def test_retiring_a_worktree_survives_a_death_at_every_point(
    tmp_path: Path, killer: Killer, *, is_found: bool
) -> None:
    repo = git_lanes.build(tmp_path)
    killer.act("add", str(repo.top), str(repo.lane), BRANCH, repo.head())
    copy(repo)
    order = ("remove", str(repo.top), str(repo.lane))
    calls = killer.act(*order).calls
    stayed = 0

    for nth, mode in points(calls):
        copy(repo)
        died = killer.act(*order, nth=nth, mode=mode)
        is_whole = is_found and os.path.lexists(repo.lane / ".git")
        if is_whole:
            git_lanes.write(repo.lane, {"note": b"mine"})
        again = killer.act(*order)

        where = f"at {nth} by {mode}: {died}, then {again}"
        assert again.status == 0, where
        assert repo.head(BRANCH) == repo.head(), where
        if is_whole:
            stayed += 1
            assert again.said, where
            assert git_lanes.contents(repo.lane) == {**FILES, "note": b"mine"}, where
            assert repo.status(repo.lane) == ["?? note"], where
        else:
            assert not again.said, where
            assert not repo.lane.exists(), where
            assert repo.git("worktree", "list", "--porcelain").count("worktree ") == 1, where
    assert bool(stayed) == is_found


@pytest.mark.sweep
@pytest.mark.req("REL-01")
def test_moving_a_branch_survives_a_death_at_every_point(tmp_path: Path, killer: Killer) -> None:
    repo = git_lanes.build(tmp_path)
    repo.branch("lane")
    repo.git("checkout", "-q", "lane")
    (repo.top / "empty").unlink()
    repo.commit(CHANGES, "lane")
    repo.git("checkout", "-q", "main")
    git_lanes.write(repo.top, {**MINE, "staged": b"staged\n"})
    repo.git("add", "staged")
    wanted = {**FILES, **CHANGES, **MINE, "staged": b"staged\n"}
    files = {name: data for name, data in wanted.items() if data is not None and name != "empty"}
    old, new = repo.head("main"), repo.head("lane")
    copy(repo)
    order = ("advance", str(repo.top), "main", old, new)
    calls = killer.act(*order).calls

    for nth, mode in points(calls):
        copy(repo)
        died = killer.act(*order, nth=nth, mode=mode)
        between = git_lanes.contents(repo.top)
        again = killer.act(*order)

        where = f"at {nth} by {mode}: {died}, then {again}"
        assert between.items() >= MINE.items(), where
        assert again.status == 0, where
        assert repo.head("main") == new, where
        assert git_lanes.contents(repo.top) == files, where
        assert sorted(repo.status()) == [" M line\nbreak", "?? untracked", "A  staged"], where
        assert not [*repo.top.glob(".git/**/*.lock")], where


@pytest.mark.sweep
@pytest.mark.req("REL-01", "RUN-17")
@pytest.mark.parametrize("is_next", [True, False], ids=["another lane lands", "it is ended"])
def test_checkout_is_whole_after_whoever_finds_what_a_death_at_any_point_left(
    tmp_path: Path, killer: Killer, *, is_next: bool
) -> None:
    """It has come, or it never began: the index says what the branch says, and mine is mine."""
    repo = git_lanes.build(tmp_path)
    old = repo.head()
    repo.git("checkout", "-q", "-b", "lane")
    (repo.top / "empty").unlink()
    new = repo.commit(CHANGES)
    ends = {}
    for start in (old, new):
        repo.git("checkout", "-q", "--detach", start)
        ends[start] = repo.commit({"a": b"one\ntwo\nthree\nfour\n", "next/one": b"next\n"})
    repo.git("checkout", "-q", "main")
    git_lanes.write(repo.top, {**MINE, "staged": b"staged\n"})
    repo.git("add", "staged")
    copy(repo)
    order = ("advance", str(repo.top), "main", old, new)
    calls, seen = killer.act(*order).calls, set()

    for nth, mode in points(calls):
        copy(repo)
        died = killer.act(*order, nth=nth, mode=mode)
        worktree_state.gone(lambda: programs.programs_in("git", str(repo.top)))
        at = repo.head("main")
        seen.add(at)
        then = ("advance", str(repo.top), "main", at, ends[at])
        found = killer.act(*(then if is_next else ("end", str(repo.top), "main")))

        where = f"at {nth} by {mode}: {died}, then {found}"
        assert found.status == 0, where
        assert repo.head("main") == (ends[at] if is_next else at), where
        assert sorted(repo.status()) == [" M line\nbreak", "?? untracked", "A  staged"], where
        assert git_lanes.contents(repo.top).items() >= MINE.items(), where
        left = [each.name for each in (repo.top / ".git").iterdir() if "standfast-" in each.name]
        assert not left, where
        assert not [*repo.top.glob(".git/**/*.lock")], where
    assert seen == {old, new}


def test_the_killer_kills(tmp_path: Path, killer: Killer) -> None:
    repo = git_lanes.build(tmp_path)
    order = ("add", str(repo.top), str(repo.lane), BRANCH, repo.head())

    died = killer.act(*order, nth=12, mode=SELF)

    assert died.fired
    assert died.status != 0
    assert subprocess.run(["git", "fsck"], cwd=repo.top, check=True, capture_output=True)

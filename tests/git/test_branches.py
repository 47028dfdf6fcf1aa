"""A lane's branch goes when its base holds it and nobody has it checked out."""

from pathlib import Path

import pytest

import git_lanes
from git_lanes import BRANCH, Repo
from standfast.git import branches, worktrees


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    repo = git_lanes.build(tmp_path)
    repo.branch(BRANCH)
    return repo


def is_there(repo: Repo) -> bool:
    return BRANCH in branches.heads(repo.door, BRANCH)


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_merged_branch_goes_and_a_second_call_finds_it_gone(
    made: Repo, *, is_packed: bool
) -> None:
    made.commit({"more": b"x"})
    if is_packed:
        made.git("pack-refs", "--all")
    (made.top / ".git/packed-refs.lock").touch()  # of a git that died

    assert branches.delete_merged(made.door, BRANCH, "main")

    assert not is_there(made)
    assert branches.delete_merged(made.door, BRANCH, made.head())
    made.git("fsck", "--strict")


def unmerged(repo: Repo) -> None:
    repo.commit({"more": b"x"}, on=BRANCH)
    repo.git("checkout", "-q", "main")


def checked_out(repo: Repo) -> None:
    worktrees.add(repo.door, repo.lane, BRANCH, repo.head())


def bisected(repo: Repo) -> None:
    repo.git("checkout", "-q", BRANCH)
    repo.git("bisect", "start")
    repo.git("checkout", "-q", "--detach")


def only_a_name(repo: Repo) -> None:
    repo.git("branch", "-D", BRANCH)
    repo.git("symbolic-ref", f"refs/heads/{BRANCH}", "refs/heads/main")


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("how", [unmerged, checked_out, bisected, only_a_name])
def test_a_branch_that_somebody_needs_stays(made: Repo, how: object) -> None:
    assert callable(how)
    how(made)

    assert not branches.delete_merged(made.door, BRANCH, "main")

    assert is_there(made)


def test_the_base_itself_stays(made: Repo) -> None:
    made.git("checkout", "-q", "--detach")

    assert not branches.delete_merged(made.door, "main", "main")
    assert not branches.delete_merged(made.door, BRANCH, "no-such-base")

    assert made.head("main")
    assert is_there(made)

"""After a power cut the files of a checkout are written again, and an agent's are left."""

import os
import time
from pathlib import Path

import pytest

import git_lanes
from git_lanes import BRANCH, FILES, Repo
from standfast.errors import GitFailed
from standfast.git import Git, worktrees


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    repo = git_lanes.build(tmp_path)
    worktrees.add(repo.door, repo.lane, BRANCH, repo.head())
    return repo


def lane(repo: Repo) -> Git:
    return Git(directory=repo.lane)


def a_tick_ago_ns(probe: Path) -> int:
    """Files are given the time of the last tick, which may be before a moment that has passed."""
    moment = time.time_ns()
    while not probe.exists() or probe.stat().st_mtime_ns <= moment:
        probe.write_bytes(b"")
    return moment


def test_what_the_checkout_wrote_and_lost_is_written_again(made: Repo) -> None:
    os.truncate(made.lane / "bytes", 0)
    os.truncate(made.lane / "a", 3)
    (made.lane / "deep/er/b").unlink()
    (made.lane / "deep/er").rmdir()
    staged = made.git("ls-files", "--stage", cwd=made.lane)

    names = worktrees.mend(lane(made), time.time_ns())

    assert sorted(names) == ["a", "bytes", "deep/er/b"]
    assert git_lanes.contents(made.lane) == FILES
    assert made.status(made.lane) == []
    assert made.git("ls-files", "--stage", cwd=made.lane) == staged


def test_what_an_agent_did_afterwards_stays(made: Repo, tmp_path: Path) -> None:
    before_ns = a_tick_ago_ns(tmp_path / "probe")
    os.truncate(made.lane / "a", 3)
    os.utime(made.lane / "a", (1, 1))  # as a copy that keeps its times does
    (made.lane / "deep/er/b").unlink()
    git_lanes.write(made.lane, {"new": b"new"})
    files = git_lanes.contents(made.lane)

    names = worktrees.mend(lane(made), before_ns)

    assert names == []
    assert git_lanes.contents(made.lane) == files


def test_a_loss_that_the_index_does_not_see_is_found(made: Repo) -> None:
    facts = (made.lane / "a").stat()
    (made.lane / "a").write_bytes(b"\\0" * facts.st_size)
    os.utime(made.lane / "a", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    made.git("update-index", "--assume-unchanged", "a", cwd=made.lane)

    names = worktrees.mend(lane(made), time.time_ns())

    assert names == ["a"]
    assert git_lanes.contents(made.lane) == FILES


def test_a_submodule_is_left_alone(made: Repo) -> None:
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},inner", cwd=made.lane)
    made.git("commit", "-q", "-m", "inner", cwd=made.lane)
    made.git("init", "-q", "-b", "main", str(made.lane / "inner"))
    made.git("commit", "-q", "--allow-empty", "-m", "other", cwd=made.lane / "inner")
    os.truncate(made.lane / "a", 0)

    names = worktrees.mend(lane(made), time.time_ns())

    assert names == ["a"]
    assert made.status(made.lane) == [" M inner"]


def test_files_that_a_sparse_checkout_leaves_out_stay_out(made: Repo) -> None:
    made.git("sparse-checkout", "set", "--no-cone", "/a", cwd=made.lane)
    os.truncate(made.lane / "a", 0)

    names = worktrees.mend(lane(made), time.time_ns())

    assert names == ["a"]
    assert git_lanes.contents(made.lane) == {"a": FILES["a"]}
    assert worktrees.remove(made.door, made.lane) is None


def test_a_folder_without_its_link_is_not_taken_for_the_repository_around_it(made: Repo) -> None:
    (made.lane / ".git").unlink()
    os.truncate(made.top / "a", 0)

    with pytest.raises(GitFailed):
        worktrees.mend(lane(made), time.time_ns())

    assert (made.top / "a").read_bytes() == b""

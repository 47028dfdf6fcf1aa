"""A worktree goes when nothing in it can be lost, and stays whole otherwise."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import git_lanes
from git_lanes import BRANCH, FILES, Repo
from standfast.git import ignored_files, worktrees


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    repo = git_lanes.build(tmp_path, {**FILES, ".gitignore": b"*.log\n"})
    worktrees.add(repo.door, repo.lane, BRANCH, repo.head())
    return repo


def test_a_clean_worktree_goes_and_its_branch_stays(made: Repo) -> None:
    (made.lane / "hollow" / "folder").mkdir(parents=True)

    reason = worktrees.remove(made.door, made.lane)

    assert reason is None
    assert not made.lane.exists()
    assert made.git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert made.head(BRANCH) == made.head()
    assert worktrees.remove(made.door, made.lane) is None


def test_worktree_in_which_a_file_has_several_names_goes(made: Repo) -> None:
    (made.lane / "a").unlink()
    os.link(made.lane / "deep/er/b", made.lane / "a")
    os.link(made.lane / "a", made.lane / "third")
    made.git("add", "-A", cwd=made.lane)
    made.git("commit", "-qm", "one file", cwd=made.lane)
    os.link(made.lane / "bytes", made.lane / "x.log")
    ours = ignored_files.listed(made.door.at(made.lane))

    assert worktrees.remove(made.door, made.lane, ours) is None
    assert not made.lane.exists()


def nested(repo: Repo) -> None:
    repo.git("init", "-q", str(repo.lane / "inner"))


def detached(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach", cwd=repo.lane)
    repo.git("commit", "-q", "--allow-empty", "-m", "nowhere else", cwd=repo.lane)


def looking_away(repo: Repo) -> None:
    repo.git("update-index", "--assume-unchanged", "a", cwd=repo.lane)
    git_lanes.write(repo.lane, {"a": b"hidden"})


def merging(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "main")
    argv = ["git", "merge", "-q", "--no-ff", "--no-commit", "main"]
    subprocess.run(argv, cwd=repo.lane, check=True, capture_output=True)


def staged(repo: Repo) -> None:
    git_lanes.write(repo.lane, {"a": b"staged"})
    repo.git("add", "a", cwd=repo.lane)
    git_lanes.write(repo.lane, {"a": FILES["a"]})


STAYS: dict[str, tuple[Callable[[Repo], object], str]] = {
    "changed": (lambda repo: git_lanes.write(repo.lane, {"a": b"changed"}), "changed"),
    "deleted": (lambda repo: git_lanes.write(repo.lane, {"a": None}), "changed"),
    "mode": (lambda repo: (repo.lane / "a").chmod(0o755), "changed"),
    "hidden by a flag": (looking_away, "changed"),
    "staged": (staged, "staged"),
    "untracked": (lambda repo: git_lanes.write(repo.lane, {"new": b""}), "no commit has"),
    "ignored": (lambda repo: git_lanes.write(repo.lane, {"x.log": b""}), "no commit has"),
    "nested repository": (nested, "no commit has"),
    "locked": (
        lambda repo: repo.git("worktree", "lock", "--reason", "mine", str(repo.lane)),
        "locked it: 'mine'",
    ),
    "locked without a word": (
        lambda repo: repo.git("worktree", "lock", str(repo.lane)),
        "locked it",
    ),
    "commits on no branch": (detached, "no branch holds"),
    "a ref of its own": (
        lambda repo: repo.git("update-ref", "refs/worktree/mine", "HEAD", cwd=repo.lane),
        "for it alone",
    ),
    "a merge": (merging, "a merge"),
}


@pytest.mark.parametrize("name", STAYS)
def test_it_stays_as_it_is_when_something_could_be_lost(made: Repo, name: str) -> None:
    act, told = STAYS[name]
    act(made)
    before = git_lanes.contents(made.lane)
    status = made.status(made.lane)

    reason = worktrees.remove(made.door, made.lane)

    assert reason is not None
    assert told in reason
    assert git_lanes.contents(made.lane) == before
    assert made.status(made.lane) == status


def test_it_stays_while_a_process_stands_in_it(made: Repo) -> None:
    with subprocess.Popen(["cat"], cwd=made.lane / "deep", stdin=subprocess.PIPE) as someone:
        reason = worktrees.remove(made.door, made.lane)
        someone.communicate()

    assert reason == f"process {someone.pid} works in it"
    assert made.status(made.lane) == []


def test_the_main_worktree_and_a_folder_that_is_none_stay(made: Repo, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    reasons = [worktrees.remove(made.door, path) for path in (made.top, tmp_path / "folder")]

    assert reasons == ["it is the main worktree", "it is not a worktree of this repository"]


def without_folder(made: Repo) -> str | None:
    """Why a worktree that somebody moved away is kept."""
    made.lane.rename(made.top / "away")
    return worktrees.remove(made.door, made.lane)


def test_a_worktree_that_somebody_deleted_is_forgotten_unless_something_is_staged(
    made: Repo,
) -> None:
    staged(made)

    reason = without_folder(made)

    assert reason is not None
    assert "staged" in reason
    (made.top / "away").rename(made.lane)
    made.git("reset", "-q", cwd=made.lane)
    assert without_folder(made) is None
    assert made.git("worktree", "list", "--porcelain").count("worktree ") == 1


def test_a_worktree_that_somebody_deleted_is_kept_for_commits_that_no_branch_has(
    made: Repo,
) -> None:
    detached(made)

    reason = without_folder(made)

    assert reason == "it has commits that no branch holds"
    assert made.git("worktree", "list", "--porcelain").count("worktree ") == 2


def test_a_folder_without_its_link_is_never_taken_for_the_repository_around_it(made: Repo) -> None:
    (made.lane / ".git").unlink()
    before = git_lanes.contents(made.lane)

    reason = worktrees.remove(made.door, made.lane)

    assert reason == "something else is there now"
    assert git_lanes.contents(made.lane) == before
    assert git_lanes.contents(made.top) == {**FILES, ".gitignore": b"*.log\n"}


def test_another_repository_in_its_place_stays(made: Repo) -> None:
    (made.lane / ".git").unlink()
    made.git("init", "-q", "-b", BRANCH, str(made.lane))
    made.git("add", "-A", cwd=made.lane)
    made.git("commit", "-q", "-m", "all of it", cwd=made.lane)
    before = made.head(cwd=made.lane)

    reason = worktrees.remove(made.door, made.lane)

    assert reason == "something else is there now"
    assert made.head(cwd=made.lane) == before
    assert made.status(made.lane) == []

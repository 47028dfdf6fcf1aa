"""What a power cut tears is told apart from what somebody wrote, and put back."""

import os
from pathlib import Path

import pytest

import git_lanes
from git_lanes import BRANCH, FILES, Repo
from standfast.errors.base import GitFailed
from standfast.git import torn_files, worktrees
from standfast.git.command import Git

LONG = bytes(range(1, 251)) * 60


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    repo = git_lanes.build(tmp_path, {**FILES, "long": LONG, "none": b"", "zeros": bytes(5000)})
    worktrees.add(repo.door, repo.lane, BRANCH, repo.head())
    return repo


def lane(repo: Repo) -> Git:
    return Git(directory=repo.lane)


def put_back(repo: Repo) -> list[str]:
    found = torn_files.torn(lane(repo)).tracked
    torn_files.put_back(lane(repo), found)
    return sorted(found)


@pytest.mark.sweep(3)
@pytest.mark.req("REL-10")
@pytest.mark.parametrize("torn", [b"", bytes(3), bytes(len(LONG)), LONG[:4096], LONG[:12288],
                                  LONG[:4096] + bytes(len(LONG) - 4096),  # not yet written there
                                  LONG[:4096] + bytes(4096) + LONG[8192:],
                                  bytes(4096) + LONG[4096:8192],
                                  LONG[:12288] + bytes(len(LONG) - 12288)])  # fmt: skip
def test_file_that_is_empty_or_zeros_or_ends_with_a_page_or_has_gaps_is_torn(
    made: Repo, torn: bytes
) -> None:
    (made.lane / "long").write_bytes(torn)
    staged = made.git("ls-files", "--stage", cwd=made.lane)

    assert put_back(made) == ["long"]
    assert (made.lane / "long").read_bytes() == LONG
    assert made.status(made.lane) == []
    assert made.git("ls-files", "--stage", cwd=made.lane) == staged


@pytest.mark.req("REL-10")
@pytest.mark.parametrize("written", [LONG[:4095], LONG[1:4097], LONG + bytes(4096), b"x",
                                     LONG[:4000] + bytes(4192) + LONG[8192:],  # no whole page
                                     LONG[:4096] + bytes(4096) + b"x" + LONG[8193:],
                                     LONG[:4096] + bytes(5000)])  # fmt: skip
def test_file_that_somebody_wrote_is_not(made: Repo, written: bytes) -> None:
    (made.lane / "long").write_bytes(written)
    (made.lane / "a").unlink()

    assert put_back(made) == []
    assert (made.lane / "long").read_bytes() == written
    assert not (made.lane / "a").exists()


def test_file_that_is_committed_so_is_not_torn(made: Repo) -> None:
    (made.lane / "none").chmod(0o755)
    (made.lane / "zeros").chmod(0o755)

    assert put_back(made) == []


def test_new_files_that_hold_nothing_are_named(made: Repo) -> None:
    git_lanes.write(made.lane, {"new": b"", "deep/zeros": bytes(9), "words": b"words"})

    assert sorted(torn_files.torn(lane(made)).new) == ["deep/zeros", "new"]


def test_loss_that_the_index_does_not_see_is_found(made: Repo) -> None:
    facts = (made.lane / "a").stat()
    (made.lane / "a").write_bytes(b"\0" * facts.st_size)
    os.utime(made.lane / "a", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    made.git("update-index", "--assume-unchanged", "a", cwd=made.lane)

    assert put_back(made) == ["a"]


def test_submodule_is_left_alone(made: Repo) -> None:
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},inner", cwd=made.lane)
    made.git("commit", "-q", "-m", "inner", cwd=made.lane)
    made.git("init", "-q", "-b", "main", str(made.lane / "inner"))
    made.git("commit", "-q", "--allow-empty", "-m", "other", cwd=made.lane / "inner")
    os.truncate(made.lane / "a", 0)

    assert put_back(made) == ["a"]
    assert made.status(made.lane) == [" M inner"]


def test_files_that_a_sparse_checkout_leaves_out_stay_out(made: Repo) -> None:
    made.git("sparse-checkout", "set", "--no-cone", "/a", cwd=made.lane)
    os.truncate(made.lane / "a", 0)

    assert put_back(made) == ["a"]
    assert git_lanes.contents(made.lane) == {"a": FILES["a"]}


def test_folder_without_its_link_is_not_taken_for_the_repository_around_it(made: Repo) -> None:
    (made.lane / ".git").unlink()
    os.truncate(made.top / "a", 0)

    with pytest.raises(GitFailed):
        put_back(made)

    assert (made.top / "a").read_bytes() == b""

"""One repository, one journal: from every worktree, path and subdirectory, without starting git."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

from standfast.errors.base import DiskFailed, UnsafePath, Unsupported
from standfast.journal import place
from standfast.journal.place import find
from standfast.journal.store import Journal


def git(repo: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True, timeout=60)


def folder(start: Path) -> str:
    return find(str(start), state_home="/nowhere/state").folder


def test_repository_and_its_subdirectories_share_one_journal(repo: Path) -> None:
    (repo / "services" / "api").mkdir(parents=True)

    found = find(str(repo / "services" / "api"), state_home="/nowhere")

    assert found.folder == str(repo / ".git" / "standfast") == folder(repo)
    assert (found.root, found.subdir, found.in_git) == (str(repo), "services/api", True)


@pytest.mark.req("PLAT-02", "PLAT-03")
def test_linked_worktree_and_link_to_the_repository_have_the_same_journal(
    repo: Path, tmp_path: Path
) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "wt"))
    (tmp_path / "alias").symlink_to(repo)

    assert folder(tmp_path / "wt") == folder(tmp_path / "alias") == folder(repo)
    assert find(str(tmp_path / "wt"), state_home="/x").root == str(tmp_path / "wt")


@pytest.mark.req("REL-05")
def test_worktree_is_not_taken_for_no_repository_when_no_descriptor_is_left(
    repo: Path, tmp_path: Path
) -> None:
    """Its facts would go to another journal, and be acknowledged."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "wt"))
    lowest = os.dup(0)
    os.close(lowest)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        with pytest.raises(DiskFailed):
            folder(tmp_path / "wt")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_submodule_and_bare_repository_have_their_own(repo: Path, tmp_path: Path) -> None:
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo), "sub")
    git(tmp_path, "init", "-q", "--bare", "bare.git")

    assert folder(repo / "sub") == str(repo / ".git" / "modules" / "sub" / "standfast")
    assert folder(tmp_path / "bare.git") == str(tmp_path / "bare.git" / "standfast")


def test_separate_git_dir_is_followed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "store"), "work")

    assert folder(tmp_path / "work") == str(tmp_path / "store" / "standfast")


def test_outside_git_each_path_has_its_own_under_the_state_home(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "a")

    def outside(name: str) -> str:
        return find(str(tmp_path / name), state_home=str(tmp_path / "state")).folder

    assert outside("a") != outside("b")
    assert outside("alias") == outside("a")
    assert Path(outside("a")).parent == tmp_path / "state" / "standfast"


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize(
    "pointer",
    [
        b"",
        b"gitdir:",
        b"gitdir: /nowhere/at/all",
        b"gitdir: .",
        b"gitdir: .git",
        b"nonsense",
        b"gitdir: a\0b",
        b"gitdir: \xff\xfe",
        b"gitdir: " + b"x" * 10_000,
    ],
)
def test_git_file_that_points_nowhere_makes_no_repository(tmp_path: Path, pointer: bytes) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").write_bytes(pointer)

    found = find(str(work), state_home=str(tmp_path / "state"))

    assert not found.in_git


@pytest.mark.parametrize("kind", ["fifo", "loop", "empty folder"])
def test_dot_git_that_is_something_else_makes_no_repository(tmp_path: Path, kind: str) -> None:
    dot_git = tmp_path / ".git"
    if kind == "fifo":
        os.mkfifo(dot_git)
    elif kind == "loop":
        dot_git.symlink_to(".git")
    else:
        dot_git.mkdir()

    assert not find(str(tmp_path), state_home=str(tmp_path / "state")).in_git


@pytest.mark.req("PLAT-03")
def test_journal_is_never_made_in_a_folder_of_another_user(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find(str(repo), state_home="/nowhere")
    place.refuse_foreign(found)  # ours

    monkeypatch.setattr(os, "geteuid", lambda: os.stat(repo).st_uid + 1)
    with pytest.raises(UnsafePath, match="another user"):
        place.refuse_foreign(found)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    place.refuse_foreign(found)  # root may work in anybody's


def test_repository_whose_path_is_no_utf8_is_refused_with_what_helps(tmp_path: Path) -> None:
    repo = tmp_path / "odd-\udcff"
    repo.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=repo, check=True)

    with pytest.raises(Unsupported) as refused:
        Journal(find(str(repo), state_home=str(tmp_path)).folder).append("x", {})

    assert "name" in refused.value.remedy
    assert "WSL" not in refused.value.remedy

"""Repositories that are large, slow, or not where git says: nothing of ours gives up for ever."""

import os
import time
from pathlib import Path

import pytest

import git_lanes
from git_lanes import BRANCH, Repo
from standfast.errors.base import ProgramTimedOut, UnsafePath
from standfast.errors.lanes import InTheWay
from standfast.git import branch_advance, changes, file_difference, snapshot, verbs, worktrees
from standfast.git.command import Git, names
from standfast.processes import programs

LARGE = programs.OUTPUT_LIMIT + 4096


def large() -> bytes:
    return bytes(range(251)) * (LARGE // 251 + 1)


@pytest.fixture
def begun(tmp_path: Path) -> Repo:
    """A worktree whose making was cut off in the last of its files."""
    repo = git_lanes.build(tmp_path, {"a": b"a\n", "large": large()})
    worktrees.add(repo.door, repo.lane, BRANCH, repo.head())
    own = repo.top / ".git/worktrees/SL-1"
    (own / "standfast").rename(own / "locked")
    return repo


@pytest.mark.req("REL-04")
def test_a_checkout_that_was_cut_off_in_a_large_file_is_finished(begun: Repo) -> None:
    os.truncate(begun.lane / "large", LARGE - 1)

    worktrees.add(begun.door, begun.lane, BRANCH, begun.head())

    assert (begun.lane / "large").read_bytes() == large()
    assert begun.status(begun.lane) == []


def cost_of_advancing(folder: Path, files: int) -> float:
    """CPU seconds of ours for a branch that brings so many new files."""
    repo = git_lanes.build(folder)
    repo.branch("lane")
    repo.commit({f"new/{number}": b"x\n" for number in range(files)}, on="lane")
    repo.git("checkout", "-q", "main")
    before = time.process_time()
    branch_advance.advance(repo.door, "main", repo.head("main"), repo.head("lane"))
    return time.process_time() - before


@pytest.mark.ratio
@pytest.mark.prove
def test_eight_times_as_many_new_files_cost_about_eight_times_as_much(tmp_path: Path) -> None:
    seen = []
    for attempt in range(3):
        few, many = (cost_of_advancing(tmp_path / f"{attempt}-{n}", n) for n in (1000, 8000))
        seen.append(round(many / few, 1))
        if seen[-1] <= 12:
            return
    raise AssertionError(f"eight times as many files: {seen}")


@pytest.mark.parametrize("at", [0, LARGE - 2])
def test_a_large_file_of_somebody_is_still_told_from_a_beginning(begun: Repo, at: int) -> None:
    file = begun.lane / "large"
    os.truncate(file, LARGE - 1)
    with file.open("r+b") as handle:
        handle.seek(at)
        handle.write(b"\xff")
    before = file.read_bytes()

    with pytest.raises(InTheWay):
        worktrees.add(begun.door, begun.lane, BRANCH, begun.head())

    assert file.read_bytes() == before


def test_a_large_file_is_held_against_what_a_commit_has(begun: Repo) -> None:
    door, spoken = Git(directory=begun.lane), "HEAD:large"
    file = file_difference.look(str(begun.lane), "large")
    assert file is not None

    assert file.blob(begun.head()) == begun.head(spoken)
    assert file.is_all(door, spoken)
    assert file.begins(door, spoken)
    os.truncate(begun.lane / "large", LARGE - 1)
    assert not file.is_all(door, spoken)
    assert file.begins(door, spoken)
    (begun.lane / "large").write_bytes(large() + b"more")
    assert not file.is_all(door, spoken)
    assert not file.begins(door, spoken)


@pytest.fixture
def many(tmp_path: Path) -> Repo:
    """Names that are more than one answer of git may usually be."""
    repo = git_lanes.build(tmp_path, {"a": b"a\n"})
    blob = repo.head("HEAD:a")
    rows = "".join(f"100644 {blob}\t{n:05}/{'x' * 240}\0" for n in range(LARGE // 240))
    repo.git("update-index", "-z", "--index-info", stdin=rows.encode())
    return repo


@pytest.mark.sweep
@pytest.mark.req("REL-06")
def test_a_listing_of_many_files_is_read_whole(many: Repo, tmp_path: Path) -> None:
    count = LARGE // 240 + 1

    taken = snapshot.take(many.door, many.head(), tmp_path)

    assert len(snapshot.files_of(many.door, taken.staged)) == count
    assert set(taken.files) == {"a"}
    assert len(list(names(many.door.read("ls-files", "-z")))) == count
    assert len(changes.paths(many.door)) == count - 1


def test_only_what_cannot_take_long_is_called_hanging_after_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = git_lanes.build(tmp_path).door
    known = {*verbs.READ_VERBS, *verbs.WRITE_VERBS}
    assert {verb for verb in known if verbs.patience_s(verb) < 3600} == {
        "rev-parse",
        "symbolic-ref",
        "version",
    }

    monkeypatch.setattr(verbs, "PATIENCE_S", 0.0)

    assert door.head() is not None
    with pytest.raises(ProgramTimedOut):
        door.read("status")


# Where the main worktree is not where git says.


def refused(repo: Repo, path: Path) -> None:
    with pytest.raises(UnsafePath):
        worktrees.add(repo.door, path, BRANCH, repo.head())
    assert BRANCH not in repo.git("branch", "--list", BRANCH)
    assert not path.exists()


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("where", ["..", "../elsewhere", "a"])
def test_a_work_tree_above_or_beside_the_checkout_has_no_lanes(tmp_path: Path, where: str) -> None:
    repo = git_lanes.build(tmp_path, {"a/b": b"b\n"})
    (tmp_path / "elsewhere").mkdir()
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "--detach", str(linked))
    repo.git("config", "core.worktree", str(repo.top / where))
    exclude = repo.top / ".git/info/exclude"
    before = exclude.read_bytes() if exclude.exists() else None

    refused(repo, repo.lane)
    refused(Repo(top=linked), repo.lane)

    assert (exclude.read_bytes() if exclude.exists() else None) == before
    assert not (tmp_path / "a").exists()


def test_a_folder_of_gits_that_is_apart_has_no_lanes(tmp_path: Path) -> None:
    repo = git_lanes.build(tmp_path)
    repo.git("init", "-q", f"--separate-git-dir={tmp_path / 'apart'}")

    refused(repo, repo.lane)


def test_a_submodule_has_no_lanes_but_can_be_looked_at(tmp_path: Path) -> None:
    outer = git_lanes.build(tmp_path)
    inner = git_lanes.build(tmp_path / "other")
    allowed = ("-c", "protocol.file.allow=always")
    outer.git(*allowed, "submodule", "--quiet", "add", str(inner.top), "sub")
    repo = Repo(top=outer.top / "sub")

    assert repo.door.toplevel() == repo.top
    assert repo.door.read("status", "--porcelain") == b""
    refused(repo, repo.lane)


def test_a_repository_without_files_of_its_own_has_lanes(tmp_path: Path) -> None:
    repo = git_lanes.build(tmp_path)
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    first = tmp_path / "first"
    repo.git("worktree", "add", "-q", "--detach", str(first), cwd=tmp_path / "bare.git")
    linked = Repo(top=first)

    worktrees.add(linked.door, tmp_path / "lane", BRANCH, linked.head())

    assert git_lanes.contents(tmp_path / "lane") == git_lanes.FILES

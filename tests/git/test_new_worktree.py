"""A worktree is made, or what was begun is finished; nothing of anybody's is written over."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

import git_lanes
from git_lanes import BRANCH, FILES, Repo
from standfast import filesystems
from standfast.errors.base import BadName
from standfast.errors.lanes import BranchTaken, InTheWay
from standfast.git import durable_files, worktrees


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    return git_lanes.build(tmp_path)


def add(repo: Repo, path: Path | None = None) -> None:
    worktrees.add(repo.door, path or repo.lane, BRANCH, repo.head("main"))


def check(repo: Repo) -> None:
    assert git_lanes.contents(repo.lane) == FILES
    assert repo.git("symbolic-ref", "HEAD", cwd=repo.lane) == f"refs/heads/{BRANCH}"
    assert repo.head(cwd=repo.lane) == repo.head("main")
    assert repo.status(repo.lane) == repo.status() == []
    listed = repo.git("worktree", "list", "--porcelain", "-z")
    assert "locked" not in listed
    assert listed.count("worktree ") == 2
    repo.git("fsck", "--strict")


def test_a_worktree_is_made_on_its_own_branch_and_is_no_file_of_the_main_one(made: Repo) -> None:
    add(made)

    check(made)
    exclude = (made.top / ".git/info/exclude").read_text("utf-8")
    assert exclude.splitlines().count("/.worktrees/") == 1


@pytest.mark.req("REL-01")
def test_all_that_the_worktree_needs_of_git_is_synced_before_its_mark_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_lanes.build(tmp_path / "logs")  # a name that git's folder has too
    synced: list[Path] = []
    real = durable_files.sync_all

    def sync_all(paths: Iterable[Path]) -> None:
        assert (repo.top / ".git/worktrees/SL-1/locked").exists()
        synced.extend(given := [*paths])
        real(given)

    monkeypatch.setattr("standfast.git.new_worktree.sync_all", sync_all)
    monkeypatch.setattr(filesystems, "syncs_whole", lambda _: False)

    add(repo)

    own = repo.top / ".git/worktrees/SL-1"
    small = {own / name for name in ("HEAD", "commondir", "gitdir", "index")}
    ref = repo.top / ".git/refs/heads" / BRANCH
    wanted = {*small, own, own.parent, ref, *ref.parents[:4], repo.lane / ".git"}
    assert wanted | {*repo.lane.parents[:3], repo.lane} <= {*synced}
    assert all(synced.index(each) < synced.index(own) for each in small)
    files = {repo.lane / name for name in FILES}
    assert files | {path.parent for path in files} <= {*synced}, "contents and names"


@pytest.mark.req("REL-10")
def test_filesystem_of_a_checkout_is_synced_before_its_mark_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_lanes.build(tmp_path)
    seen: list[Path] = []

    def sync(path: str) -> bool:
        assert (repo.top / ".git/worktrees/SL-1/locked").exists()
        assert git_lanes.contents(repo.lane) == FILES
        seen.append(Path(path))
        return True

    monkeypatch.setattr(filesystems, "sync", sync)
    add(repo)

    assert seen == [repo.lane, repo.top / ".git"]


def test_what_is_excluded_already_stays_so_and_is_said_once(made: Repo) -> None:
    file = made.top / ".git/info/exclude"
    file.write_bytes(b"mine\r\n\xff no end of line")

    add(made)
    add(made)

    assert file.read_bytes() == b"mine\r\n\xff no end of line\n/.worktrees/\n"


def test_making_it_again_leaves_an_agents_work_alone(made: Repo) -> None:
    add(made)
    git_lanes.write(made.lane, {"a": b"changed\n", "new": b"new\n", "bytes": None})
    before = git_lanes.contents(made.lane)

    add(made)

    assert git_lanes.contents(made.lane) == before


def test_lock_of_a_git_that_was_cut_off_while_it_made_the_branch_is_taken_away(made: Repo) -> None:
    lock = made.top / ".git" / "refs" / "heads" / f"{BRANCH}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()

    add(made)

    check(made)
    assert not lock.exists()


def test_a_branch_that_is_there_is_taken_as_it_is(made: Repo) -> None:
    start = made.head()
    made.git("branch", BRANCH)
    made.git("commit", "-q", "--allow-empty", "-m", "main goes on")

    worktrees.add(made.door, made.lane, BRANCH, made.head())

    assert made.head(cwd=made.lane) == start


def test_a_branch_with_commits_of_its_own_is_somebodys_and_refused(made: Repo) -> None:
    start = made.head()
    made.git("checkout", "-q", "-b", BRANCH)
    made.git("commit", "-q", "--allow-empty", "-m", "foreign")
    made.git("checkout", "-q", "main")

    with pytest.raises(BranchTaken, match="commits of its own"):
        worktrees.add(made.door, made.lane, BRANCH, start)

    assert not made.lane.exists()


def test_a_branch_that_is_checked_out_elsewhere_is_refused(made: Repo) -> None:
    made.git("worktree", "add", "-q", "-b", BRANCH, str(made.top.parent / "other"))

    with pytest.raises(BranchTaken, match="other"):
        add(made)

    assert not made.lane.exists()


def test_something_else_at_the_path_is_in_the_way(made: Repo) -> None:
    git_lanes.write(made.lane, {"note": b"mine"})

    with pytest.raises(InTheWay):
        add(made)

    assert git_lanes.contents(made.lane) == {"note": b"mine"}


def test_a_worktree_with_another_branch_in_it_is_in_the_way(made: Repo) -> None:
    made.git("worktree", "add", "-q", "-b", "other", str(made.lane))

    with pytest.raises(InTheWay, match=BRANCH):
        add(made)


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_worktree_whose_folder_somebody_deleted_is_made_again(
    made: Repo, *, is_empty: bool
) -> None:
    add(made)
    made.lane.rename(made.top.parent / "away")
    if is_empty:
        made.lane.mkdir()

    add(made)

    check(made)


def test_a_folder_that_somebody_filled_where_a_worktree_was_is_in_the_way(made: Repo) -> None:
    add(made)
    made.lane.rename(made.top.parent / "away")
    git_lanes.write(made.lane, {"a": b"mine"})

    with pytest.raises(InTheWay):
        add(made)

    assert git_lanes.contents(made.lane) == {"a": b"mine"}


# After a power cut.

SMALL = ("gitdir", "HEAD", "commondir", "locked")


def begin(repo: Repo) -> Path:
    """A worktree that was made but for the last step: its mark is still there."""
    add(repo)
    own = repo.top / ".git/worktrees/SL-1"
    os.rename(own / "standfast", own / "locked")
    return own


@pytest.mark.sweep(4)
@pytest.mark.req("REL-01")
@pytest.mark.parametrize("lost", [*((name,) for name in SMALL), SMALL, ("index",), ()], ids=str)
@pytest.mark.parametrize("is_linked", [True, False])
def test_files_of_gits_own_that_a_power_cut_emptied_are_put_right(
    made: Repo, lost: tuple[str, ...], *, is_linked: bool
) -> None:
    own = begin(made)
    for path in (*(own / name for name in lost), *([] if is_linked else [made.lane / ".git"])):
        os.truncate(path, 0)
    os.truncate(made.lane / "a", 3)
    os.truncate(made.lane / "bytes", 0)
    (made.lane / "empty").unlink()
    if lost == SMALL and is_linked:
        os.truncate(made.lane / ".git", 0)  # no power cut empties all but this one

    add(made)

    check(made)


@pytest.mark.req("REL-01")
@pytest.mark.parametrize("name", ["gitdir", "HEAD", "commondir"])
def test_a_file_of_gits_own_that_ends_in_the_middle_is_put_right(made: Repo, name: str) -> None:
    own = begin(made)
    os.truncate(own / name, (own / name).stat().st_size // 2)

    add(made)

    check(made)


@pytest.mark.req("REL-01")
def test_a_branch_that_a_power_cut_took_is_made_again(made: Repo) -> None:
    begin(made)
    (made.top / ".git/refs/heads" / BRANCH).unlink()

    add(made)

    check(made)


def test_an_empty_link_that_nothing_belongs_to_is_no_hindrance(made: Repo) -> None:
    made.lane.mkdir(parents=True)
    (made.lane / ".git").write_bytes(b"")

    add(made)

    check(made)


def test_a_file_that_somebody_put_into_a_worktree_before_it_was_whole_is_in_the_way(
    made: Repo,
) -> None:
    begin(made)
    git_lanes.write(made.lane, {"a": b"mine\n"})

    with pytest.raises(InTheWay, match="'a'"):
        add(made)

    assert (made.lane / "a").read_bytes() == b"mine\n"


@pytest.mark.parametrize("reason", [(), ("--reason", "mine")])
def test_a_worktree_that_a_person_locked_is_left_alone(made: Repo, reason: tuple[str, ...]) -> None:
    add(made)
    made.git("worktree", "lock", *reason, str(made.lane))
    git_lanes.write(made.lane, {"a": None, "bytes": b"mine\n"})
    made.git("add", "bytes", cwd=made.lane)
    before = (git_lanes.contents(made.lane), made.status(made.lane))

    add(made)

    assert before == (git_lanes.contents(made.lane), made.status(made.lane))
    assert "locked" in made.git("worktree", "list", "--porcelain")


def test_what_was_staged_in_a_worktree_that_is_gone_is_not_forgotten(made: Repo) -> None:
    add(made)
    git_lanes.write(made.lane, {"a": b"staged\n"})
    made.git("add", "a", cwd=made.lane)
    made.lane.rename(made.top.parent / "away")

    for _ in range(2):
        with pytest.raises(InTheWay, match="staged"):
            add(made)

    (made.top.parent / "away").rename(made.lane)
    assert made.status(made.lane) == ["M  a"]


def test_a_worktree_of_somebodys_own_that_is_locked_without_a_word_loses_nothing(
    made: Repo,
) -> None:
    made.git("worktree", "add", "-q", "-b", BRANCH, str(made.lane))
    made.git("worktree", "lock", str(made.lane))
    git_lanes.write(made.lane, {"a": b"mine\n"})

    for _ in range(2):
        with pytest.raises(InTheWay, match="'a'"):
            add(made)

    assert (made.lane / "a").read_bytes() == b"mine\n"
    assert (made.top / ".git/worktrees/SL-1/locked").read_bytes() == b""


@pytest.mark.parametrize("branch", ["-x", "", "a\nb"])
def test_a_branch_that_git_could_misread_is_refused(made: Repo, branch: str) -> None:
    with pytest.raises(BadName):
        worktrees.add(made.door, made.lane, branch, made.head())


@pytest.mark.req("REL-10")
@pytest.mark.parametrize("attributes", [b"", None])
def test_files_that_git_converted_are_its_own_though_their_attributes_are_gone(
    made: Repo, attributes: bytes | None
) -> None:
    git_lanes.write(made.top, {".gitattributes": b"*.txt text eol=crlf\n", "c.txt": b"a\r\n" * 9})
    made.git("add", ".")
    made.git("commit", "-qm", "converted")
    begin(made)
    (made.lane / ".gitattributes").unlink()
    if attributes is not None:
        (made.lane / ".gitattributes").write_bytes(attributes)

    add(made)

    assert made.status(made.lane) == []
    assert (made.lane / "c.txt").read_bytes() == b"a\r\n" * 9

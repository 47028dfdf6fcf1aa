"""A branch moves forward with its checkout, and no file of a person is written over."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import git_lanes
from git_lanes import CHANGES, FILES, Repo
from standfast import filesystems
from standfast.errors.lanes import BaseMoved, BaseRefused
from standfast.git import branch_advance, file_exchange
from synced_files import synced


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    """A repository in which `lane` is ahead of `main`, and `main` is checked out."""
    repo = git_lanes.build(tmp_path)
    repo.branch("lane")
    repo.git("checkout", "-q", "lane")
    (repo.top / "empty").unlink()
    repo.commit(CHANGES, "lane")
    repo.git("checkout", "-q", "main")
    return repo


def wanted() -> dict[str, bytes]:
    files = {**FILES, **CHANGES}
    return {name: data for name, data in files.items() if data is not None and name != "empty"}


def died(repo: Repo, old: str, new: str) -> None:
    """What a call that died leaves behind beside its files."""
    (repo.top / ".git/standfast-advance").write_text(f"{old} {new}\n", encoding="utf-8")


def advance(repo: Repo) -> None:
    branch_advance.advance(repo.door, "main", repo.head("main"), repo.head("lane"))


def test_the_checkout_moves_with_the_branch(made: Repo) -> None:
    advance(made)

    assert made.head("main") == made.head("lane")
    assert git_lanes.contents(made.top) == wanted()
    assert made.status() == []
    assert "standfast" in made.git("reflog", "-1", "main")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nothing tells what is synced")
def test_the_log_of_a_checkout_elsewhere_is_synced_too(
    made: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystems, "syncs_whole", lambda _: False)  # as where each file is
    made.git("checkout", "-q", "--detach")
    made.git("worktree", "add", "-q", str(made.lane), "main")

    with synced() as seen:
        advance(made)

    home = made.top / ".git/worktrees" / made.lane.name
    assert {home, home / "logs/HEAD", made.top / ".git/refs/heads/main"} <= set(seen)


def test_a_branch_that_nobody_has_checked_out_is_moved_alone(made: Repo) -> None:
    made.git("checkout", "-q", "--detach")
    before = git_lanes.contents(made.top)

    advance(made)

    assert made.head("main") == made.head("lane")
    assert git_lanes.contents(made.top) == before
    assert made.status() == []


def test_a_checkout_in_another_worktree_moves_too(made: Repo, tmp_path: Path) -> None:
    made.git("checkout", "-q", "--detach")
    made.git("worktree", "add", "-q", str(tmp_path / "other"), "main")

    advance(made)

    assert git_lanes.contents(tmp_path / "other") == wanted()
    assert made.status(tmp_path / "other") == made.status() == []


def test_moving_twice_is_moving_once(made: Repo) -> None:
    old, new = made.head("main"), made.head("lane")
    branch_advance.advance(made.door, "main", old, new)
    later = made.commit({"later": b"1"}, on="main")

    branch_advance.advance(made.door, "main", old, new)

    assert made.head("main") == later


def test_a_branch_that_is_elsewhere_or_gone_is_not_moved(made: Repo) -> None:
    old, new = made.head("main"), made.head("lane")
    later = made.commit({"later": b"1"}, on="main")

    for branch in ("main", "gone"):
        with pytest.raises(BaseMoved):
            branch_advance.advance(made.door, branch, old, new)

    assert made.head("main") == later


def test_a_branch_is_moved_forward_only(made: Repo) -> None:
    before = made.head("main")
    later = made.commit({"later": b"1"}, on="main")

    with pytest.raises(BaseMoved, match="no way leads forward"):
        branch_advance.advance(made.door, "main", later, made.head("lane"))
    branch_advance.advance(made.door, "main", later, before)  # it holds that already

    assert made.head("main") == later
    assert made.status() == []


def test_a_persons_other_changes_stay(made: Repo) -> None:
    git_lanes.write(made.top, {"line\nbreak": b"mine\n", "untracked": b"mine\n"})
    git_lanes.write(made.top, {"staged": b"staged\n"})
    made.git("add", "staged")

    advance(made)

    mine = {"line\nbreak": b"mine\n", "untracked": b"mine\n", "staged": b"staged\n"}
    assert git_lanes.contents(made.top) == {**wanted(), **mine}
    assert sorted(made.status()) == [" M line\nbreak", "?? untracked", "A  staged"]


@pytest.mark.parametrize(
    ("name", "is_ignored"), [("a", False), ("new/file", False), ("new/file", True)]
)
def test_a_persons_file_that_would_be_written_over_is_named_and_nothing_moves(
    made: Repo, name: str, *, is_ignored: bool
) -> None:
    if is_ignored:
        (made.top / ".git/info/exclude").write_text("new/\n", "utf-8")
    git_lanes.write(made.top, {name: b"mine\n"})
    before = (made.head("main"), git_lanes.contents(made.top), made.status())

    with pytest.raises(BaseRefused, match=name):
        advance(made)

    assert before == (made.head("main"), git_lanes.contents(made.top), made.status())


@pytest.mark.parametrize(
    ("mine", "named"), [({"new": b"mine\n"}, "'new'"), ({"now/x.log": b"mine\n"}, "'now/x.log'")]
)
def test_an_ignored_file_is_not_lost_where_a_folder_becomes_a_file_or_the_other_way(
    tmp_path: Path, mine: dict[str, bytes | None], named: str
) -> None:
    repo = git_lanes.build(tmp_path, {"now/file": b"1\n", ".gitignore": b"*.log\n"})
    old = repo.head()
    repo.git("checkout", "-q", "-b", "lane")
    repo.git("rm", "-q", "now/file")
    new = repo.commit({"now": b"a file\n", "new/file": b"2\n"})
    repo.git("checkout", "-q", "main")
    (repo.top / ".git/info/exclude").write_text("/new\n", "utf-8")
    git_lanes.write(repo.top, mine)
    before = git_lanes.contents(repo.top)

    with pytest.raises(BaseRefused, match=named):
        branch_advance.advance(repo.door, "main", old, new)

    assert git_lanes.contents(repo.top) == before
    git_lanes.write(repo.top, dict.fromkeys(mine))
    branch_advance.advance(repo.door, "main", old, new)
    assert repo.status() == []
    assert (repo.top / "now").read_bytes() == b"a file\n"


def test_an_unfinished_merge_is_not_disturbed(made: Repo) -> None:
    made.git("checkout", "-q", "-b", "third")
    made.commit({"third": b"3"})
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "--no-commit", "third")

    with pytest.raises(BaseRefused, match="a merge"):
        advance(made)


def test_a_rebase_of_the_branch_is_not_disturbed(made: Repo) -> None:
    made.commit({"a": b"other\n"}, on="main")
    argv = ["git", "rebase", "-q", "lane"]
    subprocess.run(argv, cwd=made.top, check=False, capture_output=True)
    main = made.head("main")
    new = made.git("commit-tree", "-p", main, "-m", "x", f"{main}^{{tree}}")

    with pytest.raises(BaseRefused, match="rebase"):
        branch_advance.advance(made.door, "main", main, new)

    assert made.head("main") == main


def test_a_lock_that_a_dead_git_left_is_swept_and_a_held_one_is_not(
    made: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standfast.git.worktree_state._PATIENCE_S", 0.3)
    lock = made.top / ".git/index.lock"
    with lock.open("wb"), pytest.raises(BaseRefused, match=str(os.getpid())):
        advance(made)
    assert lock.exists()

    advance(made)

    assert made.head("main") == made.head("lane")
    assert not lock.exists()


@pytest.mark.parametrize("name", ["HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_that_was_left_after_the_move_is_swept_by_the_next_call(
    made: Repo, name: str
) -> None:
    old, new = made.head("main"), made.head("lane")
    advance(made)
    (made.top / ".git" / name).write_bytes(b"")

    branch_advance.advance(made.door, "main", old, new)

    assert not (made.top / ".git" / name).exists()


def test_a_git_that_waits_for_an_editor_keeps_its_lock(
    made: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standfast.git.worktree_state._PATIENCE_S", 0.3)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    git_lanes.write(made.top, {"line\nbreak": b"mine\n"})
    editor = f"sh -c 'echo words >\"$1\"; cat <{fifo}' --"
    env = {**os.environ, "GIT_EDITOR": editor}
    with (
        subprocess.Popen(["git", "commit", "-q", "-a"], cwd=made.top, env=env) as person,
        fifo.open("wb"),  # opens when the editor waits, which ends when it is closed
        pytest.raises(BaseRefused, match=str(person.pid)),
    ):
        advance(made)
    assert person.returncode == 0
    assert made.git("log", "-1", "--format=%s") == "words"


# After a power cut, or a death that left half of it.


@pytest.mark.req("REL-01")
@pytest.mark.parametrize("is_indexed", [True, False], ids=["index written", "index old"])
@pytest.mark.parametrize("left", [0, 5, None], ids=["empty", "cut off", "missing"])
def test_files_that_were_cut_off_are_written_whole(
    made: Repo, left: int | None, *, is_indexed: bool
) -> None:
    index = made.top / ".git/index"
    before = index.read_bytes()
    made.git("read-tree", "-m", "-u", "main", "lane")
    if not is_indexed:
        index.write_bytes(before)
    for name in ("a", "bytes", "new/file"):
        if left is None:
            (made.top / name).unlink()
        else:
            os.truncate(made.top / name, left)
    git_lanes.write(made.top, {"deep/er/b": FILES["deep/er/b"]})  # its end did not last
    died(made, made.head("main"), made.head("lane"))

    advance(made)

    assert made.head("main") == made.head("lane")
    assert git_lanes.contents(made.top) == wanted()
    assert made.status() == []


@pytest.mark.parametrize("is_indexed", [True, False], ids=["index written", "index old"])
def test_what_a_person_wrote_after_a_death_stays(made: Repo, *, is_indexed: bool) -> None:
    index = made.top / ".git/index"
    before = index.read_bytes()
    made.git("read-tree", "-m", "-u", "main", "lane")
    if not is_indexed:
        index.write_bytes(before)
    git_lanes.write(made.top, {"bytes": b"mine\n", "deep/er/b": b"mine too\n"})
    files = git_lanes.contents(made.top)

    if is_indexed:
        advance(made)
        assert sorted(made.status()) == [" M bytes", "?? deep/"]
    else:
        with pytest.raises(BaseRefused, match="bytes"):
            advance(made)
        assert made.head("main") != made.head("lane")

    assert git_lanes.contents(made.top) == files


def test_files_whose_times_alone_changed_do_not_stop_it(made: Repo) -> None:
    for name in FILES:
        os.utime(made.top / name, (1, 1))

    advance(made)

    assert made.status() == []


@pytest.mark.parametrize("mode", ["true", "input"])
def test_ends_of_lines_that_git_converts_are_known(tmp_path: Path, mode: str) -> None:
    repo = git_lanes.build(tmp_path, {"text": b"one\ntwo\n"})
    repo.git("config", "core.autocrlf", mode)
    repo.git("rm", "-q", "--cached", "text")
    repo.git("reset", "-q", "--hard")
    old = repo.head()
    repo.git("checkout", "-q", "-b", "lane")
    git_lanes.write(repo.top, {"text": b"one\r\nTWO\r\n" * 9})
    repo.git("commit", "-q", "-a", "-m", "lane")
    new = repo.head()
    repo.git("checkout", "-q", "main")
    index = (repo.top / ".git/index").read_bytes()
    repo.git("read-tree", "-m", "-u", "main", "lane")
    (repo.top / ".git/index").write_bytes(index)
    os.truncate(repo.top / "text", 7)
    died(repo, old, new)

    branch_advance.advance(repo.door, "main", old, new)

    assert repo.head("main") == new
    assert repo.status() == []


def test_a_missing_checkout_does_not_stop_it(made: Repo, tmp_path: Path) -> None:
    made.git("checkout", "-q", "--detach")
    made.git("worktree", "add", "-q", str(tmp_path / "other"), "main")
    (tmp_path / "other").rename(tmp_path / "away")

    advance(made)

    assert made.head("main") == made.head("lane")


def test_a_submodule_is_moved_on_and_never_entered(made: Repo) -> None:
    old = made.head("main")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},inner")
    made.git("commit", "-q", "-m", "inner")
    made.git("branch", "-f", "lane")
    made.git("reset", "-q", "--hard", old)

    advance(made)

    assert made.head("main") == made.head("lane")
    assert made.status() == []


# What a person did is never taken for what a dead call left.


@pytest.mark.parametrize("said", [b"", b"one\n", b"one\nTWO\n"], ids=["emptied", "old", "new"])
@pytest.mark.parametrize("is_staged", [False, True])
def test_a_file_that_a_person_shortened_stays(made: Repo, said: bytes, *, is_staged: bool) -> None:
    (made.top / "a").write_bytes(said)
    if is_staged:
        made.git("add", "a")
    before = made.status()

    for _ in range(2):
        with pytest.raises(BaseRefused, match="'a'"):
            advance(made)

    assert (made.top / "a").read_bytes() == said
    assert made.status() == before
    made.git("reset", "-q", "--hard")
    advance(made)
    assert git_lanes.contents(made.top) == wanted()
    assert not [each for each in (made.top / ".git").iterdir() if "standfast" in each.name]


# After a death behind the move, when a person has taken the lock away and gone on.


def moved_without_index(repo: Repo) -> None:
    """The branch and the files have come, the index is as it was before."""
    old, new, index = repo.head("main"), repo.head("lane"), repo.top / ".git/index"
    before = index.read_bytes()
    branch_advance.advance(repo.door, "main", old, new)
    index.write_bytes(before)
    died(repo, old, new)


def test_index_follows_after_a_person_committed_one_file_beside_it(made: Repo) -> None:
    moved_without_index(made)
    git_lanes.write(made.top, {"line\nbreak": b"mine\n"})
    made.git("commit", "-qm", "mine", "line\nbreak")

    branch_advance.end_begun(made.door, "main")

    assert made.status() == []
    assert git_lanes.contents(made.top) == {**wanted(), "line\nbreak": b"mine\n"}


def test_index_of_a_commit_that_took_the_merge_back_is_left_to_whoever_made_it(made: Repo) -> None:
    moved_without_index(made)
    git_lanes.write(made.top, {"mine": b"mine\n"})
    made.git("add", "mine")
    made.git("commit", "-qm", "mine")

    branch_advance.end_begun(made.door, "main")

    assert made.git("diff", "--cached", "--name-only") == ""
    assert git_lanes.contents(made.top) == {**wanted(), "mine": b"mine\n"}


def test_what_a_person_staged_over_a_stale_index_stays_staged(made: Repo) -> None:
    moved_without_index(made)
    git_lanes.write(made.top, {"a": b"mine\n"})
    made.git("add", "a")

    branch_advance.end_begun(made.door, "main")

    assert made.status() == ["M  a"]


def test_nothing_is_taken_from_the_index_when_no_call_died(made: Repo) -> None:
    old = made.head("main")
    advance(made)
    made.git("reset", "-q", old, "--", "a")
    before = made.status()

    branch_advance.end_begun(made.door, "main")

    assert made.status() == before


def test_files_of_a_merge_that_never_came_are_taken_back(made: Repo) -> None:
    before, real = git_lanes.contents(made.top), file_exchange.put_in_place

    def dies(*given: Any) -> None:
        real(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        file_exchange.put_in_place = dies
        advance(made)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert git_lanes.contents(made.top) != before

    branch_advance.end_begun(made.door, "main")

    assert git_lanes.contents(made.top) == before
    assert made.status() == []

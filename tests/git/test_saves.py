"""Somebody saves a file in the checkout while a merge writes there: refused or kept, never lost."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

import git_lanes
from git_lanes import CHANGES, Repo
from places import TESTS
from standfast import disk, open_writers
from standfast.errors.base import GitFailed
from standfast.errors.lanes import BaseRefused
from standfast.git import branch_advance, file_exchange, saves

EDITOR = TESTS / "saving_editor.py"
ROUNDS, FILES = 24, 60
MINE = b"mine\n"


@pytest.fixture
def raced(tmp_path: Path) -> Repo:
    """`lane` changes every file, takes one of ten away, and brings as many new ones."""
    old = {f"{number % 3}/{number}": b"old %d\n" % number for number in range(FILES)}
    repo = git_lanes.build(tmp_path, {**old, "kept": b"as it is\n"})
    repo.branch("lane")
    new: dict[str, bytes | None] = {name: b"new " + data for name, data in old.items()}
    new |= {f"new/{number}": b"brought %d\n" % number for number in range(FILES // 10)}
    new |= dict.fromkeys(list(old)[::10])
    repo.commit(new, on="lane")
    repo.git("checkout", "-q", "main")
    return repo


@contextmanager
def editor(how: str) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, str(EDITOR), how]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, encoding="utf-8") as made:
        yield made
        assert made.stdin is not None
        made.stdin.close()


def everything(top: Path) -> str:
    """Every file of the checkout, and of what is kept for its user."""
    kept = (top / ".git/standfast-kept").rglob("*")
    here = (Path(at) / name for at, _, names in os.walk(top) for name in names)
    files = [each for each in here if ".git" not in each.parts] + [*kept]
    return "".join(each.read_text("utf-8") for each in files if each.is_file())


@pytest.mark.prove
@pytest.mark.req("REL-08", "RUN-04")
@pytest.mark.parametrize("how", ["rename", "inplace"])
def test_no_save_of_a_racing_editor_is_lost_by_a_merge(raced: Repo, how: str) -> None:
    dice, lost, outcomes = random.Random(16), [], set()
    old, new = raced.head("main"), raced.head("lane")
    before = time.perf_counter_ns()
    branch_advance.advance(raced.door, "main", old, new)
    as_long_us = (time.perf_counter_ns() - before) // 1000
    with editor(how) as person:
        assert person.stdin is not None
        assert person.stdout is not None
        for _ in range(ROUNDS):
            raced.git("reset", "-q", "--hard", old)
            raced.git("clean", "-q", "-fd")
            name = f"{(number := dice.randrange(FILES)) % 3}/{number}"
            person.stdin.write(f"{raced.top / name} {dice.randrange(as_long_us * 5 // 4)}\n")
            person.stdin.flush()
            try:
                branch_advance.advance(raced.door, "main", old, new)
                outcomes.add("merged")
            except BaseRefused:
                outcomes.add("refused")
                assert raced.head("main") == old
            words = person.stdout.readline()
            if words not in everything(raced.top):
                lost.append(words)
    assert lost == []
    assert outcomes == {"merged", "refused"}  # it was a race


# Each moment by itself.

Save = Callable[[Path], None]


def renamed(path: Path) -> None:
    draft = path.with_name("~")
    draft.write_bytes(MINE)
    draft.replace(path)


def in_place(path: Path) -> None:
    path.write_bytes(MINE)


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    repo = git_lanes.build(tmp_path)
    repo.branch("lane")
    repo.git("checkout", "-q", "lane")
    (repo.top / "empty").unlink()
    repo.commit(CHANGES, "lane")
    repo.git("checkout", "-q", "main")
    return repo


def advance(repo: Repo) -> None:
    branch_advance.advance(repo.door, "main", repo.head("main"), repo.head("lane"))


def during(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], *, after: bool = False
) -> None:
    """Act once, when the merge has looked and begins to put its files in place, or has done so."""
    real, acts = file_exchange.put_in_place, [act]

    def put_in_place(*args: Any) -> None:
        if not after:
            acts.pop()()
        real(*args)
        if after:
            acts.pop()()

    monkeypatch.setattr(file_exchange, "put_in_place", put_in_place)


@pytest.mark.sweep(5)
@pytest.mark.req("REL-08", "RUN-04")
@pytest.mark.parametrize("save", [renamed, in_place])
@pytest.mark.parametrize("name", ["a", "deep/er/b", "bytes", "empty", "new/file"])
def test_a_file_that_is_saved_while_the_merge_begins_is_as_it_was_saved(
    made: Repo, monkeypatch: pytest.MonkeyPatch, save: Save, name: str
) -> None:
    path, before = made.top / name, git_lanes.contents(made.top)
    path.parent.mkdir(exist_ok=True)
    with monkeypatch.context() as patch:
        during(patch, lambda: save(path))
        with pytest.raises(BaseRefused, match=f"somebody saved '{name}'"):
            advance(made)

    assert git_lanes.contents(made.top) == {**before, name: MINE}
    assert made.status() in ([f" M {name}"], ["?? new/"])
    assert no_trace(made)
    path.unlink()
    made.git("reset", "-q", "--hard")
    advance(made)
    assert made.status() == []
    assert no_trace(made)


def no_trace(repo: Repo) -> bool:
    return not [each for each in (repo.top / ".git").iterdir() if "standfast" in each.name]


@pytest.mark.req("REL-08", "RUN-04")
@pytest.mark.skipif(not open_writers.KNOWN, reason="nothing tells who writes")
@pytest.mark.parametrize("name", ["a", "deep/er/b"])
def test_a_file_that_somebody_has_open_is_put_back_before_its_words_come(
    made: Repo, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(saves, "_PATIENCE_S", 0.1)
    before = git_lanes.contents(made.top)
    with (made.top / name).open("ab") as still_open:
        with pytest.raises(BaseRefused, match=name):
            advance(made)
        still_open.write(MINE)

    assert git_lanes.contents(made.top) == {**before, name: before[name] + MINE}


@pytest.mark.req("REL-08", "RUN-04")
@pytest.mark.parametrize("save", [renamed, in_place])
@pytest.mark.parametrize("name", ["a", "new/file", "deep/er/b"])
def test_a_save_over_what_was_brought_stays_on_top_of_it(
    made: Repo, monkeypatch: pytest.MonkeyPatch, save: Save, name: str
) -> None:
    path = made.top / name

    def act() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path)

    during(monkeypatch, act, after=True)

    advance(made)

    assert made.head("main") == made.head("lane")
    assert path.read_bytes() == MINE
    assert made.status() in ([f" M {name}"], ["?? deep/"])


@pytest.mark.req("REL-08", "RUN-04")
def test_of_two_saves_the_newer_stays_and_the_other_is_kept_and_named(
    made: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    during(monkeypatch, lambda: renamed(made.top / "a"))
    real = saves.found

    def found(*args: Any) -> list[str]:
        said = real(*args)
        (made.top / "a").write_bytes(b"newer\n")
        return said

    monkeypatch.setattr(saves, "found", found)

    with pytest.raises(BaseRefused, match="somebody saved 'a'") as refused:
        advance(made)

    assert (made.top / "a").read_bytes() == b"newer\n"
    (kept,) = (made.top / ".git/standfast-kept").iterdir()
    assert kept.read_bytes() == MINE
    assert str(kept) in refused.value.problem


@pytest.mark.req("REL-01", "REL-08", "RUN-04")
@pytest.mark.parametrize("name", ["a", "deep/er/b", "new/file"])
def test_a_save_that_a_killed_merge_had_displaced_is_put_back_by_the_next_call(
    made: Repo, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path, before = made.top / name, git_lanes.contents(made.top)
    path.parent.mkdir(exist_ok=True)

    def die(*_: Any) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        during(patch, lambda: renamed(path))
        patch.setattr(saves, "found", die)
        with pytest.raises(KeyboardInterrupt):
            advance(made)
    with pytest.raises(BaseRefused, match=name):
        advance(made)

    assert git_lanes.contents(made.top) == {**before, name: MINE}


@pytest.mark.sweep(4)
@pytest.mark.req("REL-08", "RUN-04")
@pytest.mark.parametrize("save", [renamed, in_place])
@pytest.mark.parametrize("name", ["a", "deep/er/b", "new/file", "empty"])
def test_where_names_cannot_be_exchanged_a_save_is_kept_too(
    made: Repo, monkeypatch: pytest.MonkeyPatch, save: Save, name: str
) -> None:
    monkeypatch.setattr(disk, "swap", lambda *_: False)
    test_a_file_that_is_saved_while_the_merge_begins_is_as_it_was_saved(
        made, monkeypatch, save, name
    )


@pytest.mark.req("REL-08", "RUN-04")
@pytest.mark.parametrize("is_late", [True, False])
def test_where_nothing_tells_who_writes_the_next_merge_looks_once_more(
    made: Repo, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    monkeypatch.setattr(open_writers, "has_open", lambda _: None)
    with (made.top / "a").open("ab") as still_open:
        advance(made)
        still_open.write(MINE if is_late else b"")
    old, new = made.head("main"), made.commit({"later": b"1\n"}, on="lane")
    made.git("checkout", "-q", "main")

    if is_late:
        with pytest.raises(BaseRefused, match="standfast-kept"):
            branch_advance.advance(made.door, "main", old, new)
        (kept,) = (made.top / ".git/standfast-kept").iterdir()
        assert kept.read_bytes().endswith(MINE)
    branch_advance.advance(made.door, "main", old, new)

    assert made.head("main") == new
    assert made.status() == []


# What a merge meets beside a save.


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("error", [KeyboardInterrupt, GitFailed])
def test_a_merge_that_is_broken_off_before_the_branch_moves_leaves_the_files_as_they_were(
    made: Repo, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise error("no")

    before = git_lanes.contents(made.top)
    with monkeypatch.context() as patch:
        patch.setattr(branch_advance, "_move", refuse)
        with pytest.raises(error):
            advance(made)

    assert git_lanes.contents(made.top) == before
    assert made.status() == []
    advance(made)
    assert made.status() == []


@pytest.mark.req("RUN-04")
def test_a_link_to_a_folder_may_become_a_folder(tmp_path: Path) -> None:
    repo = git_lanes.build(tmp_path, {"e/x": b"x\n"})
    (repo.top / "d").symlink_to("e")
    repo.git("add", "d")
    repo.git("commit", "-qm", "a link")
    repo.branch("lane")
    repo.git("checkout", "-q", "lane")
    (repo.top / "d").unlink()
    repo.commit({"d/x": b"x\n"}, "lane")
    repo.git("checkout", "-q", "main")

    advance(repo)

    assert not (repo.top / "d").is_symlink()
    assert repo.status() == []


@pytest.mark.req("RUN-04")
def test_what_is_brought_has_the_group_of_a_folder_that_several_share(made: Repo) -> None:
    groups = [each for each in (*os.getgroups(), *([33] if os.geteuid() == 0 else []))
              if each != os.getegid()]  # fmt: skip
    if not groups:
        pytest.skip("this user is in one group")
    os.chown(made.top, -1, groups[-1])
    made.top.chmod(0o2775)

    advance(made)

    assert (made.top / "a").stat().st_gid == groups[-1]


@pytest.mark.req("RUN-04", "PLAT-03")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root binds folders")
def test_a_git_directory_that_is_a_mount_of_its_own_stops_no_merge(made: Repo) -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[5:]; from pathlib import Path;"
        "from standfast.git.command import Git; from standfast.git import branch_advance;"
        "branch_advance.advance(Git(directory=Path(sys.argv[1])), 'main', *sys.argv[2:4])"
    )
    words = [sys.executable, "-c", script, made.top, made.head("main"), made.head("lane"), "-"]
    bound = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && exec "$@"', made.top / ".git"]

    done = subprocess.run([*bound, *words, *sys.path], capture_output=True, check=False)

    assert done.returncode == 0, done.stderr
    assert made.head("main") == made.head("lane")
    assert made.status() == []

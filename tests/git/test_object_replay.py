"""A lane is put on top of its base by objects alone: every byte kept, the same commits always."""

import os
import subprocess
from pathlib import Path

import pytest

import git_lanes
from git_lanes import FILES, Repo
from standfast.errors.base import GitFailed
from standfast.errors.lanes import GitTooOld
from standfast.git import branch_advance, replay, worktrees
from standfast.git.command import Git


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    repo = git_lanes.build(tmp_path)
    repo.branch("lane")
    return repo


def raw(repo: Repo, commit: str) -> bytes:
    return subprocess.check_output(["git", "cat-file", "commit", commit], cwd=repo.top)


def files(repo: Repo, commit: str) -> dict[str, str]:
    rows = repo.git("ls-tree", "-r", "-z", commit).split("\0")[:-1]
    return {row.partition("\t")[2]: row.partition("\t")[0] for row in rows}


def subjects(repo: Repo, commits: str) -> list[str]:
    return repo.git("log", "--reverse", "--format=%s", commits).split("\n")


def test_commits_come_on_top_with_all_that_they_say(made: Repo) -> None:
    made.commit({"new": b"1"}, "first of it", on="lane")
    tip = made.commit({"new": b"2", "deep/er/b": None}, "second", on="lane")
    base = made.commit({"a": b"ONE\ntwo\nthree\n"}, "base", on="main")
    before = (made.git("for-each-ref"), git_lanes.contents(made.top))

    done = replay.replay(made.door, tip, base)

    assert (done.conflicts, done.dropped) == ((), ())
    assert subjects(made, f"{base}..{done.tip}") == ["first of it", "second"]
    assert made.git("rev-parse", f"{done.tip}~2") == base
    old, new = raw(made, tip).split(b"\n", 2)[2], raw(made, done.tip).split(b"\n", 2)[2]
    assert old == new
    assert made.git("show", f"{done.tip}:a") == "ONE\ntwo\nthree"
    assert made.git("show", f"{done.tip}:new") == "2"
    assert "deep/er/b" not in files(made, done.tip)
    assert before == (made.git("for-each-ref"), git_lanes.contents(made.top))
    assert replay.replay(made.door, tip, base) == done
    made.git("fsck", "--strict", done.tip)


def test_a_lane_that_is_up_to_date_stays_as_it_is(made: Repo) -> None:
    tip = made.commit({"new": b"1"}, on="lane")

    done = replay.replay(made.door, tip, made.head("main"))

    assert done == replay.Replayed(tip)


def test_a_lane_without_commits_becomes_its_base(made: Repo) -> None:
    tip = made.head()
    base = made.commit({"new": b"1"}, on="main")

    assert replay.replay(made.door, tip, base) == replay.Replayed(base)


def test_what_the_base_has_already_is_dropped_and_an_empty_commit_is_not(made: Repo) -> None:
    picked = made.commit({"one": b"1\n"}, "picked", on="lane")
    empty = made.commit({}, "empty", on="lane")
    tip = made.commit({"two": b"2\n"}, "more", on="lane")
    made.git("checkout", "-q", "main")
    made.git("cherry-pick", "--no-commit", picked)
    base = made.commit({"three": b"3\n"}, "on main")

    done = replay.replay(made.door, tip, base)

    assert done.dropped == (picked,)
    assert subjects(made, f"{base}..{done.tip}") == ["empty", "more"]
    assert empty != tip


def test_a_change_that_the_base_took_and_went_on_from_is_dropped(made: Repo) -> None:
    picked = made.commit({"a": b"one\nTWO\nthree\n"}, "picked", on="lane")
    made.commit({"main": b""}, on="main")
    made.git("cherry-pick", picked)
    base = made.commit({"a": b"one\nTWO and more\nthree\n"}, "on main")

    done = replay.replay(made.door, picked, base)

    assert done == replay.Replayed(base, dropped=(picked,))


def test_a_change_that_the_base_took_and_took_back_is_made_again(made: Repo) -> None:
    picked = made.commit({"a": b"one\nTWO\nthree\n"}, "picked", on="lane")
    made.commit({"main": b""}, on="main")
    made.git("cherry-pick", picked)
    made.git("revert", "--no-edit", "HEAD")

    done = replay.replay(made.door, picked, made.head())

    assert made.git("show", f"{done.tip}:a") == "one\nTWO\nthree"
    assert done.dropped == ()


def test_a_conflict_is_told_by_its_paths_and_moves_nothing(made: Repo) -> None:
    made.commit({"fine": b"1"}, on="lane")
    tip = made.commit({"a": b"lane\n", "line\nbreak": b"lane\n"}, on="lane")
    base = made.commit({"a": b"main\n", "line\nbreak": b"main\n"}, on="main")

    done = replay.replay(made.door, tip, base)

    assert done == replay.Replayed(tip, ("a", "line\nbreak"))
    assert replay.merge_trees(made.door, base, tip).conflicts == ("a", "line\nbreak")


def test_a_lane_that_holds_merges_gets_one_more_and_keeps_its_commits(made: Repo) -> None:
    made.commit({"one": b"1"}, "one", on="lane")
    made.commit({"two": b"2"}, "two", on="main")
    made.git("checkout", "-q", "lane")
    made.git("merge", "-q", "--no-edit", "main")
    tip = made.commit({"three": b"3"}, "three")
    base = made.commit({"four": b"4"}, "four", on="main")

    done = replay.replay(made.door, tip, base)

    assert made.git("log", "-1", "--format=%P", done.tip) == f"{tip} {base}"
    assert set(files(made, done.tip)) == {*FILES, "one", "two", "three", "four"}
    assert replay.replay(made.door, tip, base) == done


def test_the_base_holds_what_was_merged_squashed_or_picked(made: Repo) -> None:
    made.commit({"one": b"1\n"}, on="lane")
    tip = made.commit({"one": b"2\n"}, on="lane")
    before = made.commit({"two": b"2\n"}, on="main")
    made.git("merge", "-q", "--squash", "lane")
    squashed = made.commit({"three": b"3\n"})
    made.git("checkout", "-q", "-B", "other", before)
    made.git("merge", "-q", "--no-edit", "lane")

    held = [replay.holds(made.door, base, tip) for base in (before, squashed, made.head())]

    assert held == [False, True, True]


def test_a_conflict_is_not_held(made: Repo) -> None:
    tip = made.commit({"a": b"lane\n"}, on="lane")
    base = made.commit({"a": b"main\n"}, on="main")

    assert not replay.holds(made.door, base, tip)
    with pytest.raises(GitFailed, match="'a'"):
        replay.join(made.door, base, tip, "x")


@pytest.mark.parametrize("lane", [b"\0lane", None], ids=["changed", "deleted"])
def test_a_conflict_in_which_git_keeps_the_base_is_not_held(made: Repo, lane: bytes | None) -> None:
    tip = made.commit({"bytes": lane}, on="lane")
    base = made.commit({"bytes": b"\0main"}, on="main")

    merged = replay.merge_trees(made.door, base, tip)

    assert merged.conflicts == ("bytes",)
    assert merged.tree == made.head(f"{base}^{{tree}}")
    assert not replay.holds(made.door, base, tip)


def test_a_lane_that_began_anew_comes_on_top_as_well(made: Repo) -> None:
    made.git("checkout", "-q", "--orphan", "other")
    made.git("rm", "-q", "-r", "-f", ".")
    made.commit({"one": b"1"}, "root")
    tip = made.commit({"two": b"2"}, "second")
    base = made.head("main")

    done = replay.replay(made.door, tip, base)

    assert done.conflicts == ()
    assert subjects(made, f"{base}..{done.tip}") == ["root", "second"]
    assert set(files(made, done.tip)) == {*FILES, "one", "two"}
    assert not replay.holds(made.door, base, tip)


def test_a_signature_is_left_behind_and_a_message_without_end_is_not_given_one(made: Repo) -> None:
    made.commit({"one": b"1"}, on="lane")
    head, _, _ = raw(made, "lane").partition(b"\n\n")
    signed = head + b"\ngpgsig -----BEGIN\n abc\n tree of lies\n -----END\nodd header\n\nno end"
    argv = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
    tip = made.git(*argv, stdin=signed)
    base = made.commit({"two": b"2"}, on="main")

    done = replay.replay(made.door, tip, base)

    assert raw(made, done.tip).endswith(b"+0000\n\nno end")
    assert b"gpgsig" not in raw(made, done.tip)


def test_a_repository_with_longer_names_of_objects_is_served_too(tmp_path: Path) -> None:
    top = tmp_path / "long"
    top.mkdir()
    repo = Repo(top=top)
    repo.git("init", "-q", "-b", "main", "--object-format=sha256")
    repo.commit({"a": b"1"})
    repo.branch("lane")
    tip = repo.commit({"one": b"1"}, on="lane")
    base = repo.commit({"two": b"2"}, on="main")

    done = replay.replay(repo.door, tip, base)
    branch_advance.advance(repo.door, "main", base, done.tip)
    worktrees.add(repo.door, repo.lane, "lane2", base)

    assert repo.head("main") == done.tip
    assert repo.status() == []
    assert worktrees.remove(repo.door, repo.lane) is None


def test_joining_twice_gives_the_same_commit(made: Repo) -> None:
    tip = made.commit({"one": b"1"}, on="lane")
    base = made.commit({"two": b"2"}, on="main")

    joined = {replay.join(made.door, base, tip, "Merge \udcff lane") for _ in range(2)}

    assert len(joined) == 1
    commit = joined.pop()
    assert made.git("log", "-1", "--format=%P", commit) == f"{base} {tip}"
    assert raw(made, commit).endswith(b"\n\nMerge \xff lane\n")
    assert set(files(made, commit)) == {*FILES, "one", "two"}


def test_a_git_that_is_too_old_is_named(made: Repo, tmp_path: Path) -> None:
    program = tmp_path / "git"
    text = (
        "#!/bin/sh\n"
        'case "$1" in merge-tree) echo usage >&2; exit 129;;\n'
        "version) echo git version 2.34.1; exit 0;; esac\n"
        f'exec {os.path.join("/usr/bin", "git")} "$@"\n'
    )
    program.write_text(text, "utf-8")
    program.chmod(0o755)
    base = made.commit({"two": b"2"}, on="main")
    tip = made.commit({"one": b"1"}, on="lane")

    with pytest.raises(GitTooOld, match=r"2\.34"):
        replay.holds(Git(directory=made.top, program=str(program)), base, tip)

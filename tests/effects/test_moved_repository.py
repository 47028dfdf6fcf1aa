"""A repository that was moved goes on in its new place; a copy leaves the original alone."""

import dataclasses
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Cli
from effect_desk import until
from run_worlds import Night, night
from standfast import clock
from standfast import journal_id as rules
from standfast.journal import id_file
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.journal_id import Identity, Original
from standfast.protocols.resumption.files import compaction_files
from standfast.protocols.resumption.records import compactions, document_records

DONE = "run: done\nlanes:\n  z: Do it.\n"
TWO = "run: two\nlanes:\n  a: Do it.\n  b:\n    after: a\n    task: B.\n"


def folder(repo: Path) -> str:
    return str(repo / ".git" / "standfast")


def left(tmp_path: Path) -> Night:
    """One run is done; another was killed in its first agent, which came to its end since."""
    world = night(tmp_path)
    assert world.call("run", world.plan(DONE, "done.yaml")).returncode == 0
    world.ledger.unlink()
    go = world.leave(TWO)
    go.touch()
    until((worktree(world) / "two-a.txt").exists)
    until(lambda: not json.loads(world.call("ps", "--json").stdout or "[]") or _is_over(world))
    world.agent()
    return world


def _is_over(world: Night) -> bool:
    effects = world.repo / ".git" / "standfast" / "effects"
    return all((each / "exit.json").exists() for each in effects.iterdir())


def worktree(world: Night) -> Path:
    (found,) = (world.repo / ".worktrees" / "two").glob("*/a")
    return found


def state(top: Path) -> dict[str, bytes]:
    """Every file below a folder, and what it holds."""
    return {str(p): p.read_bytes() for p in top.rglob("*") if p.is_file() and not p.is_symlink()}


@pytest.mark.req("PLAT-03")
def test_moved_run_is_finished_in_its_new_place(tmp_path: Path) -> None:
    world = left(tmp_path)
    old = world.repo
    moved = dataclasses.replace(world, repo=tmp_path / "elsewhere" / "moved")
    moved.repo.parent.mkdir()
    old.rename(moved.repo)

    assert set(moved.lanes("done").values()) == {"done"}
    asked = moved.call("resume")  # a place that this user has begun nothing in
    mark = asked.stderr.partition("its fingerprint is ")[2].split()[0]
    done = moved.call("resume", "--trust", mark)

    assert done.returncode == 0, done.stdout + done.stderr
    assert world.paid() == {"a/task": 1, "b/task": 1}
    assert not old.exists()
    assert set(moved.lanes("two").values()) == {"done"}
    assert set(moved.lanes("done").values()) == {"done"}
    assert (moved.repo / "two-a.txt").exists()
    assert moved.git("worktree", "list").count("\n") == 0
    assert moved.call("journal", "verify").returncode == 0


@pytest.mark.req("PLAT-03")
def test_work_that_ends_after_the_move_is_seen_to_its_end(tmp_path: Path) -> None:
    world = night(tmp_path)
    go = world.leave(TWO)
    moved = dataclasses.replace(world, repo=world.repo.rename(tmp_path / "moved"))
    go.touch()
    until(lambda: '"running"' not in moved.call("ps", "--json").stdout)
    world.agent()

    asked = moved.call("resume")
    mark = asked.stderr.partition("its fingerprint is ")[2].split()[0]
    done = moved.call("resume", "--trust", mark)

    assert done.returncode == 0, done.stdout + done.stderr
    assert world.paid() == {"a/task": 1, "b/task": 1}
    assert not world.repo.exists()


@pytest.mark.req("PLAT-03")
def test_copy_leaves_the_original_alone(tmp_path: Path) -> None:
    world = left(tmp_path)
    copied = dataclasses.replace(world, repo=tmp_path / "copy")
    subprocess.run(["cp", "-a", str(world.repo), str(copied.repo)], check=True)
    before = state(world.repo)

    told = copied.call("resume")
    assert str(world.repo) in told.stdout
    shown = json.loads(copied.call("status", "--json").stdout)
    assert [(run["state"], run["original"]) for run in shown["runs"]] == [
        ("elsewhere", str(world.repo))
    ]
    for command in (
        ["status"], ["resume", "two"], ["rollback", "two"], ["stop", "two"], ["reap"],
        ["run", "--resume", "--run-id", "two"], ["journal", "verify"], ["note", "mine"],
    ):  # fmt: skip
        said = copied.call(*command)
        assert "Traceback" not in said.stderr, said.stderr
    assert copied.call("resume", "two").returncode == 109
    refused = copied.call("stop", "two")
    assert (refused.returncode, "goes on with it" in refused.stdout) == (109, False)
    assert set(copied.lanes("done").values()) == {"done"}
    assert world.paid() == {"a/task": 1}

    after = state(world.repo)
    assert {name for name in before if before[name] != after.get(name)} == set()
    assert set(after) == set(before)
    mine, theirs = id_file.read(folder(copied.repo)), id_file.read(folder(world.repo))
    assert mine is not None
    assert theirs is not None
    assert mine.name != theirs.name

    assert world.call("resume").returncode == 0
    assert world.paid() == {"a/task": 1, "b/task": 1}


@pytest.mark.req("PLAT-03")
def test_copy_has_runs_of_its_own(tmp_path: Path) -> None:
    world = left(tmp_path)
    copied = dataclasses.replace(world, repo=tmp_path / "copy")
    subprocess.run(["cp", "-a", str(world.repo), str(copied.repo)], check=True)
    before = state(world.repo)

    done = copied.call("run", copied.plan("run: own\nlanes:\n  mine: Do it.\n", "own.yaml"))

    assert done.returncode == 0, done.stdout + done.stderr
    assert (copied.repo / "own-mine.txt").exists()
    assert state(world.repo) == before


def planned(cli: Cli, repo: Path) -> None:
    """The repository has a document, and a role whose states are kept inside it."""
    (repo / "ORCHESTRATION.yaml").write_text("workflow: {id: w}\n", encoding="utf-8")
    first = ("--phase", "1", "--phase-name", "p1", "--next-step", "go")
    cli("resumption", "trigger", "T1", *first, cwd=repo)
    cli("context", "lifecycle.init", "lead", cwd=repo, env={"CONFIG_PATH": str(repo / "st")})


@pytest.mark.req("PLAT-03")
def test_place_of_before_is_not_told_by_who_reads(cli: Cli, repo: Path, tmp_path: Path) -> None:
    planned(cli, repo)
    moved = repo.rename(tmp_path / "moved")

    for words in (["status"], ["status", "--json"], ["brief"], ["brief", "--json"],
                  ["resumption", "show"], ["context", "lifecycle.status"]):  # fmt: skip
        said = cli(*words, cwd=moved)
        assert said.returncode == 0, said.stderr
        assert f"{repo}/" not in said.stdout
        assert f'"{repo}"' not in said.stdout
        assert "the copy here is not read" not in said.stdout
    assert "PLAN  ORCHESTRATION.yaml" in cli("status", cwd=moved).stdout


@pytest.mark.req("PLAT-03")
def test_place_of_before_is_not_made_again_for_states(cli: Cli, repo: Path, tmp_path: Path) -> None:
    planned(cli, repo)
    moved = repo.rename(tmp_path / "moved")

    for role in ("lead", "second"):
        cli("context", "lifecycle.init", role, cwd=moved)
    cli("context", "lifecycle.pre.compact", "lead", cwd=moved)
    cli("note", "one more", cwd=moved)

    assert not repo.exists()
    names = sorted(each.name for each in (moved / "st" / "stateMachines").iterdir())
    assert names == ["lead.states.env", "second.states.env"]
    assert "(another" not in cli("context", "lifecycle.status", cwd=moved).stdout


@pytest.mark.req("PLAT-03")
def test_copy_leaves_the_states_of_the_original_alone(cli: Cli, repo: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    file = shared / "stateMachines" / "lead.states.env"
    cli("context", "lifecycle.init", "lead", cwd=repo, env={"CONFIG_PATH": str(shared)})
    before = file.read_bytes()
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(repo), str(copy)], check=True)

    read = cli("context", "lifecycle.status", cwd=copy)
    assert "(another repository's" in read.stdout
    moved = cli("context", "lifecycle.recover", "lead", cwd=copy)
    noted = cli("note", "mine", cwd=copy)
    again = cli("status", cwd=copy)

    assert file.read_bytes() == before
    for said in (read, moved, noted, again):
        assert "was here before" not in said.stderr  # it is its first command here
    assert "(another" not in cli("context", "lifecycle.status", cwd=repo).stdout


@pytest.mark.req("PLAT-03")
def test_compaction_of_before_is_found_from_where_it_is_now(
    cli: Cli, repo: Path, tmp_path: Path
) -> None:
    planned(cli, repo)
    journal = Journal(folder(repo))
    with journal.writing() as tx:
        compactions.checkpoint(tx, journal.folder, str(repo), "auto", 0.9, clock.now_us(), USER)
    journal.close()
    moved = repo.rename(tmp_path / "moved")

    cli("note", "whoever writes", cwd=moved)
    journal = Journal(folder(moved))
    compaction_files.keep(journal)
    with journal.writing() as tx:
        compactions.merge(tx, USER)
        (document,) = document_records.documents(tx.execute)
    journal.close()

    (event,) = document.section["compaction_events"]["events"]
    assert (moved / event["checkpoint_file"]).is_file()
    assert ".." not in event["checkpoint_file"]


@pytest.mark.req("PLAT-03")
def test_worktree_that_stayed_is_told_of_and_brought_together(tmp_path: Path) -> None:
    world = night(tmp_path)
    linked = dataclasses.replace(world, repo=tmp_path / "linked")
    world.git("worktree", "add", "-q", str(linked.repo), "-b", "other")
    world.call("note", "before")
    moved = dataclasses.replace(world, repo=world.repo.rename(tmp_path / "moved"))

    said = linked.call("status")
    assert f"`.git` leads to {world.repo}/.git/worktrees/linked, which is not there" in said.stderr
    done = moved.call("run", moved.plan(DONE, "done.yaml"))

    assert done.returncode == 0, done.stderr
    assert linked.git("branch", "--show-current") == "other"
    assert "before" in linked.call("status").stdout
    assert "leads to" not in linked.call("status").stderr


@pytest.mark.req("PLAT-03")
def test_worktree_of_an_original_is_not_taken_by_a_copy(tmp_path: Path) -> None:
    world = night(tmp_path)
    world.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    world.call("note", "before")
    copied = dataclasses.replace(world, repo=tmp_path / "copy")
    subprocess.run(["cp", "-a", str(world.repo), str(copied.repo)], check=True)
    copied.call("note", "it is a copy from here on")
    link = (tmp_path / "linked" / ".git").read_bytes()
    world.repo.rename(tmp_path / "moved")

    assert copied.call("run", copied.plan(DONE, "done.yaml")).returncode == 0
    assert (tmp_path / "linked" / ".git").read_bytes() == link


def test_journal_from_another_machine_is_read_where_it_is(
    cli: Cli, repo: Path, tmp_path: Path
) -> None:
    cli("note", "delivered", cwd=repo)
    shutil.move(repo, tmp_path / "there")

    said = cli("status", cwd=tmp_path / "there", env={"XDG_STATE_HOME": str(tmp_path / "other")})
    assert "delivered" in said.stdout
    assert said.returncode == 0
    assert not repo.exists()


def test_repository_by_another_name_is_no_copy(cli: Cli, repo: Path, tmp_path: Path) -> None:
    cli("note", "first", cwd=repo)
    os.symlink(repo, tmp_path / "link")
    before = id_file.read(folder(repo))
    cli("note", "second", cwd=tmp_path / "link")

    after = id_file.read(folder(repo))
    assert before is not None
    assert after is not None
    assert (after.name, after.original) == (before.name, None)


def test_id_file_says_the_same_when_it_is_read_again() -> None:
    original = Original("b" * 20, "/a\nb/%41/.git", 17)
    written = rules.write(
        Identity("a" * 20, "/new\n/.git", was=["/o%0Ald/.git"], lost=["c" * 20], original=original)
    )
    again = rules.write(rules.read(written))

    assert again == written
    assert rules.read(b"\xff\xfe\0garbage").name == rules.UNKNOWN
    assert rules.read(b"").name == rules.UNKNOWN


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/old/.worktrees/x", "/old/new/.worktrees/x"),
        ("/old", "/old/new"),
        ("/older/x", "/older/x"),
        ("/old/new/x", "/old/new/x"),
        ("/elsewhere", "/elsewhere"),
    ],
)
def test_path_below_a_former_home_is_below_this_one(path: str, expected: str) -> None:
    assert rules.here(path, ["/old/.git"], "/old/new/.git") == expected


@pytest.mark.parametrize(
    ("path", "was", "now", "wanted"),
    [
        ("/p/x/x/.worktrees/l", "/p/x/x/.git", "/p/x/.git", "/p/x/.worktrees/l"),
        ("/p/x/.worktrees/l", "/p/x/x/.git", "/p/x/.git", "/p/x/.worktrees/l"),
        ("/p/x/sub/l", "/p/x/.git", "/p/x/sub/.git", "/p/x/sub/l"),
        ("/a/l", "/.git", "/new/.git", "/new/a/l"),
        ("/old/a", "/old/.git", "/.git", "/a"),
        ("/older/a", "/old/.git", "/new/.git", "/older/a"),
    ],
)
def test_path_below_a_former_home_is_found_below_this_one(
    path: str, was: str, now: str, wanted: str
) -> None:
    assert rules.here(path, [was], now) == wanted

"""`standfast lane` from outside: resume, rollback, and everything that is refused."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hostile_repos
from conftest import Cli
from hostile_repos import TRAPS, Trap
from lane_worlds import BRANCH, LANE, NAMES, Scene, build, statuses, write
from standfast.app import faces
from standfast.journal.store import Journal
from standfast.protocols.checkpoints.records import checkpoint_records as recorded


@pytest.fixture
def scene(world: Path, tmp_path: Path) -> Scene:
    return build(tmp_path)


def worked_on(scene: Scene) -> str:
    """One commit, one edit, one new file; the tests failed."""
    head = scene.commit("two", "two\n")
    (scene.tree / "a").write_bytes(b"edited\n")
    (scene.tree / "new").write_bytes(b"untracked\n")
    write(scene, "after_lane_tests", "failed")
    return head


# Resume.


@pytest.mark.req("CKP-04", "CKP-06")
def test_resume_tells_where_it_is_and_changes_nothing(scene: Scene, cli: Cli) -> None:
    worked_on(scene)
    cli("lane", "resume", *LANE, cwd=scene.repo)
    files, refs = scene.files(), scene.git("for-each-ref")

    done = [cli("lane", "resume", *LANE, cwd=where) for where in (scene.repo, scene.tree)]

    assert [each.returncode for each in done] == [0, 0]
    assert done[0].stdout == done[1].stdout
    assert (scene.files(), scene.git("for-each-ref")) == (files, refs)
    said = done[0].stdout
    assert "Current stage: after_lane_tests (failed) of lane SL-1" in said
    assert f"Checkpoint: {scene.repo / faces.CHECKPOINTS_FILE}" in said
    assert "Next: The tests failed" in said
    assert "--to before_lane_start" in said
    assert (
        "Resume starts from: after_lane_tests; done before it: before_lane_start, after_lane_start"
        in said
    )
    assert "files: 1 changed, 1 untracked" in said


@pytest.mark.req("CKP-04")
def test_resume_says_what_is_gone(scene: Scene, cli: Cli) -> None:
    head = worked_on(scene)
    write(scene, "after_lane_tests", "failed", head_sha=head)
    shutil.rmtree(scene.tree)
    scene.git("worktree", "prune", cwd=scene.repo)
    scene.git("tag", "keep", head, cwd=scene.repo)
    scene.git("branch", "-q", "-D", BRANCH, cwd=scene.repo)
    scene.git("branch", "-q", "-m", "main", "trunk", cwd=scene.repo)

    said = cli("lane", "resume", *LANE, cwd=scene.repo).stdout

    assert f"The worktree is gone: {scene.tree}" in said
    assert f"The branch is gone: {BRANCH}" in said
    assert f"`git branch {BRANCH} {head}`" in said
    assert "The base branch is gone: main" in said


@pytest.mark.req("CKP-14")
@pytest.mark.parametrize("verb", ["resume", "rollback"])
def test_unknown_lane_is_an_error_that_lists_the_known_ones(
    scene: Scene, cli: Cli, verb: str
) -> None:
    words = ("lane", verb, "--run-id", "r1", "--phase", "P9", "--lane", "SL-1")

    done = cli(*words, cwd=scene.repo)

    assert done.returncode == 87
    assert "no checkpoint of r1/P9/SL-1; known are r1/P1/SL-1" in done.stderr


def test_resume_as_json(scene: Scene, cli: Cli) -> None:
    worked_on(scene)

    said = json.loads(cli("lane", "resume", *LANE, "--json", cwd=scene.repo).stdout)

    assert said["checkpoint"]["stage"] == said["from"] == "after_lane_tests"
    assert said["done"] == ["before_lane_start", "after_lane_start"]
    assert said["world"]["worktree"]["changed"] == 1
    assert said["prompt"].startswith("Current stage: ")


# Rollback.


@pytest.mark.req("CKP-05", "CKP-06", "CKP-12", "CKP-14")
def test_rollback_keeps_everything_goes_back_and_says_where(scene: Scene, cli: Cli) -> None:
    head = worked_on(scene)

    done = cli("lane", *LANE, "--rollback", cwd=scene.repo)
    resumed = cli("lane", *LANE, "--resume", cwd=scene.repo)

    ref = "refs/standfast/backup/r1/P1/SL-1/1"
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Rolled back to after_lane_start, {scene.base[:12]}." in done.stdout
    assert f"Kept: {ref}" in done.stdout
    assert "  Roll back: standfast -C " in done.stdout
    assert "Current stage: after_lane_tests (rolled_back)" in done.stdout
    assert scene.git("show", f"{ref}:a") == b"edited\n"
    assert scene.git("show", f"{ref}:new") == b"untracked\n"
    assert scene.git("rev-parse", f"{ref}^").decode().strip() == head
    assert scene.head() == scene.base
    assert not (scene.tree / "new").exists()
    shown = json.loads((scene.repo / faces.CHECKPOINTS_FILE).read_bytes())
    assert [each["status"] for each in shown] == ["ready", "in_progress", "rolled_back"]
    assert ref in shown[-1]["notes"]
    assert "Resume starts from: after_lane_start; done before it: before_lane_start\n" in (
        resumed.stdout
    )


@pytest.mark.req("CKP-05")
def test_nothing_is_called_kept_where_nothing_was(scene: Scene, cli: Cli) -> None:
    write(scene, "after_lane_tests", "failed")

    first = cli("lane", "rollback", *LANE, cwd=scene.repo)
    again = cli("lane", "rollback", *LANE, "--to", "before_lane_start", "--json", cwd=scene.repo)

    assert (first.returncode, first.stderr) == (0, "")
    assert "Rolled back to after_lane_start" in first.stdout
    assert "Kept" not in first.stdout
    said = json.loads(again.stdout)
    assert (said["moved"], said["backup"], said["backups"]) == (True, None, [])
    assert scene.backups() == []
    shown = json.loads((scene.repo / faces.CHECKPOINTS_FILE).read_bytes())
    assert "refs/" not in shown[-1]["notes"]


@pytest.mark.req("CKP-05")
def test_second_rollback_keeps_nothing_twice(scene: Scene, cli: Cli) -> None:
    worked_on(scene)
    cli("lane", "rollback", *LANE, cwd=scene.repo)

    again = cli("lane", "rollback", *LANE, "--to", "before_lane_start", cwd=scene.repo)

    assert "Rolled back to before_lane_start" in again.stdout
    assert "Kept" not in again.stdout
    assert len(scene.backups()) == 1


def test_file_of_checkpoints_is_called_kept_where_it_was_written(scene: Scene, cli: Cli) -> None:
    file = scene.repo / faces.CHECKPOINTS_FILE
    cli("checkpoint", "keep", cwd=scene.repo)
    file.unlink()
    said = [cli("checkpoint", "keep", cwd=scene.repo).stdout for _ in range(3)]

    in_place = f"In place: {faces.CHECKPOINTS_FILE}\n"
    assert said == [f"Kept {faces.CHECKPOINTS_FILE}\n", in_place, in_place]


@pytest.mark.req("CKP-05")
def test_rollback_as_json_and_to_a_stage(scene: Scene, cli: Cli) -> None:
    worked_on(scene)

    done = cli("lane", "rollback", *LANE, "--to", "before_lane_start", "--json", cwd=scene.repo)

    said = json.loads(done.stdout)
    assert (said["to_stage"], said["target"], said["moved"]) == (
        "before_lane_start", scene.base, True,
    )  # fmt: skip
    assert said["marked"] == ["after_lane_start", "after_lane_tests"]
    assert said["backups"] == [said["backup"]] == scene.backups()


@pytest.mark.req("CKP-07", "CKP-15")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_hints_of_the_file_do_it_when_pasted(world: Path, tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    scene = build(tmp_path / "it's a $folder")
    worked_on(scene)
    standfast = tmp_path / "standfast"
    standfast.write_text(f'#!/bin/sh\nexec {sys.executable} -m standfast "$@"\n', encoding="utf-8")
    standfast.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    def paste(command: str) -> str:
        return subprocess.run(
            [program, "-c", command], env=environ, cwd=tmp_path, check=True, capture_output=True,
            encoding="utf-8",
        ).stdout  # fmt: skip

    where = f"--run-id {NAMES[0]} --phase {NAMES[1]} --lane {NAMES[2]}"
    subprocess.run(
        [str(standfast), "-C", str(scene.repo), "checkpoint", "write", *where.split(),
         "--stage", "after_lane_tests", "--status", "failed"],
        check=True, env=environ, capture_output=True,
    )  # fmt: skip
    record = json.loads((scene.repo / faces.CHECKPOINTS_FILE).read_bytes())[-1]
    assert "Current stage: after_lane_tests (failed)" in paste(record["resume_hint"])
    assert "Rolled back to after_lane_start" in paste(record["rollback_hint"])
    assert scene.head() == scene.base


# What is refused; nothing is changed.


def refused(scene: Scene, cli: Cli, status: int, *more: str) -> str:
    """What the error says; every file, ref and record is as it was."""
    before = (scene.files(), scene.git("for-each-ref", cwd=scene.repo), statuses(scene))
    done = cli("lane", "rollback", *LANE, *more, cwd=scene.repo)
    after = (scene.files(), scene.git("for-each-ref", cwd=scene.repo), statuses(scene))
    assert done.returncode == status, done.stderr
    assert after == before
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.req("CKP-05")
def test_merged_lane_is_refused_with_the_reason(scene: Scene, cli: Cli) -> None:
    scene.commit("two", "two\n")
    write(scene, "pre_pr", "ready")
    scene.git("merge", "-q", "--ff-only", BRANCH, cwd=scene.repo)

    assert "the lane is merged: main has all of it" in refused(scene, cli, 93)


@pytest.mark.req("CKP-05")
def test_worktree_of_another_repository_is_refused(scene: Scene, cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(scene.repo), str(other)], check=True)
    pretender = tmp_path / "pretender"
    pretender.mkdir()
    (pretender / ".git").write_text(f"gitdir: {scene.repo}/.git\n", encoding="utf-8")
    plain = tmp_path / "plain"
    plain.mkdir()
    for path in (other, pretender, plain):
        write(scene, "after_lane_tests", "failed", worktree_path=str(path))
        assert "no worktree of this repository" in refused(scene, cli, 93)


@pytest.mark.req("CKP-05")
def test_rebase_in_progress_is_refused_and_how_to_look_is_said(scene: Scene, cli: Cli) -> None:
    scene.commit("a", "ours\n")
    (scene.repo / "a").write_bytes(b"theirs\n")
    scene.git("commit", "-q", "-a", "-m", "theirs", cwd=scene.repo)
    subprocess.run(["git", "merge", "-q", "main"], cwd=scene.tree, capture_output=True, check=False)
    said = refused(scene, cli, 93)
    assert "a merge is unfinished" in said
    assert "git status" in said

    scene.git("merge", "--abort")
    subprocess.run(
        ["git", "rebase", "-q", "main"], cwd=scene.tree, capture_output=True, check=False
    )
    refused(scene, cli, 93)


@pytest.mark.req("CKP-05")
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="who works where is read from /proc")
def test_process_at_work_in_the_worktree_is_named(scene: Scene, cli: Cli) -> None:
    worked_on(scene)
    (scene.tree / "deep").mkdir()
    with subprocess.Popen(["cat"], cwd=scene.tree / "deep", stdin=subprocess.PIPE) as at_work:
        said = refused(scene, cli, 94)
        assert at_work.stdin is not None
        at_work.stdin.close()

    assert f"process {at_work.pid} works in {scene.tree}" in said


@pytest.mark.req("CKP-05")
def test_caller_may_stand_in_the_worktree(scene: Scene, cli: Cli) -> None:
    worked_on(scene)

    assert cli("lane", "rollback", *LANE, cwd=scene.tree).returncode == 0


@pytest.mark.req("CKP-05")
def test_lane_without_a_commit_to_go_to_is_refused(scene: Scene, cli: Cli) -> None:
    for stage, status in (("before_lane_start", "ready"), ("after_lane_start", "in_progress")):
        write(scene, stage, status, base_sha="e" * 40, head_sha="f" * 40)

    assert "not in this repository" in refused(scene, cli, 95)


@pytest.mark.req("CKP-05")
def test_main_checkout_and_base_branch_are_never_reset(scene: Scene, cli: Cli) -> None:
    (scene.repo / "a").write_bytes(b"somebody's\n")
    where = str(scene.repo)

    write(scene, "after_lane_tests", "failed", worktree_path=where, branch="main")
    assert "base branch itself" in refused(scene, cli, 93)
    write(scene, "after_lane_tests", "failed", worktree_path=where)
    assert "is the main checkout" in refused(scene, cli, 93)
    scene.git("checkout", "-q", "--detach")
    scene.git("checkout", "-q", BRANCH, cwd=scene.repo)
    write(scene, "after_lane_tests", "failed", base_branch="trunk")
    assert "is checked out elsewhere" in refused(scene, cli, 93)
    assert (scene.repo / "a").read_bytes() == b"somebody's\n"


def test_main_checkout_that_no_checkpoint_names_a_branch_of_is_never_reset(
    repo: Path, cli: Cli
) -> None:
    """The default of `checkpoint write` is the checkout where it was called."""
    subprocess.run(["git", "checkout", "-q", "-b", "work"], cwd=repo, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, encoding="utf-8"
    ).stdout.strip()
    cli("checkpoint", "write", *LANE, "--stage", "before_lane_start", "--status", "ready",
        "--base-branch", "main", "--base-sha", head, cwd=repo)  # fmt: skip
    (repo / "README.md").write_text("somebody's\n", encoding="utf-8")

    done = cli("lane", "rollback", *LANE, cwd=repo)

    assert done.returncode == 93
    assert "is the main checkout" in done.stderr
    assert (repo / "README.md").read_text("utf-8") == "somebody's\n"


def test_repository_inside_that_is_in_the_way_is_refused(scene: Scene, cli: Cli) -> None:
    scene.git("rm", "-q", "b")
    scene.git("commit", "-q", "-m", "without b")
    subprocess.run(["git", "init", "-q", str(scene.tree / "b")], check=True)
    write(scene, "after_lane_tests", "failed")

    assert "a repository of its own stands in the way" in refused(scene, cli, 93)


def test_folder_without_a_repository_has_no_lanes(tmp_path: Path, cli: Cli) -> None:
    assert cli("lane", "resume", *LANE, cwd=tmp_path).returncode == 41


# Nothing that a repository names is run.

KINDS = ("hook", "filter", "textconv", "fsmonitor", "submodule", "include", "worktree")
# Every other one: test_git.py tries all of them with other verbs, through the same door.
PLANTED = [
    trap
    for trap in TRAPS
    if any(kind in trap.name for kind in KINDS) and not trap.refused and "=" not in trap.name
][::2]


@pytest.mark.sweep(5)
@pytest.mark.req("SEC-03")
@pytest.mark.parametrize("trap", PLANTED, ids=lambda trap: trap.name)
def test_rollback_runs_nothing_that_the_repository_names(
    world: Path, tmp_path: Path, cli: Cli, trap: Trap
) -> None:
    planted = hostile_repos.build_scene(tmp_path)
    tree = tmp_path / "lane"
    planted.git("worktree", "add", "-q", "-b", BRANCH, str(tree))
    base = planted.git("rev-parse", "HEAD~1").decode().strip()
    journal = Journal(str(planted.repo / ".git" / "standfast"))
    record = {"run_id": "r1", "phase": "P1", "lane": "SL-1", "stage": "before_lane_start",
              "status": "ready", "base_branch": "main", "branch": BRANCH, "base_sha": base,
              "worktree_path": str(tree)}  # fmt: skip
    with journal.writing() as tx:
        recorded.upsert(tx, dict(record))
    journal.close()
    planted.git("commit", "-q", "--allow-empty", "-m", "of the lane", cwd=tree)
    trap.plant(planted)
    (tree / "data.txt").write_text("a LINE\n", encoding="utf-8")
    (tree / "new.txt").write_text("new\n", encoding="utf-8")
    planted.canary.unlink(missing_ok=True)

    done = [cli("lane", verb, *LANE, cwd=planted.repo) for verb in ("resume", "rollback")]

    assert len(PLANTED) >= 19
    assert not planted.canary.exists()
    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    kept = "refs/standfast/backup/r1/P1/SL-1/1:data.txt"
    assert planted.git("cat-file", "blob", kept) == b"a LINE\n"

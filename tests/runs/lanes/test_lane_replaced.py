"""Files, links and folders that an agent puts in each other's places."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lane_runs import LANE, Lane, build
from standfast.git.command import Git


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    made = build(tmp_path)
    (made.repo / "folder").mkdir()
    for name in ("folder/x", "folder/y", "kept"):
        (made.repo / name).write_text("x\n", encoding="utf-8")
    (made.repo / "link").symlink_to("folder")
    made.git("add", ".")
    made.git("commit", "-qm", "more")
    return made


@pytest.mark.sweep(4)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize(
    ("agent", "there"),
    [
        ("rm a.txt; mkdir a.txt; echo x > a.txt/in",
         ".gitignore a.txt/in folder/x folder/y kept link"),
        ("rm a.txt; mkdir a.txt; echo x > new", ".gitignore folder/x folder/y kept link new"),
        ("rm a.txt; mkdir a.txt; echo x > a.txt/x.log", ".gitignore folder/x folder/y kept link"),
        ("rm link; mkdir link; echo x > link/in",
         ".gitignore a.txt folder/x folder/y kept link/in"),
        ("rm -r folder; echo x > folder", ".gitignore a.txt folder kept link"),
        ("rm -r folder; ln -s kept folder", ".gitignore a.txt folder kept link"),
        ("rm kept; mkdir kept; mv folder kept; echo x > folder",
         ".gitignore a.txt folder kept/folder/x kept/folder/y link"),
        ("git rm -q --cached a.txt; rm a.txt; mkdir a.txt; echo x > a.txt/in; git add a.txt",
         ".gitignore a.txt/in folder/x folder/y kept link"),
    ],
)  # fmt: skip
def test_file_that_became_a_folder_or_the_other_way_is_committed_and_landed(
    lane: Lane, agent: str, there: str
) -> None:
    done = lane.run(agent, "--test", "true")

    assert done.returncode == 0, done.stderr
    assert lane.git("ls-tree", "-r", "--name-only", "main").split() == there.split()
    assert lane.git("status", "--porcelain") == ""


def test_what_is_staged_beside_such_a_path_stays_staged(lane: Lane) -> None:
    (lane.repo / "kept").write_text("other\n", encoding="utf-8")
    lane.git("add", "kept")
    (lane.repo / "a.txt").unlink()
    (lane.repo / "a.txt").mkdir()

    Git(directory=lane.repo).commit_durably(["a.txt"], "a file is a folder")

    assert lane.git("status", "--porcelain") == "M  kept"
    assert "a.txt" not in lane.git("ls-tree", "--name-only", "HEAD").split()


@pytest.mark.req("CKP-11")
@pytest.mark.parametrize("agent", ["rm a.txt; mkdir a.txt; echo x > a.txt/in", "echo x > a.txt"])
def test_lane_that_died_between_a_commit_and_its_index_goes_on(
    lane: Lane, tmp_path: Path, agent: str
) -> None:
    """Git moves the branch first: until the index follows, it says the opposite of the commit."""
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    plain = shutil.which("git")
    fake.write_text(
        f'#!/bin/sh\n{plain} "$@"; s=$?\n'
        f'case " $* " in *" commit "*) test -e {tmp_path}/died || {{\n'
        f" touch {tmp_path}/died; unset GIT_INDEX_FILE; {plain} -C {lane.tree} read-tree HEAD~\n"
        " kill -9 $PPID; };;\nesac\nexit $s\n",
        encoding="utf-8",
    )
    fake.chmod(0o755)
    argv = lane.argv("run", *LANE, "--task", lane.task("one"), "--runner", agent)
    env = {**os.environ, "PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(argv, cwd=lane.repo, env=env, capture_output=True, check=False)
    assert (tmp_path / "died").exists()
    assert lane.git("diff", "--cached", "--name-only", cwd=lane.tree)

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert lane.git("rev-list", "--count", "main") == "3", "the work is committed once"
    assert lane.git("ls-tree", "-r", "--name-only", "main", "a.txt").startswith("a.txt")
    assert lane.git("status", "--porcelain") == ""

"""At its start a lane is told what its worktree lacks, and how to go on."""

import subprocess
from pathlib import Path

import pytest

from lane_runs import WRITES, Lane, build
from run_worlds import night

pytestmark = pytest.mark.req("RUN-09")


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


def with_submodule(lane: Lane, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    (inner / "f").write_text("f\n", encoding="utf-8")
    lane.git("add", ".", cwd=inner)
    lane.git("commit", "-qm", "inner", cwd=inner)
    allowed = ("-c", "protocol.file.allow=always")
    lane.git(*allowed, "submodule", "--quiet", "add", str(inner), "sub")
    lane.git("commit", "-qm", "submodule")


def with_filter(lane: Lane) -> None:
    lane.git("config", "filter.big.clean", "tr a-z A-Z")
    lane.git("config", "filter.big.smudge", "tr A-Z a-z")
    (lane.repo / ".gitattributes").write_text("*.bin filter=big\n", encoding="utf-8")
    for name in ("x.bin", "y.bin"):
        (lane.repo / name).write_text("words\n", encoding="utf-8")
    lane.git("add", ".")
    lane.git("commit", "-qm", "filtered")


def lacks(said: str) -> list[str]:
    return [line for line in said.splitlines() if "worktree_lacks" in line]


def test_submodule_and_filter_are_told_in_one_line(lane: Lane, tmp_path: Path) -> None:
    with_submodule(lane, tmp_path)
    with_filter(lane)

    done = lane.run(WRITES, "--merge", "none")

    assert done.returncode == 0, done.stderr
    (line,) = lacks(done.stderr)
    for words in ("submodule `sub` is empty", "file `x.bin` (and 1 more) was not filtered",
                  "`setup:`", "`copy:`"):  # fmt: skip
        assert words in line
    assert [each["notes"] in line for each in lane.log() if each["event"] == "worktree_lacks"] == [
        True
    ]


def test_one_of_them_is_told_alone(lane: Lane) -> None:
    with_filter(lane)

    (line,) = lacks(lane.run(WRITES, "--merge", "none").stderr)

    assert "submodule `" not in line


def test_repository_that_has_neither_is_told_nothing(lane: Lane) -> None:
    (lane.repo / ".gitattributes").write_text("*.txt text=auto\n", encoding="utf-8")
    lane.git("add", ".")
    lane.git("commit", "-qm", "attributes")

    assert lacks(lane.run(WRITES, "--merge", "none").stderr) == []


def test_run_of_a_plan_tells_it_too(tmp_path: Path) -> None:
    world = night(tmp_path)
    with_filter(Lane(repo=world.repo, home=world.top))

    done = world.call("run", world.plan("merge: none\nlanes: {a: x}\n"))

    assert done.returncode == 0, done.stderr
    assert len(lacks(done.stdout + done.stderr)) == 1

"""Nothing that a repository says is run when a lane's worktree, commits and base are worked on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import hostile_lanes
import hostile_repos
from hostile_lanes import LANE_TRAPS
from hostile_repos import TRAPS, Scene, Trap
from standfast.errors.base import StandfastError
from standfast.git import branch_advance, replay, torn_files, worktrees
from standfast.git.command import Git

BRANCH = "lane/P1/SL-1"
KINDS = (
    "hook",
    "filter evil",
    "driver",
    "textconv",
    "diff",
    "core.",
    "clude",
    "submodule",
    "while",
)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return hostile_lanes.build_scene(tmp_path)


def lane_calls(git: Git, scene: Scene) -> dict[str, Callable[[], object]]:
    def at(name: str) -> str:
        return scene.git("rev-parse", name).decode().strip()

    lane = scene.repo / ".worktrees" / "r1"
    main, easy, other, later = map(at, ("main", "easy", "other", "later"))

    def mend() -> object:
        for name in ("data.txt", "both.txt"):
            os.truncate(lane / name, 0)
        tree = Git(directory=lane)
        return torn_files.put_back(tree, torn_files.torn(tree).tracked)

    return {
        "add": lambda: worktrees.add(git, lane, BRANCH, main),
        "mend": mend,
        "merge_trees": lambda: replay.merge_trees(git, main, other),
        "replay": lambda: replay.replay(git, easy, main),
        "conflict": lambda: replay.replay(git, other, main),
        "holds": lambda: replay.holds(git, main, easy),
        "join": lambda: replay.join(git, later, easy, "x"),
        "refused": lambda: branch_advance.advance(git, "main", main, later),
        "cleaned": lambda: git.write("restore", "--worktree", "--", "data.txt"),
        "advance": lambda: branch_advance.advance(git, "main", main, later),
        "advance alone": lambda: branch_advance.advance(
            git, "easy", easy, replay.replay(git, later, easy).tip
        ),
        "remove": lambda: worktrees.remove(git, lane),
    }


@pytest.mark.sweep(6)
@pytest.mark.parametrize("trap", LANE_TRAPS, ids=lambda trap: trap.name)
@pytest.mark.req("SEC-01")
def test_the_trap_is_live_for_plain_git(scene: Scene, trap: Trap) -> None:
    trap.plant(scene)
    scene.canary.unlink(missing_ok=True)
    scene.write("data.txt", "a LINE\n")

    hostile_repos.set_off(scene, trap)

    assert scene.canary.exists() or trap.harmless


def shared_traps() -> list[Trap]:
    """Some of every kind: test_git.py tries all of them with other verbs."""
    return [trap for trap in TRAPS if any(kind in trap.name for kind in KINDS)][::4]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("trap", [*LANE_TRAPS, *shared_traps()], ids=lambda trap: trap.name)
@pytest.mark.req("SEC-01", "SEC-03")
def test_nothing_that_a_lane_needs_sets_off_the_trap(scene: Scene, trap: Trap) -> None:
    trap.plant(scene)
    if scene.git("merge-base", "main", "later") != scene.git("rev-parse", "main"):
        tree = ("-p", "main", "-m", "x", "later^{tree}")
        after = scene.git("commit-tree", *tree).decode().strip()
        scene.git("branch", "-f", "later", after)
    calls = lane_calls(Git(directory=scene.repo / trap.folder), scene)
    scene.canary.unlink(missing_ok=True)
    scene.write("data.txt", "a LINE\n")  # as long as before, so that git must read it
    said = {}

    for name, call in calls.items():
        try:
            said[name] = repr(call())
        except StandfastError as error:
            said[name] = f"{type(error).__name__}: {error}"

    assert not scene.canary.exists(), said
    if trap.refused:
        assert "add" in said
    elif "while" not in trap.name and "submodule" not in trap.name:
        is_filtered = "goes through a filter" in said["advance"]
        assert said["add"] == "None", said
        assert said["advance"] == "[]" or is_filtered, said
        assert said["refused"].startswith("BaseRefused"), said


def test_there_are_enough_of_them() -> None:
    assert len(LANE_TRAPS) + len(shared_traps()) >= 35

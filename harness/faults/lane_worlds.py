"""The worlds of lanes: each is made where a session is at work already.

What stands here is the *base* of a trial, as in worlds.py.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.world import write
from standfast.app import faces
from standfast.effects.effect_folder import Folder, Order
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.world import World

RUN = "P1-SL-1-20260102"
LANE = "lane/P1/SL-1"
DOUBT = f"lane/{RUN}/P1/SL-1/agent/1"
STAGES = ("before_lane_start", "after_lane_start")
NOTE_BY_HAND = "a person wrote this into a checkpoint"


def _laned(world: World) -> None:
    """A lane under way, and a note that somebody put into its first checkpoint by hand."""
    for stage, status in zip(STAGES, ("ready", "in_progress"), strict=True):
        perform.command(
            world, "checkpoint", "write", "--run-id", RUN, "--phase", "P1", "--lane", "SL-1",
            "--stage", stage, "--status", status, "--notes", "by us",
        )  # fmt: skip
    path = os.path.join(world.repo, faces.CHECKPOINTS_FILE)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    write(path, text.replace("by us", NOTE_BY_HAND, 1))


def _lane_at_work(world: World) -> None:
    """A lane in a worktree, on a branch of its own, with work that nobody has committed."""
    tree = tree_of(world)
    write(os.path.join(world.repo, "kept"), "as it was\n")
    for words in (("add", "kept"), ("commit", "-q", "-m", "first"),
                  ("worktree", "add", "-q", "-b", LANE, tree)):  # fmt: skip
        _git(world, *words)
    head = _git(world, "rev-parse", "HEAD").strip()
    perform.command(
        world, "checkpoint", "write", "--run-id", RUN, "--phase", "P1", "--lane", "SL-1",
        "--stage", STAGES[0], "--status", "ready", "--base-branch", "main", "--branch", LANE,
        "--base-sha", head, "--worktree-path", tree,
    )  # fmt: skip
    write(os.path.join(tree, "kept"), "edited\n")
    write(os.path.join(tree, "new"), "untracked\n")


def tree_of(world: World) -> str:
    """Where a lane works."""
    return os.path.join(world.repo, ".worktrees", "SL-1")


def _lane_done(world: World) -> None:
    """A lane of ours, run to its end in a fresh repository: nothing is left to be done."""
    commit(world, "task.md")
    perform.command(
        world, "lane", "run", "--run-id", RUN, "--phase", "P1", "--lane", "SL-1",
        "--task", "task.md", "--runner", "true", "--base", "main",
    )  # fmt: skip


def _in_doubt(world: World) -> None:
    """A command was begun, and nobody saw how it ended: its supervisor died with it."""
    kept = Journal(world.folder)
    told = {"key": DOUBT, "kind": "agent", "argv": ["sh", "-c", "true"], "cwd": world.repo}
    kept.append("effect.intended", told, Author("standfast"))
    kept.let_go()
    folder = Folder(world.folder, DOUBT)
    folder.write_order(Order(DOUBT, ("sh", "-c", "true"), world.repo, {}, 60.0))
    folder.start("")


def commit(world: World, name: str) -> None:
    """The first commit, of one file."""
    write(os.path.join(world.repo, name), "Do nothing.\n")
    _git(world, "add", name)
    _git(world, "commit", "-q", "-m", "first")


def _git(world: World, *words: str) -> str:
    who = {
        f"GIT_{who}_{what}": "tester"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = {**who, "HOME": world.home, "PATH": os.environ["PATH"]}
    done = programs.run(("git", *words), cwd=world.repo, env=env, timeout_s=240)
    assert done.status == 0, done.stderr
    return done.stdout.decode()


LANE_WORLDS: dict[str, Callable[[World], None]] = {
    "laned": _laned,
    "a lane at work": _lane_at_work,
    "a lane that is done": _lane_done,
    "in doubt": _in_doubt,
}

"""What `checkpoint`, `lane`, `ps`, `reap` and `settle` write, once each, as acts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.faults import lane_worlds
from harness.faults.act import WORD, Act, command
from standfast.app import faces

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.look import Seen
    from harness.faults.world import World

_KEEP = ("checkpoint", "keep")  # whoever only reads takes in nothing of a work tree
_RUN = ("--run-id", lane_worlds.RUN, "--phase", "P1", "--lane", "SL-1")


def _write(stage: str, status: str) -> Callable[[World], int]:
    return command("checkpoint", "write", *_RUN, "--stage", stage, "--status", status,
                    "--notes", WORD)  # fmt: skip


def _written(seen: Seen) -> int:
    return sum(kind == "checkpoint.written" and WORD in payload for kind, _, payload in seen.events)


def _in_file(world: World, _seen: Seen) -> bool:
    """The file that others read shows the new record and every one before it, once each."""
    with open(os.path.join(world.repo, faces.CHECKPOINTS_FILE), encoding="utf-8") as file:
        text = file.read()
    before = [text.count(f'"{stage}"') for stage in lane_worlds.STAGES]
    return text.count(WORD) == 1 and before == [1, 1]


def _settled(answer: str) -> Callable[[Seen], int]:
    """How often a person said so."""
    wanted = f'"verdict":"{answer.upper()}"'
    return lambda seen: sum(
        kind == "effect.settled" and wanted in payload for kind, _, payload in seen.events
    )


CHECKPOINTS: tuple[Act, ...] = (
    Act("first-checkpoint", "checkpoint write", "begun", _write("before_lane_start", "ready"),
        new=_written),
    Act("checkpoint", "checkpoint write", "laned", _write("after_lane_tests", "complete"),
        new=_written, holds=_in_file, recovery=_KEEP),
    Act("checkpoints", "checkpoint list", "laned", command("checkpoint", "list"),
        recovery=_KEEP),
    Act("keep-checkpoints", "checkpoint keep", "laned", command("checkpoint", "keep"),
        recovery=_KEEP),
    Act("show-checkpoint", "checkpoint show", "laned", command("checkpoint", "show"),
        recovery=_KEEP),
    Act("latest-checkpoint", "checkpoint latest", "laned", command("checkpoint", "latest"),
        recovery=_KEEP),
    Act("ps", "ps", "begun", command("ps")),
    Act("reap", "reap", "begun", command("reap")),
    *(Act(f"settle-{answer}", f"settle {answer}", "in doubt",
          command("settle", lane_worlds.DOUBT, answer), new=_settled(answer))
      for answer in ("done", "again")),
)  # fmt: skip


def _rolled_back(world: World, _seen: Seen) -> bool:
    """The lane is where it began, and a ref leads to all that was there."""
    ref = f"refs/standfast/backup/{lane_worlds.RUN}/P1/SL-1/1"
    tree = lane_worlds.tree_of(world)
    with open(os.path.join(tree, "kept"), encoding="utf-8") as file:
        text = file.read()
    is_there = os.path.exists(os.path.join(world.repo, ".git", ref))
    return is_there and text == "as it was\n" and not os.path.exists(f"{tree}/new")


LANES: tuple[Act, ...] = (
    Act("resume-lane", "lane resume", "laned", command("lane", "resume", *_RUN),
        recovery=_KEEP, dear=True),
    # What happens on a lane's way is tried by kills, power cuts and the matrix.
    Act("run-lane", "lane run", "a lane that is done", command("lane", "run", *_RUN), dear=True),
    Act("roll-back-lane", "lane rollback", "a lane at work", command("lane", "rollback", *_RUN),
        new=lambda seen: seen.number("lane.rolled_back"), holds=_rolled_back, dear=True),
)  # fmt: skip

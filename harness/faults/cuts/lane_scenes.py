"""What is under way when the power goes from under a lane, and how a person takes it up again.

A scene is a repository on the disk that is cut, a command that is at work in it, and what must
be true afterwards. Agents commit as agents do, with git's defaults; a person who moves the base
syncs what they do, so that what is lost is always ours.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import perform
from harness.faults.cuts.lane_after import CONTENTS, Before, git, merged, rolled_back
from standfast.errors.lanes import EffectInDoubt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.world import World

LANE = ("--run-id", "r1", "--phase", "P1", "--lane", "SL-1")
_IN_DOUBT = EffectInDoubt.exit_status
_ATTEMPTS = 8

# Each does the same however often it is begun; the first commits, the second leaves its changes.
RUNNER = (
    'case "$STANDFAST_TASK" in'
    " one) head -c 30000 /dev/zero | tr '\\0' 1 > by-one; echo one > part/f3;"
    ' git add -A; git commit -qm "by one" || true;;'
    " two) head -c 30000 /dev/zero | tr '\\0' 2 > by-two; rm -f part/f4; echo two > part/f5;;"
    " esac"
)
_MOVES_BASE = (
    'set -e; cd "$MAIN"; if git cat-file -e main:moved 2>/dev/null; then exit 0; fi;'
    " git reset -q --hard; echo moved > moved; git -c core.fsync=all add moved;"
    " git -c core.fsync=all commit -qm moved; sync -f ."
)
_FAILS = (
    f"{RUNNER}; echo staged > part/f6; git add part/f6; echo after > part/f6;"
    " echo new > untracked; rm part/f7; exit 7"
)


class Scene(NamedTuple):
    """What is at work, and from which event on it is waited for the moment to cut."""

    name: str
    fill: Callable[[World], None]
    work: tuple[str, ...]
    holds: Callable[[World, Before], Iterator[str]]  # once a person has taken it up again
    from_event: str = ""  # the cut comes after such an event; "" from the beginning
    to_event: str = ""  # and about up to this one; "" to the end
    beside: Callable[[], None] = lambda: None  # begun before it, by the process that does it


def fill(world: World) -> None:
    """A repository with files, and two tasks."""
    write_files(world)
    for task in ("one", "two"):
        with open(os.path.join(world.home, f"{task}.md"), "w", encoding="utf-8") as file:
            file.write("Do it.\n")
    commit(world)


def write_files(world: World) -> None:
    """The files that a lane starts from."""
    os.makedirs(os.path.join(world.repo, "part"))
    with open(os.path.join(world.home, ".gitconfig"), "w", encoding="utf-8") as config:
        config.write("[user]\n name = tester\n email = tester\n[gc]\n auto = 0\n")
    for name, data in CONTENTS.items():
        with open(os.path.join(world.repo, name), "wb") as file:
            file.write(data)


def commit(world: World) -> None:
    """All of it is in the first commit."""
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", "first")


def _fill_failed(world: World) -> None:
    """A lane whose agent failed, with work of every kind in its worktree."""
    fill(world)
    words = ("lane", "run", *LANE, "--runner", _FAILS, "--task", "../home/one.md")
    assert perform.command(world, *words).status == 1


def _run(runner: str) -> tuple[str, ...]:
    return (
        "lane", "run", *LANE, "--runner", runner, "--test", _MOVES_BASE, "--merge", "no-ff",
        "--task", "../home/one.md", "--task", "../home/two.md",
    )  # fmt: skip


_RUN = _run(RUNNER)
_LONG = _run(f"sleep 0.4; {RUNNER}; sleep 0.1")


# Taking it up again.

_RESUMED = {("lane", "run"): ("lane", "resume", *LANE), ("run",): ("resume",)}


def finish(world: World, scene: Scene) -> Iterator[str]:
    """As a person would: resume, answer what is asked, resume; what stands in the way is told."""
    words = scene.work
    for _ in range(_ATTEMPTS):
        answer = perform.command(world, *words)
        if answer.status == 0:
            return
        if not _answer(world) and answer.status != _IN_DOUBT:
            said = (answer.err or answer.out)[-400:]
            yield f"wedged {' '.join(words[:2])}: {answer.status} {said}"
            return
        words = _RESUMED.get(words[:2], _RESUMED.get(words[:1], words))
    yield f"wedged not done after {_ATTEMPTS} times"


def _answer(world: World) -> bool:
    """Its agents do the same however often they are begun: begin again what is in doubt."""
    listed = json.loads(perform.command(world, "ps", "--json").out)["effects"]
    for each in listed:
        perform.command(world, "settle", each["key"], "again")
    return bool(listed)


SCENES: tuple[Scene, ...] = (
    Scene("start", fill, _RUN, merged, to_event="after_lane_start"),
    Scene("work", fill, _RUN, merged, "after_lane_start", "after_lane_tests"),
    Scene("agent", fill, _LONG, merged, "task-one/1", "task-two/1"),
    Scene("merge", fill, _RUN, merged, "after_lane_tests"),
    Scene("rollback", _fill_failed, ("lane", "rollback", *LANE), rolled_back),
)

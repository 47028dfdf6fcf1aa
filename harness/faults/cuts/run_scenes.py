"""Scenes of power cuts under `standfast run`: setup, agents, tests, gates, and all between them.

The tests of these lanes look at no file: what is whole afterwards was kept by nothing but us. Two
lanes go at once: one is merged, the worktree of the other stays to be looked at.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.cuts import landing_scenes, lane_scenes, torn_scenes
from harness.faults.cuts.lane_after import CONTENTS, Before, checked_out, git, left, read_tree
from harness.faults.cuts.lane_after import blob as named
from harness.faults.cuts.lane_scenes import Scene
from harness.faults.world import write
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.world import World

_LINE = "lane/r1/P1/SL-"
_BUILT = b"".join(b"%d\n" % each * 3_000 for each in range(20, 30))
_SETUP = (
    "mkdir -p built; for n in 20 21 22 23 24 25 26 27 28 29;"
    " do yes $n | head -n 3000 > built/$n; done; sleep 0.1"
)
_AGENT = """\
if [ "$STANDFAST_ROLE" = critic ]; then
  sleep 0.1; cat "$HOME/scores" > "$STANDFAST_OUTPUTS/review-scores.md"; exit 0
fi
sleep 0.2
case "$STANDFAST_TASK" in
one)
  yes 1 | head -n 9000 > by-one; echo one > part/f3
  git add -A; git commit -qm "by one" || true ;;
two) yes 2 | head -n 9000 > by-two; rm -f part/f4; echo two > part/f5 ;;
three) cat built/* > by-setup ;;
esac
sleep 0.1
"""
_PLAN = f"""\
run: r1
test: sleep 0.1
phases:
  P1:
    gates: {{review: {{role: critic, pass: 0.9, iterations: 2}}}}
    lanes:
      SL-1: {{merge: no-ff, tasks: {{one: Do one., two: Do two.}}}}
      SL-2: {{merge: none, setup: "{_SETUP}", tasks: {{three: Do three.}}}}
"""
_WORK = ("run", "../home/plan.yaml", "--base", "main")
_MADE = {
    "by-one": b"1\n" * 9_000,
    "by-two": b"2\n" * 9_000,
    "part/f3": b"one\n",
    "part/f5": b"two\n",
    ".gitignore": b"/built/\n",
}
_GONE = "part/f4"


def fill(world: World) -> None:
    """A repository, a plan for it that its user trusts, and an agent."""
    lane_scenes.write_files(world)
    write(os.path.join(world.repo, ".gitignore"), "/built/\n")
    lane_scenes.commit(world)
    agent = os.path.join(world.home, "agent.sh")
    write(agent, _AGENT)
    scores = json.dumps(dict.fromkeys(WEIGHTS, 0.95))
    write(f"{world.home}/scores", f"```json\n{scores}\n```\nWell.\n<!-- AGENT_COMPLETE -->\n")
    os.makedirs(f"{world.home}/.config/standfast")
    settings = {"runner": "worker", "runners": {"worker": {"command": ["sh", agent]}}}
    write(f"{world.home}/.config/standfast/config.yaml", json.dumps(settings))
    write(f"{world.home}/plan.yaml", _PLAN)
    trusted = perform.command(world, "plan", "trust", "../home/plan.yaml", "--yes")
    assert trusted.status == 0, trusted.err


def done(world: World, _before: Before) -> Iterator[str]:
    """Every tracked file is what it was, or what an agent made of it: in all three places."""
    expected = {name: named(data) for name, data in {**CONTENTS, **_MADE}.items()}
    del expected[_GONE]
    base = read_tree(world, "main")
    yield from _differing("on the base", base, expected)
    yield from checked_out(world, base, world.repo)
    subjects = git(world, "log", "--format=%s", "main").splitlines()
    if twice := {each for each in subjects if subjects.count(each) > 1}:
        yield f"wrong on the base twice: {twice}"
    yield from _left_alone(world, expected)
    yield from left(world)


def _left_alone(world: World, merged: dict[str, str]) -> Iterator[str]:
    """The lane that stays: begun before the other landed, or after it."""
    stays = read_tree(world, f"{_LINE}2")
    first = {name: named(data) for name, data in CONTENTS.items()}
    start = merged if "by-two" in stays else {**first, ".gitignore": merged[".gitignore"]}
    yield from _differing("in the lane", stays, {**start, "by-setup": named(_BUILT)})
    yield from checked_out(world, stays, os.path.join(world.repo, ".worktrees/r1/P1/SL-2"))


def _differing(where: str, found: dict[str, str], expected: dict[str, str]) -> Iterator[str]:
    wrong = [name for name, data in expected.items() if found.get(name) != data]
    more = sorted(set(found) - set(expected))
    if wrong or more:
        yield f"lost {where} {len(wrong)} files are not as they were made: {(wrong + more)[:6]}"


def _scene(name: str, from_event: str, to_event: str = "") -> Scene:
    return Scene(f"run: {name}", fill, _WORK, done, from_event, to_event)


RUN_SCENES: tuple[Scene, ...] = (
    _scene("first agent", "SL-1/task-one/1", "SL-1/task-two/1"),
    _scene("setup", "SL-2/setup/1", "SL-2/task-three/1"),
    _scene("anywhere", ""),
    _scene("second agent", "SL-1/task-two/1", "SL-1/tests/1"),
    _scene("tests and gates", "SL-1/tests/1"),
    torn_scenes.ATTRIBUTES,
    torn_scenes.EMPTIED,
    landing_scenes.LANDING,
)

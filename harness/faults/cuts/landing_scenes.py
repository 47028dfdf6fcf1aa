"""A scene of power cuts under `standfast run` in which one lane lands on another.

The base has moved, so that git writes many files into the worktree of the second lane, and only
then are these synced. Somebody else on the same disk syncs files of their own meanwhile, as other
lanes do: names get on disk before contents. Its tests look at nothing; they tell what they saw.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from harness.faults import loops, perform
from harness.faults.cuts import lane_scenes
from harness.faults.cuts.lane_after import CONTENTS, Before, blob, checked_out, git, left, read_tree
from harness.faults.cuts.lane_scenes import Scene
from harness.faults.world import write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.world import World

_WORK = ("run", "../home/plan.yaml", "--base", "main")
_NAMES = tuple(f"big/f{number}" for number in range(10, 30))
_BIG = {name: f"{name}\n".encode() * 5_000 for name in _NAMES}
_MADE = {**_BIG, "by-two": b"two\n"}
_AGENT = f"""\
case "$STANDFAST_TASK" in
one)
  mkdir -p big
  for name in {" ".join(_NAMES)}; do yes $name | head -n 5000 > $name; done ;;
two)
  until git cat-file -e main:big/f29 2>/dev/null; do sleep 0.02; done
  echo two > by-two ;;
esac
"""
_TEST = 'if [ -e big -a -e by-two ]; then git hash-object big/* > "$HOME/seen"; fi'
_PAUSE_S = 0.002


def _fill(world: World) -> None:
    """A repository, a plan for it that its user trusts, and an agent."""
    lane_scenes.write_files(world)
    lane_scenes.commit(world)
    at = os.path.join(world.home, "agent.sh")
    write(at, _AGENT)
    os.makedirs(f"{world.home}/.config/standfast")
    settings = {"runner": "worker", "runners": {"worker": {"command": ["sh", at]}}}
    write(f"{world.home}/.config/standfast/config.yaml", json.dumps(settings))
    lanes = {
        "SL-1": {"merge": "no-ff", "tasks": {"one": "Do one."}},
        "SL-2": {"merge": "no-ff", "tasks": {"two": "Do two."}},
    }
    plan = {"run": "r1", "test": _TEST, "phases": {"P1": {"lanes": lanes}}}
    write(f"{world.home}/plan.yaml", json.dumps(plan))
    trusted = perform.command(world, "plan", "trust", "../home/plan.yaml", "--yes")
    assert trusted.status == 0, trusted.err


def beside() -> None:
    """Somebody else on the same disk, until the caller is gone."""
    caller, top = os.getpid(), os.path.dirname(os.environ["MAIN"])
    if os.fork():
        return
    loops.die_with(caller)
    fd = os.open(os.path.join(top, "neighbour"), os.O_RDWR | os.O_CREAT)
    size = 0
    while True:
        size = (size + 64) % 4096
        os.ftruncate(fd, size)
        os.pwrite(fd, b"n" * 64, 0)
        os.fsync(fd)
        time.sleep(_PAUSE_S)


def _holds(world: World, _before: Before) -> Iterator[str]:
    """Both are on the base, whole, and so was what the tests of the second one ran on."""
    expected = {name: blob(data) for name, data in {**CONTENTS, **_MADE}.items()}
    base = read_tree(world, "main")
    if wrong := sorted(name for name in {*expected, *base} if expected.get(name) != base.get(name)):
        yield f"lost on the base {len(wrong)} files are not as they were made: {wrong[:6]}"
    subjects = git(world, "log", "--format=%s", "main").splitlines()
    if twice := {each for each in subjects if subjects.count(each) > 1}:
        yield f"wrong on the base twice: {twice}"
    yield from _seen(world)
    yield from checked_out(world, base, world.repo)
    yield from left(world)


def _seen(world: World) -> Iterator[str]:
    """What tests told before the cut may be on no disk."""
    try:
        with open(os.path.join(world.home, "seen"), encoding="ascii") as file:
            seen = file.read().strip("\0").split()
    except FileNotFoundError:
        return
    if seen and seen != [blob(_BIG[name]) for name in _NAMES]:
        yield "lost what was to land was tested with other files"


LANDING = Scene(
    "run: one lane lands on another", _fill, _WORK, _holds,
    '"lane":"SL-2","step":"rebase"', '"lane":"SL-2","step":"retest"', beside,
)  # fmt: skip

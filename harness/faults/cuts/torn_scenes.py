"""Scenes of power cuts under a run where bytes alone do not say what is torn.

In one an agent's git writes every file again, and with them the attributes by which it writes. In
the other a setup empties a tracked file and cuts another one short, and means it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.cuts import lane_scenes
from harness.faults.cuts.lane_after import CONTENTS, Before, blob, checked_out, left, read_tree
from harness.faults.cuts.lane_scenes import Scene
from harness.faults.world import write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.world import World

_WORK = ("run", "../home/plan.yaml", "--base", "main")
_LINES = "a line of a file\n" * 1_000
_CONVERTED = {
    "wide.u16": b"\xff\xfe" + _LINES.encode("utf-16-le"),
    "ends.txt": _LINES.replace("\n", "\r\n").encode(),
}
_RULES = {
    ".editorconfig": b"root = true\n" * 9,  # before the attributes, as git orders them
    ".gitattributes": b"*.u16 text working-tree-encoding=UTF-16LE-BOM\n*.txt text eol=crlf\n",
}
_EMPTIED, _SHORTENED, _PAGE = "part/f7", "part/f59", 4096
_SETUP = f": > {_EMPTIED}; head -c {_PAGE} {_SHORTENED} > built; cat built > {_SHORTENED}; rm built"
# Only what it says of itself is synced: the files that its git wrote are names without contents.
_WRITES_ALL = """\
sleep 0.1
if [ ! -e "$HOME/went" ]; then
  git ls-files -z | xargs -0 rm -f; git checkout -q -- .
  echo x > "$HOME/went"; sync "$HOME/went"; sleep 0.6
fi
echo one > by-one; sleep 0.1
"""
_WRITES_ONE = "sleep 0.4; echo one > by-one; sleep 0.2"
_MADE = {"by-one": b"one\n"}


def _fill(world: World, agent: str, lane: dict[str, object]) -> None:
    """A repository, a plan for it that its user trusts, and an agent."""
    lane_scenes.write_files(world)
    for name, data in {**_RULES, **_CONVERTED}.items():
        with open(os.path.join(world.repo, name), "wb") as file:
            file.write(data)
    lane_scenes.commit(world)
    at = os.path.join(world.home, "agent.sh")
    write(at, agent)
    os.makedirs(f"{world.home}/.config/standfast")
    settings = {"runner": "worker", "runners": {"worker": {"command": ["sh", at]}}}
    write(f"{world.home}/.config/standfast/config.yaml", json.dumps(settings))
    lanes = {"SL-1": {"merge": "no-ff", "tasks": {"one": "Do one."}, **lane}}
    plan = {"run": "r1", "test": "sleep 0.1", "phases": {"P1": {"lanes": lanes}}}
    write(f"{world.home}/plan.yaml", json.dumps(plan))
    trusted = perform.command(world, "plan", "trust", "../home/plan.yaml", "--yes")
    assert trusted.status == 0, trusted.err


def fill_converted(world: World) -> None:
    """An agent whose git writes every file again."""
    _fill(world, _WRITES_ALL, {})


def fill_emptied(world: World) -> None:
    """A setup that empties a file."""
    _fill(world, _WRITES_ONE, {"setup": _SETUP})


def converted(world: World, _before: Before) -> Iterator[str]:
    """Every file is what it was, on the base and in the checkout."""
    yield from _as_made(world, {})


def emptied(world: World, _before: Before) -> Iterator[str]:
    """What the setup did has landed."""
    yield from _as_made(world, {_EMPTIED: b"", _SHORTENED: CONTENTS[_SHORTENED][:_PAGE]})


def _as_made(world: World, changed: dict[str, bytes]) -> Iterator[str]:
    kept = dict.fromkeys(_CONVERTED, _LINES.encode())  # as git has them
    wanted = {**CONTENTS, **_RULES, **kept, **_MADE, **changed}
    base = read_tree(world, "main")
    expected = {name: blob(data) for name, data in wanted.items()}
    wrong = sorted(name for name in {*base, *expected} if base.get(name) != expected.get(name))
    if wrong:
        yield f"lost on the base {len(wrong)} files are not as they were made: {wrong[:6]}"
    as_they_are = {name: each for name, each in base.items() if name not in _CONVERTED}
    yield from checked_out(world, as_they_are, world.repo)
    for name, data in _CONVERTED.items():
        with open(os.path.join(world.repo, name), "rb") as file:
            if file.read() != data:
                yield f"wrong {name} in the checkout is written in another way"
    yield from left(world)


ATTRIBUTES = Scene(
    "run: attributes", fill_converted, (*_WORK, "--lanes", "1"), converted,
    "SL-1/task-one/1", "SL-1/tests/1",
)  # fmt: skip
EMPTIED = Scene(
    "run: a setup that empties", fill_emptied, (*_WORK, "--lanes", "2"), emptied,
    "SL-1/task-one/1", "SL-1/tests/1",
)  # fmt: skip

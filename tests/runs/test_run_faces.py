"""The faces of a large run: kept by a process of their own, which takes no run along."""

import json
import os
import sys
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, night
from standfast.surfaces.cli import run_faces
from standfast.surfaces.cli.command_context import Context
from standfast.surfaces.cli.run_faces import Faces
from standfast.surfaces.cli.screen import Screen

MANY = ", ".join(f"L{number}: Do it." for number in range(101))
FILE = ".claude/ai-dev-kit/run-logs/checkpoints.json"


@pytest.fixture
def world(tmp_path: Path) -> Night:
    made = night(tmp_path)
    made.agent("exit 1")
    return made


def large(world: Night, *flags: str) -> None:
    """A run of many lanes, the first of which fails and is the last."""
    plan = world.plan(f"on_failure: stop\nlimits: {{lanes: 1}}\nlanes: {{{MANY}}}\n")
    done = world.call(*flags, "run", plan)
    assert done.returncode == 1, done.stderr


def faces(world: Night) -> Faces:
    context = Context(directory=str(world.repo), environ=world.environ, flags=(),
                      screen=Screen(color=False, width=80), json=False)  # fmt: skip
    made = Faces(context)
    made.begin(101)
    return made


def records(world: Night, file: str = FILE) -> set[str]:
    path = world.repo / file
    if not path.exists():
        return set()
    return {each["lane"] for each in json.loads(path.read_text(encoding="utf-8"))}


def program(world: Night, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What keeps the faces, instead of ours."""
    path = world.top / "python"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))


def test_large_run_has_its_faces_where_the_call_says(world: Night) -> None:
    large(world, "--set", "checkpoints_file=told/elsewhere.json")

    assert records(world, "told/elsewhere.json") == {"-", "L0"}
    assert records(world) == set()


@pytest.mark.parametrize("text", ["exit 3", None])
def test_faces_are_kept_here_where_no_other_process_keeps_them(
    world: Night, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    large(world)
    (world.repo / FILE).unlink()
    program(world, monkeypatch, text or "")
    if text is None:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
    kept = faces(world)
    kept.keep()
    kept.close()

    assert records(world) == {"-", "L0"}


def test_process_that_does_not_come_to_its_end_is_ended(
    world: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    large(world)
    pid = world.top / "pid"
    program(world, monkeypatch, f"echo $$ > {pid}; exec sleep 600")
    monkeypatch.setattr(run_faces, "_PATIENCE_S", 0.1)
    kept = faces(world)
    kept.keep()
    until(lambda: pid.exists() and bool(pid.read_text(encoding="utf-8")))
    first = int(pid.read_text(encoding="utf-8"))
    kept.close()

    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)

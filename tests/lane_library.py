"""Lanes as plans make them, taken on by the library: what no command line says has to be tried too.

`python lane_library.py REPO SPEC` takes one on in a process of its own, which can be killed.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from lane_runs import BRANCH, NAMES, Lane, end_everything
from standfast import clock
from standfast.errors.base import StandfastError
from standfast.git.command import Git
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.plans import lane_spec
from standfast.plans.lane_spec import Spec, Task
from standfast.runs.lanes import lane_loop as lanes
from standfast.runs.lanes.lane_context import Work
from standfast.runs.records import lane_records as told
from standfast.runs.rules.lane_steps import Standing


def spec(lane: Lane, **more: object) -> Spec:
    """A lane with one task."""
    said: dict[str, object] = {
        "base": "main",
        "branch": BRANCH,
        "worktree": str(lane.tree),
        "runner": "echo made > made.txt",
        "tasks": (Task("one", "Do it."),),
        "time_s": 60.0,
        **more,
    }
    return lane_spec.check(Spec(*NAMES, **said))  # type: ignore[arg-type]


def work(lane: Lane, spec: Spec, journal: Journal, **more: object) -> Work:
    return Work(
        journal=journal,
        spec=spec,
        git=Git(directory=lane.repo),
        log_path=str(lane.repo / ".claude/ai-dev-kit/run-logs/r1.jsonl"),
        author=Author("standfast"),
        environ=dict(os.environ),
        claim=lambda _tx: None,
        render=lambda: None,
        **{"tell": lambda _: None, **more},  # type: ignore[arg-type]
    )


def take_on(lane: Lane, spec: Spec, *, asked: bool = False, **more: object) -> Standing:
    """Take it as far as it goes, or to the error that stops it."""
    journal = lane.journal()
    try:
        return lanes.run(work(lane, spec, journal, **more), asked=asked)
    finally:
        journal.close()


def standing(lane: Lane, spec: Spec) -> Standing:
    journal = lane.journal()
    try:
        return told.standing(journal, spec)
    finally:
        journal.close()


def argv(lane: Lane, spec: Spec) -> list[str]:
    """The same in a process of its own."""
    path = lane.home / "spec.json"
    path.write_text(json.dumps(spec.as_dict()), encoding="utf-8")
    return [sys.executable, __file__, str(lane.repo), str(path)]


def end_at(mark: Path, lane: Lane, spec: Spec) -> None:
    """Take the lane on, and end everything at once when the mark is there, as a power cut does."""
    with subprocess.Popen(
        argv(lane, spec),
        cwd=lane.repo,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        until = time.monotonic() + 60
        while not mark.exists():
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        end_everything(lane, process.pid)


def main(repo: str, path: str) -> int:
    lane = Lane(repo=Path(repo), home=Path(path).parent)
    real, ahead = clock.now_us, int(os.environ.get("LANE_AHEAD_S", "0")) * clock.MICROSECONDS
    clock.now_us = lambda: real() + ahead
    try:
        take_on(lane, lane_spec.read(json.loads(Path(path).read_text(encoding="utf-8"))))
    except StandfastError as error:
        sys.stderr.write(f"{error.code} {error.problem}\n")
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

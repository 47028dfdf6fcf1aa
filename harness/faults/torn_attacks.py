"""Power fails inside a command, for those who try to have torn files merged, or work taken back."""

from __future__ import annotations

import json
import os
import shlex
import signal
import uuid
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.cuts import lane_scenes
from harness.faults.cuts.lane_after import git
from harness.faults.world import World, write
from standfast import clock
from standfast.git import torn_files, worktree_contents
from standfast.runs.lanes import files_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from standfast.git.command import Git

_LOOK_AGAIN_S = 0.01
_LONG = b"a line of a file\n" * 1_000
_TORN = 4096
_WIDE = b"\xff\xfe" + ("a line of a file\n" * 1_000).encode("utf-16-le")
_ATTRIBUTES = b"*.txt text working-tree-encoding=UTF-16LE-BOM\n"
_EMPTIES_ALL = "git ls-files | while read name; do : > $name; done"


def torn(world: World) -> Iterator[str]:
    """The power fails inside an agent, and a file that it never touched is half as long."""
    _fill(world, {"long": _LONG})
    yield from _cut(world, f"truncate -s {_TORN} long")
    if git(world, "show", "main:long").encode() != _LONG:
        yield "half a torn file was merged as an agent's work"


def gaps(world: World) -> Iterator[str]:
    """The same, and the end of the file was written out before its middle."""
    _fill(world, {"long": _LONG})
    yield from _cut(world, f"dd if=/dev/zero of=long bs={_TORN} seek=1 count=1 conv=notrunc")
    if git(world, "show", "main:long").encode() != _LONG:
        yield "half a file with a gap was merged as an agent's work"


def attributes(world: World) -> Iterator[str]:
    """The power fails when an agent's git has written every file, its attributes too."""
    _fill(world, {".editorconfig": _LONG, ".gitattributes": _ATTRIBUTES, "wide.txt": _WIDE})
    yield from _cut(world, _EMPTIES_ALL)
    if git(world, "show", "main:wide.txt").encode() != _LONG:
        yield "a file that was put back in another encoding was merged"


def undone(world: World) -> Iterator[str]:
    """The power fails inside a run, and the one before it had emptied a file and meant it."""
    _fill(world, {"long": _LONG})
    first = shlex.quote(os.path.join(world.home, "first"))
    before = f"[ -e {first} ] || {{ : > long; touch {first}; exit 1; }}"
    yield from _cut(world, "", before, "--retries", "2")
    if git(world, "show", "main:long"):
        yield "what a run had emptied was put back after a power cut in the next one"


def _fill(world: World, files: dict[str, bytes]) -> None:
    lane_scenes.fill(world)
    for name, data in files.items():
        with open(os.path.join(world.repo, name), "wb") as file:
            file.write(data)
    lane_scenes.commit(world)


def _cut(world: World, tears: str, before: str = "", *words: str) -> Iterator[str]:
    """The power fails inside an agent, and a person takes the lane up again."""
    mark = os.path.join(world.home, "mark")
    at = shlex.quote(mark)
    agent = f"{before}\ntest -e {at} && {{ echo more > more; exit 0; }}\n{tears}\ntouch {at}"
    child = os.fork()
    if child == 0:
        task = ("--task", "../home/one.md", *words)
        runner = f"{agent}; sleep 60"
        perform.command(world, "lane", "run", *lane_scenes.LANE, *task, "--runner", runner)
        os._exit(0)
    while not os.path.exists(mark):
        clock.pause(_LOOK_AGAIN_S)
    _end_everything(world)
    os.waitpid(child, 0)
    _another_boot(world)
    again = ("lane", "resume", *lane_scenes.LANE)
    scene = lane_scenes.Scene("", lane_scenes.fill, again, lambda *_: iter(()))
    yield from lane_scenes.finish(world, scene)


def _end_everything(world: World) -> None:
    """Whatever is at work here, with its supervisors; whoever waits for it ends by that."""
    while listed := json.loads(perform.command(world, "ps", "--json").out)["effects"]:
        pids = [pid for each in listed for pid in each["pids"]]
        for pid in pids:
            _kill(pid)
        if not pids:
            return


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it had ended by itself


def _another_boot(world: World) -> None:
    """What was begun was begun before the machine came up."""
    for name in os.listdir(os.path.join(world.folder, "effects")):
        started = os.path.join(world.folder, "effects", name, "started")
        if not os.path.exists(started):
            continue
        with open(started, encoding="utf-8") as file:
            lines = [line.split("/") for line in file.read().splitlines()]
        there = ("/".join([*each[:2], str(uuid.uuid4()), *each[3:]]) for each in lines)
        write(started, "\n".join(there))


# The bugs.


def gaps_are_work() -> None:
    """Zeros in the place of whole pages are taken for an agent's work."""
    torn_files._may_have_gaps = lambda found: False  # noqa: ARG005, SLF001  # a bug is planted


def by_torn_attributes() -> None:
    """What is put back is written by the attributes that lie there, torn as they are."""
    torn_files.torn_rules = lambda git: []  # noqa: ARG005  # as it is called
    worktree_contents.restore = _in_place


def _in_place(git: Git, files: Iterable[str], source: str) -> None:
    told = os.fsencode("".join(f"{name}\0" for name in files))
    which = ("--pathspec-from-file=-", "--pathspec-file-nul")
    if told:
        git.write("restore", f"--source={source}", "--worktree", *which, stdin=told)


def forgetful() -> None:
    """Nobody knows what looked torn before."""
    files_before.read = lambda attempt: torn_files.Torn([], [])  # noqa: ARG005  # as it is called

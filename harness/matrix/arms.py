"""Who does the work: Standfast, its peers as a good user would write them, and a bare loop.

An arm is a command that begins a lane, one that goes on with it, and what a person does when it
stops and says so. A person acts only when told: an arm that repeats without a word is not asked.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

from harness.matrix import striking
from harness.matrix.places import JournalPlaces, LedgerPlaces
from harness.matrix.work import LANE, PR, TASKS
from standfast.errors.lanes import EffectInDoubt
from standfast.journal.store import FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from harness.matrix.places import Places
    from harness.matrix.work import Room

_HERE = "harness.matrix"
_STANDFAST = (sys.executable, "-m", "standfast")


class Arm(Protocol):
    """One way to run a lane of eight effects."""

    @property
    def name(self) -> str:
        """What it is called in the table."""

    @property
    def victims(self) -> Sequence[str]:
        """Whom a kill can strike."""

    def begin(self, room: Room) -> list[str]:
        """The command that begins the lane."""

    def resume(self, room: Room) -> list[str]:
        """The command that goes on with it after a death."""

    def answer(self, room: Room, status: int) -> list[str] | None:
        """Answer like a person what the arm asks; the keys asked about, None if it asks nothing."""

    def audit(self, room: Room, spared: Collection[str]) -> list[str]:
        """What is wrong with the work of a lane that is done; *spared* effects may lack theirs."""

    def places(self, room: Room) -> Places:
        """Where its kills are planned."""


class Scripted:
    """A program that both begins and goes on: peers, and the bare loop."""

    victims = (striking.ORCHESTRATOR, striking.GROUP, striking.TREE, striking.ALL)

    def __init__(self, name: str, module: str, *more: str) -> None:
        self.name = name
        self._words = [sys.executable, "-m", f"{_HERE}.{module}", *more]

    def begin(self, room: Room) -> list[str]:
        """The program, with where everything is."""
        return [*self._words, room.path]

    def resume(self, room: Room) -> list[str]:
        """The same program: it looks how far it was."""
        return self.begin(room)

    def answer(self, _room: Room, _status: int) -> list[str] | None:
        """It never asks."""
        return None

    def audit(self, _room: Room, _spared: Collection[str]) -> list[str]:
        """It keeps no work but what its effects wrote."""
        return []

    def places(self, room: Room) -> Places:
        """After how many effects."""
        return LedgerPlaces(room.ledger)


class Standfast:
    """`standfast lane run`, and `lane resume` as soon as there is something to resume."""

    name = "standfast"
    victims = striking.VICTIMS

    def begin(self, room: Room) -> list[str]:
        """One lane of seven tasks, whose merge is a pull request."""
        script, ledger, told = (shlex.quote(p) for p in (room.script, room.ledger, room.at("told")))
        tasks = [word for name in TASKS for word in ("--task", room.at(f"{name}.md"))]
        effect = f"sh {script} {{}} {ledger} {told}"
        lines = ("--runner", effect.format('"$STANDFAST_TASK"'), "--pr", effect.format(PR))
        return [*_lane("run"), *lines, *tasks, "--merge", "pr", "--retries", "0"]

    def resume(self, room: Room) -> list[str]:
        """Go on; before the first effect happened, the lane may not be known yet."""
        return _lane("resume") if any(room.counted().values()) else self.begin(room)

    def answer(self, room: Room, status: int) -> list[str] | None:
        """Look into the ledger for each effect in doubt, and say what is there."""
        if status != EffectInDoubt.exit_status:
            return None
        left = json.loads(_ask(room, "ps", "--json"))["effects"]
        doubts = [each["key"] for each in left if each["state"] == "in doubt"]
        for key in doubts:
            happened = room.counted()[name_of(key)]
            _ask(room, "settle", key, "done" if happened else "again")
        return doubts

    def audit(self, room: Room, spared: Collection[str]) -> list[str]:
        """What an agent wrote is committed on the lane's branch, and the journal is whole."""
        branch = f"lane/{LANE[1]}/{LANE[2]}"
        listed = _run(room, "git", "ls-tree", "--name-only", branch)
        whole = _run(room, *_STANDFAST, "journal", "verify")
        files = {f"{name}.txt" for name in TASKS if name not in spared}
        lacking = sorted(files - set(listed.stdout.splitlines()))
        wrong = [f"not on {branch}: {', '.join(lacking)}"] if lacking else []
        return wrong + ([whole.stdout + whole.stderr] if whole.returncode else [])

    def places(self, room: Room) -> Places:
        """After which event of its journal."""
        return JournalPlaces(os.path.join(room.repo, ".git", "standfast", FILE))


def name_of(key: str) -> str:
    """The effect that a key is of: `lane/RUN/PHASE/LANE/task-t1/1`."""
    return key.split("/")[4].removeprefix("task-")


def _lane(verb: str) -> list[str]:
    run, phase, lane = LANE
    names = ["--run-id", run, "--phase", phase, "--lane", lane]
    return [*_STANDFAST, "lane", verb, *names]


def _ask(room: Room, *words: str) -> str:
    done = _run(room, *_STANDFAST, *words)
    done.check_returncode()
    return done.stdout


def _run(room: Room, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=room.repo,
        env=room.environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


STANDFAST = Standfast()
BARE = Scripted("bare", "bare_lane")
DBOS = Scripted("dbos", "peers.dbos_lane")
LANGGRAPH_SYNC = Scripted("langgraph_sync", "peers.langgraph_lane", "sync")
LANGGRAPH_ASYNC = Scripted("langgraph_async", "peers.langgraph_lane", "async")
PEERS = (DBOS, LANGGRAPH_SYNC, LANGGRAPH_ASYNC)

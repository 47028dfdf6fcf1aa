"""A storm of writers, some killed with -9 at random moments, and the count afterwards.

Every second writer is a target: killed, and started again where its acknowledgements end. The
others live through, and show whether anyone is starved. Nothing here waits by the clock: the
storm goes on as acknowledgements come in.
"""

from __future__ import annotations

import json
import os
import random
import selectors
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from standfast.journal import reading
from standfast.journal.store import Journal
from standfast.journal.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Writer:
    """One name in the storm, across all of its lives."""

    name: str
    target: int
    mortal: bool
    process: subprocess.Popen[bytes] | None = None
    acknowledged: int = 0
    lives: int = 0
    unread: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What is in the journal after the storm, against what was promised."""

    acknowledged: int
    recorded: int
    lost: int
    repeated: int
    id_gaps: int
    kills: int
    fairness: float  # most over fewest facts of the writers that were never killed
    problems: list[str]


@dataclass(slots=True)
class Storm:
    """Many processes, one journal."""

    folder: str
    writers: int = 16
    each: int = 1000
    kills: int = 40
    seed: int = 1
    watch: Callable[[Storm], None] = lambda _: None
    killed: int = 0
    crew: list[Writer] = field(default_factory=list)
    fairness: float = 0.0

    def run(self) -> Counted:
        """Let it blow, then count."""
        chance = random.Random(self.seed)
        self.crew = [Writer(f"w{n:02}", self.each, mortal=n % 2 == 0) for n in range(self.writers)]
        every = max(1, self.writers * self.each // (self.kills + 1))
        with selectors.DefaultSelector() as selector:
            for writer in self.crew:
                self._start(writer, selector)
            next_kill = every
            while selector.get_map():
                for key, _ in selector.select():
                    self._hear(key.data, selector)
                if sum(w.acknowledged for w in self.crew) >= next_kill:
                    next_kill += every
                    self._kill_one(chance)
                self.watch(self)
        return self._count()

    def _start(self, writer: Writer, selector: selectors.BaseSelector) -> None:
        writer.lives += 1
        arguments = (self.folder, writer.name, str(writer.acknowledged + 1), str(writer.target))
        writer.process = subprocess.Popen(
            [sys.executable, "-m", "standfast.testing.writer", *arguments],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        assert writer.process.stdout is not None
        selector.register(writer.process.stdout, selectors.EVENT_READ, writer)

    def _hear(self, writer: Writer, selector: selectors.BaseSelector) -> None:
        process = writer.process
        assert process is not None
        assert process.stdout is not None
        data = os.read(process.stdout.fileno(), 65536)
        if data:
            *whole, writer.unread = (writer.unread + data).split(b"\n")
            if whole:
                writer.acknowledged = int(whole[-1])
            return
        selector.unregister(process.stdout)
        process.stdout.close()
        process.wait()
        if writer.acknowledged < writer.target:
            self._start(writer, selector)
        elif not writer.mortal and not self.fairness:
            self._judge()

    def _kill_one(self, chance: random.Random) -> None:
        alive = [
            writer.process
            for writer in self.crew
            if writer.mortal and writer.process is not None and writer.process.poll() is None
        ]
        if alive:
            chance.choice(alive).kill()
            self.killed += 1

    def _judge(self) -> None:
        """How far are the others when the first survivor is done."""
        counts = [writer.acknowledged for writer in self.crew if not writer.mortal]
        self.fairness = max(counts) / max(1, min(counts))

    def _count(self) -> Counted:
        journal = Journal(self.folder)
        recorded: dict[tuple[str | None, int], int] = {}
        ids: list[int] = []
        for event in reading.events(journal, reading.Filter(kind="storm.wrote")):
            fact = json.loads(event.payload)
            key = (event.session, fact["number"])
            recorded[key] = recorded.get(key, 0) + 1
            ids.append(int(fact["id"].partition("-")[2]))
        problems = verify(journal).problems
        journal.close()
        promised = [(w.name, n) for w in self.crew for n in range(1, w.acknowledged + 1)]
        return Counted(
            acknowledged=len(promised),
            recorded=len(recorded),
            lost=sum(1 for fact in promised if fact not in recorded),
            # A fact in flight when its writer was killed is written again by its next life: that
            # is the writer's doing, once per kill at most. The journal itself repeats nothing.
            repeated=max(0, sum(recorded.values()) - len(recorded) - self.killed),
            id_gaps=0 if ids == list(range(1, len(ids) + 1)) else 1,
            kills=self.killed,
            fairness=self.fairness,
            problems=problems,
        )

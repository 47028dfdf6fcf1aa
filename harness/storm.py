"""A storm of writers, some killed with -9 at random moments, and the count afterwards.

With kills every second writer is a target: killed, and started again where its acknowledgements
end. The others live through, and show whether anyone is starved. A storm lasts for so many facts
of each writer, and then nothing waits by the clock, or for so many seconds.
"""

from __future__ import annotations

import os
import random
import selectors
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness import storm_count, writer
from harness.writer import BUSY, FAILED, STOPPED
from standfast import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.storm_count import Counted

_TICK_S = 0.05
_REST = 25  # acknowledgements of others while a stopped writer sleeps
_ENDLESS = 1_000_000_000
FAIR = 3.0  # facts of the busiest survivor for one of the idlest
_LONGER = 4
APPENDS = ("plain", "numbered")  # whose every fact is one commit


@dataclass(slots=True, eq=False)
class Writer:
    """One name in the storm, across all of its lives."""

    name: str
    target: int
    mortal: bool
    role: str = "numbered"
    pid: int = 0  # 0: it is not alive
    acknowledged: int = 0
    lives: int = 0
    unread: bytes = b""
    wakes: int = 0  # it is stopped until so many facts are acknowledged
    latencies: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Storm:
    """Many processes, one journal."""

    folder: str
    writers: int = 16
    each: int = 1000
    kills: int = 40
    seed: int = 1
    watch: Callable[[Storm], None] = lambda _: None
    seconds: float | None = None  # instead of *each*
    kills_every_s: float | None = None  # instead of *kills*
    roles: Sequence[str] = ("numbered",)
    plant: Callable[[], None] = lambda: None
    killed: int = 0
    busy: int = 0
    failures: list[str] = field(default_factory=list)
    crew: list[Writer] = field(default_factory=list)
    fairness: float = 0.0
    _over: bool = False
    _begun: dict[str, int] = field(default_factory=dict)

    def run(self) -> Counted:
        """Let it blow, then count."""
        self.crew = self._enlist()
        with selectors.DefaultSelector() as selector:
            try:
                for one in self.crew:
                    self._start(one, selector)
                self._blow(selector)
            finally:
                self._end(signal.SIGKILL)
        return storm_count.count(self)

    @property
    def acknowledged(self) -> int:
        """Facts that somebody was told are safe."""
        return sum(one.acknowledged for one in self.crew)

    def _enlist(self) -> list[Writer]:
        mortals = self.kills_every_s is not None or (self.seconds is None and self.kills > 0)
        target = self.each if self.seconds is None else _ENDLESS
        return [
            Writer(f"w{n:02}", target, mortals and n % 2 == 0, self.roles[n // 2 % len(self.roles)])
            for n in range(self.writers)
        ]

    def _blow(self, selector: selectors.BaseSelector) -> None:
        chance = random.Random(self.seed)
        began = clock.monotonic_ns()
        while selector.get_map():
            heard = selector.select(_TICK_S)
            for key, _ in heard:
                self._hear(key, selector)
            passed = (clock.monotonic_ns() - began) / 1e9
            if self._is_kill_due(passed):
                self._kill_one(chance)
            if self._is_end_due(passed):
                self._over = True
                self._end(signal.SIGTERM)
            self._wake(quiet=not heard)
            self.watch(self)

    def _is_end_due(self, passed: float) -> bool:
        """A short storm may end in somebody's turn: who seems starved is given longer to catch up.

        Turns are fair in the long run, and how long that is is up to the scheduler.
        """
        self._note_begin()
        if self.seconds is None or self._over or passed < self.seconds:
            return False
        self._judge()
        is_known = self.fairness < FAIR or bool(self.failures)
        return is_known or passed > self.seconds * _LONGER

    def _note_begin(self) -> None:
        """Where everybody was when the last of them was there."""
        if not self._begun and all(one.acknowledged for one in self._survivors):
            self._begun = {one.name: one.acknowledged for one in self._survivors}

    @property
    def _survivors(self) -> list[Writer]:
        return [one for one in self.crew if one.role in APPENDS and not one.mortal]

    def _is_kill_due(self, passed: float) -> bool:
        if self.kills_every_s is not None:
            return not self._over and passed > (self.killed + 1) * self.kills_every_s
        every = max(1, self.writers * self.each // (self.kills + 1))
        return self.seconds is None and self.acknowledged >= (self.killed + 1) * every

    def _start(self, one: Writer, selector: selectors.BaseSelector) -> None:
        one.lives += 1
        one.unread, one.wakes = b"", 0
        numbers = range(one.acknowledged + 1, one.target + 1)
        heard, said = os.pipe()
        one.pid = os.fork()
        if one.pid == 0:
            try:
                self.plant()
                writer.live(self.folder, one.name, one.role, numbers, said)
            finally:
                os._exit(0)
        os.close(said)
        selector.register(heard, selectors.EVENT_READ, one)

    def _hear(self, key: selectors.SelectorKey, selector: selectors.BaseSelector) -> None:
        one: Writer = key.data
        data = os.read(key.fd, 65536)
        if data:
            *whole, one.unread = (one.unread + data).split(b"\n")
            for line in whole:
                self._take(one, line)
            return
        selector.unregister(key.fd)
        os.close(key.fd)
        _, status = os.waitpid(one.pid, 0)
        one.pid = 0
        if os.waitstatus_to_exitcode(status) == -signal.SIGKILL and not self._over:
            self._start(one, selector)
        elif not one.mortal and not self.fairness:
            self._judge()

    def _take(self, one: Writer, line: bytes) -> None:
        one.wakes = 0
        if line == BUSY:
            self.busy += 1
        elif line == STOPPED:
            one.wakes = self.acknowledged + _REST
        elif line.startswith(FAILED):
            self.failures.append(f"{one.role} {one.name}: {line.decode('utf-8', 'replace')}")
        else:
            number, _, took = line.partition(b" ")
            one.acknowledged = int(number)
            one.latencies.append(int(took))

    def _wake(self, *, quiet: bool) -> None:
        """Again and again until it speaks: it may not have been asleep yet."""
        acknowledged = self.acknowledged
        for one in self.crew:
            if one.wakes and one.pid and (quiet or self._over or acknowledged > one.wakes):
                os.kill(one.pid, signal.SIGCONT)

    def _kill_one(self, chance: random.Random) -> None:
        self.killed += 1
        alive = [one.pid for one in self.crew if one.mortal and one.pid]
        if alive:
            os.kill(chance.choice(alive), signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        for one in self.crew:
            if one.pid:
                os.kill(one.pid, how)

    def _judge(self) -> None:
        """How far apart the survivors are by now; only like is compared."""
        ratios = [0.0]
        for role in APPENDS:
            alike = [one for one in self._survivors if one.role == role]
            counts = [one.acknowledged - self._begun.get(one.name, 0) for one in alike] or [1]
            ratios.append(max(counts) / max(1, min(counts)))
        self.fairness = max(ratios)

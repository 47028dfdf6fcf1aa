"""One lane of one arm: begun, killed up to three times, resumed until it is done, and counted."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.matrix import striking
from harness.matrix.arms import name_of
from harness.matrix.work import NAMES
from standfast import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.matrix.arms import Arm
    from harness.matrix.places import Places
    from harness.matrix.striking import Strike
    from harness.matrix.work import Room

_TICK_S = 0.003
_SOON_S = 0.0003  # the place to strike is the next, and may be a short one
_LONGEST_LIFE_S = 60.0
_MOST_LIVES = 12
_LAST_WORDS = 2000


@dataclass(frozen=True, slots=True)
class Plan:
    """A kill to come: when this place or a later one is reached, and so long after."""

    index: int
    delay_s: float
    victim: str


@dataclass(slots=True)
class Told:
    """What became of one lane."""

    strikes: list[Strike] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)  # by whom the kill before it struck
    failed: int = 0  # how often the arm said that an effect failed, and a person had to see to it
    counted: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Effects that the arm calls done and that never happened."""
        return sum(not self.counted.get(name) for name in NAMES)

    @property
    def repeated(self) -> int:
        """How often an effect happened that had happened already."""
        return sum(times - 1 for times in self.counted.values() if times > 1)


class Trial:
    """One lane while it is tried."""

    def __init__(self, arm: Arm, room: Room) -> None:
        self.arm = arm
        self.room = room
        self.told = Told()
        self.where = arm.places(room)
        self._unanswered: set[str] = set()  # effects whose trees were struck, their arm alive
        self._spared: set[str] = set()  # effects that may not have finished their work

    def run(self, plans: Sequence[Plan], planned: Places, order: dict[str, int]) -> Told:
        """From the begin to the end, and the count."""
        waiting = list(plans)
        words = self.arm.begin(self.room)
        for _ in range(_MOST_LIVES):
            life = self._start(words)
            status = self._live(life, waiting, planned, order)
            if status > 0:
                self._help(status)
            if status == 0 or self.told.problems:
                break
            words = self.arm.resume(self.room)
        else:
            self.told.problems.append(f"not done after {_MOST_LIVES} lives: {self._last_words()}")
        if not striking.wait(self.room, _LONGEST_LIFE_S):
            self.told.problems.append("something of it never ended")
            striking.end(self.room)
        self.told.counted = self.room.counted()
        if not self.told.problems:
            self.told.problems += self.arm.audit(self.room, self._spared)
        return self.told

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        with open(self.room.at("said"), "ab") as said:
            return subprocess.Popen(
                words,
                cwd=self.room.repo,
                env=self.room.environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def _live(
        self,
        life: subprocess.Popen[bytes],
        waiting: list[Plan],
        planned: Places,
        order: dict[str, int],
    ) -> int:
        """One life of the orchestrator, and how it ended."""
        until = clock.monotonic_ns() + int(_LONGEST_LIFE_S * 1e9)
        reached = -1
        while life.poll() is None:
            reached = max(reached, order.get(planned.now(), -1))
            if waiting and reached >= waiting[0].index:
                self._strike(life, waiting.pop(0))
            if clock.monotonic_ns() > until:
                self.told.problems.append(f"stuck at {self.where.now()}: {self._last_words()}")
                striking.end(self.room)
            is_near = bool(waiting) and reached >= waiting[0].index - 1
            clock.pause(_SOON_S if is_near else _TICK_S)
        return int(life.returncode)

    def _strike(self, life: subprocess.Popen[bytes], plan: Plan) -> None:
        clock.pause(plan.delay_s)
        place = self.where.now()
        if life.poll() is not None:
            return  # it was faster
        done = striking.strike(self.room, life.pid, plan.victim)
        is_over = done.victim not in {striking.SUPERVISOR, striking.TREE}
        if is_over:
            life.wait()
        done.place = self.where.now() if is_over else place
        self._unanswered |= set() if is_over else done.effects
        self._spared |= done.effects
        self.told.strikes.append(done)

    def _help(self, status: int) -> None:
        """Do what a person does who is told; a failure that nobody caused is a finding."""
        asked = self.arm.answer(self.room, status)
        if asked is not None:
            self._note_asked(asked)
        elif self._unanswered:
            self.told.failed += 1
            counted = self.room.counted()
            for name in sorted(self._unanswered):
                if counted[name]:
                    self.room.tell(name)
            self._unanswered = set()
        else:
            self.told.problems.append(f"ended with {status} by itself: {self._last_words()}")

    def _note_asked(self, keys: Sequence[str]) -> None:
        """Each is laid to the last kill that took all that could know, and must have been named."""
        for key in keys:
            took = [each.victim for each in self.told.strikes if each.supervised]
            self.told.asked[took[-1] if took else "nobody"] += 1
            self._spared.add(name_of(key))
            if key not in self._last_words():
                self.told.problems.append(f"{key} is in doubt, and was not named")

    def _last_words(self) -> str:
        with open(self.room.at("said"), encoding="utf-8", errors="replace") as file:
            return file.read()[-_LAST_WORDS:]

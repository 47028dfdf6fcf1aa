"""Through the night: begun, killed, and brought back by `standfast resume`, until done.

Who asks is answered by a look into the ledger. A limit holds for a lane until it was seen parked:
so each of them parks, whatever dies around it.
"""

from __future__ import annotations

import json
import os
import random
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from harness.night import mind, striking
from harness.night.judge import Verdict, judge
from harness.night.world import BILL, PLACE, RUN, World
from harness.rig import wire, wire_responses
from standfast.errors.base import StandfastError
from standfast.journal.store import Journal
from standfast.runs.rules.lane_steps import PARKED

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence

    from harness.night.world import Lane
    from harness.rig.dialect import Dialect
    from harness.rig.script import Call

NEEDS = 115
_LOOK_AGAIN_S = 0.1
_SOONEST_S, _LATEST_S = 0.3, 7.0  # a life until the next kill
_THINKS_S = (0.1, 1.0)
_WAITS_S = 15.0  # at most, for kills that are behind
_PARKED = (
    "SELECT DISTINCT payload ->> 'phase', payload ->> 'lane' FROM events"
    " WHERE kind = 'lane.step' AND payload ->> 'state' = ?"
)
_WORDS = 3000


class Night:
    """One run, from its beginning to the morning."""

    def __init__(
        self,
        folder: str,
        lanes: Sequence[Lane],
        *,
        kills: int,
        seed: int,
        limited: Sequence[str] = (),
        longest_s: float = 3600,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.kills: list[str] = []
        self.asked: list[str] = []
        self.problems: list[str] = []
        self._kills, self._longest_s, self._tell = kills, longest_s, tell
        self._random, self._thinking = random.Random(seed), random.Random(seed + 1)
        self._victims = striking.drawn(seed, kills)
        self._limits = mind.Limits()
        self._limits.begin(*limited)
        self._waiting = set(limited)
        self._began = time.monotonic()
        self._open = ExitStack()
        bill = os.path.join(folder, PLACE, BILL)
        urls = {
            "claude": self._model(mind.for_claude, bill, wire).url,
            "codex": self._model(mind.for_codex, bill, wire_responses).url,
        }
        self.world = World(folder, urls, lanes)

    def _model(self, tool: Callable[[str], Call], bill: str, dialect: Dialect) -> mind.Thinking:
        made = mind.Thinking(mind.Mind(tool, bill, self._limits), dialect, self._think)
        return self._open.enter_context(made)

    def _think(self) -> float:
        """Longer while the work is ahead of the kills: these are to fall over the whole run."""
        until = time.monotonic() + _WAITS_S
        while self._is_ahead() and time.monotonic() < until:
            time.sleep(_LOOK_AGAIN_S)
        return self._thinking.uniform(*_THINKS_S)

    def _is_ahead(self) -> bool:
        done = len(self.world.paid()) / len(self.world.lanes)
        return len(self.kills) < min(self._kills, done * self._kills)

    def run(self) -> Verdict:
        """Go through it, and count in the morning."""
        words = ["run", self.world.plan]
        while self._live(words):
            words = ["resume"]
        return judge(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        striking.end(self.world)
        self._open.close()

    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self._began

    def _live(self, words: list[str]) -> bool:
        """One life of the orchestrator; whether there is to be another."""
        self._say(f"$ standfast {' '.join(map(os.path.basename, words))}")
        life = self.world.start(*words)
        strike = self._next_strike()
        while life.poll() is None:
            self._look()
            time.sleep(_LOOK_AGAIN_S)
            if self.seconds() > self._longest_s:
                self.problems.append(f"not over after {self._longest_s:g} s: {self.last_words()}")
                striking.end(self.world)
                life.wait()
                return False
            if len(self.kills) < self._kills and time.monotonic() > strike:
                self._strike(life)
                strike = self._next_strike()
        if life.returncode in (0, NEEDS):
            return life.returncode == NEEDS and self._answer()
        if life.returncode > 0:
            self.problems.append(f"it ended with {life.returncode}: {self.last_words()}")
        return life.returncode < 0

    def _next_strike(self) -> float:
        return time.monotonic() + self._random.uniform(_SOONEST_S, _LATEST_S)

    def _strike(self, life: subprocess.Popen[bytes]) -> None:
        wanted = self._victims[len(self.kills)]
        seen = striking.look(self.world)
        struck = striking.strike(self.world, life.pid, wanted, self._random)
        self.kills.append(struck)
        at_work = ", ".join(sorted(seen.agents)) or "nobody"
        self._say(f"kill -9 {struck} ({len(self.kills)} of {self._kills}); at work: {at_work}")
        if struck not in striking.LIVES_ON:
            life.wait()

    def _look(self) -> None:
        """What may not be at any moment, and who is parked."""
        for lane in striking.look(self.world).doubled:
            problem = f"two agents at once in {lane}"
            if problem not in self.problems:
                self.problems.append(problem)
                self._say(problem)
        for name in self.parked() & self._waiting:
            self._waiting.discard(name)
            self._limits.end(name)
            self._say(f"{name} is parked; its limit ends")

    def parked(self) -> set[str]:
        """The lanes that were parked so far, as the journal tells."""
        journal = Journal(os.path.join(self.world.repo, ".git", "standfast"), checkpoint=False)
        try:
            found = journal.query(_PARKED, (PARKED,)) if journal.exists else []
            return {f"{phase}-{lane}" for phase, lane in found}
        except StandfastError:
            return set()  # it is being made
        finally:
            journal.let_go()

    def _answer(self) -> bool:
        """What a person does who is asked: look into the ledger, and say what is there."""
        told = json.loads(self.world.call("ps", "--json").stdout)
        doubts = [each["key"] for each in told["effects"] if each["state"] == "in doubt"]
        for key in doubts:
            bill = "-".join(key.split("/")[2:4])
            answer = "done" if self.world.paid()[bill] else "again"
            done = self.world.call("settle", key, answer, "--by", RUN)
            self.asked.append(f"{key}: {answer}")
            self._say(f"asked about {key}: {answer} {done.stderr.strip()}")
        if not doubts:
            self.problems.append(f"it needs a person for something else: {self.last_words()}")
        return bool(doubts)

    def last_words(self) -> str:
        """The end of what Standfast said."""
        with open(self.world.said, encoding="utf-8", errors="replace") as said:
            return said.read()[-_WORDS:]

    def _say(self, words: str) -> None:
        self._tell(f"{self.seconds():6.1f} s  {self.world.paid().total():2} paid  {words}")

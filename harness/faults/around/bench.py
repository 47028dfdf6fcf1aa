"""Where one act after another is tried under some condition, and judged when that is over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import judge, perform, worlds
from harness.faults.acts import ACTS
from harness.faults.judge import Before
from harness.faults.look import look, whole_files
from harness.faults.worlds import Shelf

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from harness.faults.act import Act
    from harness.faults.look import Seen
    from harness.faults.perform import Answer
    from harness.faults.world import World

_FEW = 4  # levels, where not all are tried
_NOT_KEPT = 75  # as a hook says to its launcher, which then leaves a mark


class Setting(NamedTuple):
    """What a condition is given: where, by which dice, with which bug, and how much is wanted."""

    folder: str
    dice: random.Random
    plant: Callable[[], None]
    is_part: bool

    def bench(self) -> Bench:
        """A bench below the folder."""
        return Bench(os.path.join(self.folder, "shelf"), self.plant)

    def acts(self) -> list[Act]:
        """All of them; for a part in any order, and without those that start many processes."""
        acts = [act for act in ACTS.values() if not (self.is_part and act.dear)]
        return self.dice.sample(acts, len(acts)) if self.is_part else acts

    def levels(self, act: Act, levels: Sequence[int], low: int) -> Sequence[int]:
        """All of them; for a part, and for an act that is dear, some of the *low* ones."""
        if not (self.is_part or act.dear):
            return levels
        return sorted(self.dice.sample(levels[:low], min(low, _FEW)))


class Bench:
    """Acts in copies of their worlds, below one folder."""

    def __init__(self, folder: str, plant: Callable[[], None]) -> None:
        self._shelf = Shelf(folder)
        self._plant = plant
        self._before: dict[str, Before] = {}

    def fresh(self, act: Act) -> World:
        """A copy of the act's world."""
        return self._shelf.fresh(act.world)

    def before(self, act: Act) -> Before:
        """What its trials are measured against; found out once, with nothing in the way."""
        if act.name not in self._before:
            world = self.fresh(act)
            seen, files = seen_in(world), whole_files(world)
            answer = act.perform(world)
            self._before[act.name] = Before(seen, files, whole_files(world))
            assert answer.status == 0, f"{act.name} does not work at all: {answer}"
        return self._before[act.name]

    def perform(self, act: Act, world: World, limit: Callable[[], None] = lambda: None) -> Answer:
        """Do it in a process that first takes something from itself."""
        given = act.given(world)

        def work() -> int:
            self._plant()
            limit()
            if not act.is_hook:
                return act.do(world)
            try:
                return act.do(world)
            except OSError:
                return _NOT_KEPT  # Python leaves with a status that its launcher sees

        return perform.apart(world, work, given=given)

    def passed(self, act: Act, world: World, answer: Answer) -> bool:
        """Whether it did all that it does when nothing is in the way."""
        if answer.status != 0 or act.new is None:
            return answer.status == 0
        return act.new(seen_in(world)) > act.new(self.before(act).seen)

    def judged(self, act: Act, world: World, answer: Answer) -> list[str]:
        """What was lost, now that everything is as it should be again."""
        before = self.before(act)
        found = [*judge.spoken(act, answer), *judge.half_files(world, before)]
        found += judge.recovered(world, act, before, acknowledged=answer.status == 0)
        return [" ".join(finding) for finding in found]


def seen_in(world: World) -> Seen:
    """What a world's journal holds, without what waits outside of it."""
    journal = worlds.journal(world)
    try:
        return look(journal)
    finally:
        journal.let_go()

"""Which states of a recording are tried: from all its calls in turn, none of them twice."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from harness.faults.power import disk_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.power.disk_model import Cut, Tree
    from harness.faults.power.recording import Point, Recording

_DULL = 20  # draws in a row that brought nothing new: this call has no more to give


class State(NamedTuple):
    """One state of the disk to recover from."""

    point: Point
    number: int
    tree: Tree


def states(recording: Recording, seed: int, budget: int) -> Iterator[State]:
    """Different states, from all calls in turn, until there are enough or no more."""
    known: set[int] = set()
    dull = dict.fromkeys(range(len(recording.points)), 0)
    dice = random.Random(f"{seed}/{recording.script.name}")
    number = 0
    while dull:
        for at in dice.sample(list(dull), len(dull)):
            state = draw(recording, at, number, seed)
            key = hash((frozenset(state.tree.items()), state.point.expected[1:]))
            dull[at] = dull[at] + 1 if key in known else 0
            if dull[at] == _DULL:
                del dull[at]
            if key not in known:
                known.add(key)
                yield state
            if len(known) == budget:
                return
        number += 1


def draw(recording: Recording, at: int, number: int, seed: int) -> State:
    """The state of that number after that call."""
    point = recording.points[at]
    dice = random.Random(f"{seed}/{recording.script.name}/{at}/{number}")
    return State(point, number, disk_model.crash(point.moment, _cut(point, number, dice)))


def _cut(point: Point, number: int, dice: random.Random) -> Cut:
    """Nothing, everything, then by turns something between in order and any mixture."""
    inorder = disk_model.prefixes(point.moment)
    inorder = [inorder[0], inorder[-1], *inorder[1:-1]]
    if number < 2:  # noqa: PLR2004  # the first two
        return inorder[min(number, len(inorder) - 1)]
    if number % 2 and number // 2 + 1 < len(inorder):
        return inorder[number // 2 + 1]
    return disk_model.scattered(point.moment, dice)

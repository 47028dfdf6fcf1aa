"""One thing that somebody does: what it is made of, and how it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from harness.faults import perform

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.look import Seen
    from harness.faults.perform import Answer
    from harness.faults.world import World

WORD = "quicksilver"  # in every new fact of an act, and nowhere else
NEXT = ("status",)  # any command will do


class Act(NamedTuple):
    """One thing that somebody does in one world."""

    name: str
    covers: str  # the command, or `hook:EVENT`
    world: str
    do: Callable[[World], int]
    given: Callable[[World], bytes] = lambda _: b""  # what it reads on stdin
    new: Callable[[Seen], int] | None = None  # how often its new fact is there: once at most
    holds: Callable[[World, Seen], bool] | None = None  # what else its success promises
    recovery: tuple[str, ...] = NEXT  # what a person does when it was cut short
    repeats: bool = True  # doing it twice is no mistake
    drops: bool = False  # old events go, as it should be
    dear: bool = False  # starts many processes: a slice leaves most of it out

    @property
    def is_hook(self) -> bool:
        """A hook always exits 0; where it could keep its fact nowhere, a gap is told later."""
        return self.covers.startswith("hook:")

    def perform(self, world: World) -> Answer:
        """Do it there, in a process of its own."""
        return perform.apart(world, lambda: self.do(world), given=self.given(world))


def command(*arguments: str) -> Callable[[World], int]:
    """Call one of our commands."""
    return lambda _: perform.call(*arguments)


def decided(seen: Seen) -> int:
    """How often the new words are a decision."""
    return sum(WORD in text for text in seen.decisions.values())

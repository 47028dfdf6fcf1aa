"""Several indexes of a phase plan as one; those that contradict each other are an error. Pure.

One that only lists the waves says nothing of who waits for whom where another one does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted
from standfast.plans.readers import plan_words
from standfast.plans.readers.phase.lane_index import ORDERS
from standfast.plans.readers.phase.lane_needs import waits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Field
    from standfast.plans.readers.phase.lane_index import Entry
    from standfast.plans.readers.phase.lane_needs import Names

    Index = Mapping[str, Entry]

_AFTER, _PARALLEL = "depends on", "parallel safe"


class _Uniting(NamedTuple):
    """What is united, and what is said of it."""

    names: Names
    found: list[Finding]

    def befores(self, index: Index) -> dict[str, set[str]]:
        """Everybody that has to be done before each lane, near or far."""
        near: dict[str, set[str]] = {}
        for name, entry in index.items():
            near.setdefault(name, set()).update(self._meant(entry, _AFTER), entry.drawn)
            for other in self._meant(entry, "blocks"):
                near.setdefault(other, set()).add(name)
        return {name: _all_before(name, near) for name in near}

    def _meant(self, entry: Entry, key: str) -> set[str]:
        return set(waits(entry.get(key), entry.name, self.names, [], blocks=key == "blocks"))

    def compare(self, first: Index, other: Index) -> None:
        """What two indexes say otherwise of a lane that both speak of."""
        ours, theirs = self.befores(first), self.befores(other)
        both = first.keys() & other.keys()
        for name in [each for each in other if each in both]:
            one, two = first[name].get(_AFTER), other[name].get(_AFTER)
            if one and two and ours[name] & both != theirs[name] & both:
                said = (_listed(theirs[name] & both), _listed(ours[name] & both))
                words = f"{quoted(name)} waits for {said[0]} here, and for {said[1]}"
                self._tell(two, one, words)
            one, two = first[name].get(_PARALLEL), other[name].get(_PARALLEL)
            if one and two and {_says(one), _says(two)} == {True, False}:
                self._tell(two, one, f"{quoted(name)} is said to be parallel-safe otherwise than")

    def _tell(self, here: Field, there: Field, words: str) -> None:
        problem = f"{words} in line {there.line}"
        self.found.append(Finding(here.line, problem, "Let only one of them stand."))


def united(indexes: Sequence[Index], names: Names, found: list[Finding]) -> Index:
    """All that they say; each speaks for the lanes and keys of which those before say nothing."""
    uniting = _Uniting(names, found)
    made: dict[str, Entry] = {}
    for each in indexes:
        uniting.compare(made, each)
        for name, entry in each.items():
            kept = made.setdefault(name, entry)
            if kept is not entry:
                _join(kept, entry)
    return made


def _join(kept: Entry, other: Entry) -> None:
    for key, field in other.fields.items():
        first = kept.fields.setdefault(key, field)
        if first is not field and key in ORDERS - {_PARALLEL}:
            first.more.extend([field.start._replace(number=field.line, text=field.value),
                               *field.more])  # fmt: skip
    for lane, line in other.drawn.items():
        kept.drawn.setdefault(lane, line)


def _all_before(name: str, near: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    left = [name]
    while left:
        new = near.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def _says(field: Field) -> bool | None:
    return plan_words.yes_or_no(field.value)


def _listed(lanes: set[str]) -> str:
    return ", ".join(sorted(lanes)) or "nobody"

"""Which tasks a name means: by id, title, number, a range of either, their wave. Pure.

All tasks are looked at once: a plan names them tens of thousands of times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.plans.findings import Finding, quoted
from standfast.plans.readers.markdown_plan import first_word, unmarked
from standfast.plans.readers.mentions import Mentions
from standfast.plans.readers.team import task_numbers, wave_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.plans.readers.team.team_tasks import Step

_ONE = 1


class TaskIndex:
    """The tasks of a plan by everything by which they can be meant."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._order = [step.name for step in steps]
        self._place: dict[str, int] = {}
        self._last: dict[str, str] = {}  # by id or title, whichever stands last
        self._by_number: dict[str, list[str]] = {}
        self._below: dict[str, list[str]] = {}  # `1` -> 1.1, 1.2
        self._by_wave: dict[str, list[str]] = {}
        self._by_person: dict[str, list[str]] = {}
        self._mentions = Mentions()
        for place, step in enumerate(steps):
            self._add(place, step)
        by_title = {step.title.lower(): step.name for step in steps}
        self._by_id = by_title | {step.name.lower(): step.name for step in steps}

    def _add(self, place: int, step: Step) -> None:
        self._place.setdefault(step.name, place)
        self._last |= {step.name.lower(): step.name, step.title.lower(): step.name}
        self._by_number.setdefault(step.number, []).append(step.name)
        parts = step.number.split(".")
        for end in range(1, len(parts)):
            self._below.setdefault(".".join(parts[:end]), []).append(step.name)
        for field, known in ((step.get("spawn wave", "wave"), self._by_wave),
                             (step.get("assigned to"), self._by_person)):  # fmt: skip
            if field is not None:
                known.setdefault(unmarked(field.value).lower(), []).append(step.name)

    def named(self, said: str, line: int) -> list[str]:
        """The task that is meant and nothing else is said: by its id, its title or its number."""
        found = self._last.get(said.lower())
        names = [found] if found is not None else self._number(task_numbers.whole(said))
        return self._mentions.count(names, line)

    def resolve(self, said: str, line: int) -> list[str]:
        """The tasks that are meant: by id, by number, by a range of either, by their wave."""
        return self._mentions.count(self._resolve(said), line)

    def others(self, name: str, line: int) -> list[str]:
        """All but this one."""
        return self._mentions.count([each for each in self._order if each != name], line)

    def above(self, name: str, line: int) -> list[str]:
        """Those that stand before this one."""
        return self._mentions.count(self._order[: self._place[name]], line)

    def done_by(self, person: str, line: int) -> list[str]:
        """The tasks that a teammate is assigned to."""
        return self._mentions.count(self._by_person.get(person.lower(), []), line)

    def is_assumed(self, said: str) -> bool:
        """Whether several are meant by one name: their wave, or the number that they share."""
        return bool(self._in_wave(said)) or bool(task_numbers.whole(said))

    def doubtful(self, said: str, line: int) -> Iterator[Finding]:
        """What is to be said of a number that several tasks have."""
        number = task_numbers.first(said)
        names = self._by_number.get(number, []) if number else []
        if len(names) > _ONE and not self._resolve(said):
            problem = f"{quoted(said)} is the number of {' and of '.join(map(quoted, names))}"
            yield Finding(line, problem, "Write the Task ID.")

    def _resolve(self, said: str) -> list[str]:
        word = said.lower()
        if word in self._by_id:
            return [self._by_id[word]]
        if several := self._between(word) or self._range(said):
            return several
        if (first := first_word(said).lower()) in self._by_id:
            return [self._by_id[first]]
        return self._in_wave(said) or self._number(task_numbers.first(said))

    def _in_wave(self, said: str) -> list[str]:
        """The tasks of the wave that is named, and of nothing else."""
        wave = wave_names.heading(said)
        return [] if wave is None or wave.rest else self._by_wave.get(str(wave.number), [])

    def _number(self, number: str) -> list[str]:
        if not number:
            return []
        found = self._by_number.get(number, [])
        return (found if len(found) == _ONE else []) if found else self._below.get(number, [])

    def _range(self, said: str) -> list[str]:
        """The tasks from one number to the other, in the order in which they stand."""
        first, last = map(self._number, task_numbers.span(said))
        return self._through(first[0], last[-1]) if first and last else []

    def _between(self, said: str) -> list[str]:
        """The tasks of `T1-T3`, in the order in which they stand."""
        for first, last in task_numbers.ends(said):
            if first in self._by_id and last in self._by_id:
                return self._through(self._by_id[first], self._by_id[last])
        return []

    def _through(self, first: str, last: str) -> list[str]:
        return self._order[self._place[first] : self._place[last] + 1]

"""The numbers of tasks, and which tasks a name means: `3`, `1.2`, `B`, `T1-T3`, `Wave 1`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.plans.findings import Finding, quoted
from standfast.plans.readers.markdown_plan import first_word, unmarked
from standfast.plans.readers.team import wave_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.plans.readers.team.team_tasks import Step

_NUMBER = r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}(?-i:[a-h])?(?![A-Za-z0-9])"
HEADED = re.compile(
    rf"(?:(?:tasks?|steps?)?\s*#?({_NUMBER})\s*(?:[.):—\u2013-]+\s*|\s+|$)"
    r"|(?:tasks?|steps?)\s+#?([a-z])\s*(?:[.):—\u2013-]+\s*|$)|([a-z])[.)]\s+)",
    re.IGNORECASE,
)
_MEANT = re.compile(rf"(?:tasks?|steps?)?\s*#?({_NUMBER}|[a-z](?![\w-]))", re.IGNORECASE)
_RANGE = re.compile(
    rf"(?:tasks?|steps?)?\s*#?({_NUMBER})\s*(?:-|\u2013|to|through)\s*#?({_NUMBER})", re.IGNORECASE
)
_TO = re.compile(r"\s*(?:\.\.\.?|…|\u2013|—|-|\bto\b|\bthrough\b)\s*", re.IGNORECASE)
_LONGEST_RANGE = 160
_FIRST = 1
_ONE, _TWO = 1, 2


def of(name: str) -> str:
    """The number of a heading, in the form in which numbers are compared; empty if none."""
    said = HEADED.match(name)
    return "" if said is None else (said[1] or said[2] or said[3]).lower()


def named(said: str, steps: Sequence[Step]) -> list[str]:
    """The task that is meant and nothing else is said: by its id, its title or its number."""
    ids = [step.name for step in steps if said.lower() in (step.name.lower(), step.title.lower())]
    return ids[-1:] or (_by_number(said, steps) if _MEANT.fullmatch(said) else [])


def is_assumed(said: str, steps: Sequence[Step]) -> bool:
    """Whether several tasks are meant by one name: their wave, or the number that they share."""
    return bool(in_wave(said, steps)) or _MEANT.fullmatch(said) is not None


def resolve(said: str, steps: Sequence[Step]) -> list[str]:
    """The tasks that are meant: by id, by number, by a range of either, by their wave."""
    by_title = {step.title.lower(): step.name for step in steps}
    by_id = by_title | {step.name.lower(): step.name for step in steps}
    if said.lower() in by_id:
        return [by_id[said.lower()]]
    if several := _between(said.lower(), by_id, steps) or _range(said, steps):
        return several
    if (first := first_word(said).lower()) in by_id:
        return [by_id[first]]
    return in_wave(said, steps) or _by_number(said, steps)


def in_wave(said: str, steps: Sequence[Step]) -> list[str]:
    """The tasks of the wave that is named, and of nothing else."""
    wave = wave_names.heading(said)
    if wave is None or wave.rest:
        return []
    return [step.name for step in steps if _wave_of(step) == str(wave.number)]


def _wave_of(step: Step) -> str:
    field = step.get("spawn wave", "wave")
    return unmarked(field.value) if field else ""


def _by_number(said: str, steps: Sequence[Step]) -> list[str]:
    number = _MEANT.match(said)
    if number is None:
        return []
    word = number[_FIRST].lower()
    found = [step.name for step in steps if step.number == word]
    found = found or [step.name for step in steps if step.number.startswith(f"{word}.")]
    is_one = len(found) == _ONE or not any(step.number == word for step in steps)
    return found if is_one else []


def _range(said: str, steps: Sequence[Step]) -> list[str]:
    """The tasks from one number to the other, in the order in which they stand."""
    span = _RANGE.fullmatch(said) if len(said) <= _LONGEST_RANGE else None
    ends = [_by_number(span[at], steps) for at in (_ONE, _TWO)] if span else []
    if not ends or not all(ends):
        return []
    names = [step.name for step in steps]
    return names[names.index(ends[0][0]) : names.index(ends[1][-1]) + 1]


def _between(said: str, by_id: Mapping[str, str], steps: Sequence[Step]) -> list[str]:
    """The tasks of `T1-T3`, in the order in which they stand."""
    for mark in _TO.finditer(said) if len(said) <= _LONGEST_RANGE else ():
        ends = said[: mark.start()], said[mark.end() :]
        if all(each in by_id for each in ends):
            names = [step.name for step in steps]
            return names[names.index(by_id[ends[0]]) : names.index(by_id[ends[1]]) + 1]
    return []


def doubtful(said: str, line: int, steps: Sequence[Step]) -> Iterator[Finding]:
    """What is to be said of a number that several tasks have."""
    number = _MEANT.match(said)
    names = [step.name for step in steps if number and step.number == number[_FIRST].lower()]
    if len(names) > _ONE and not resolve(said, steps):
        problem = f"{quoted(said)} is the number of {' and of '.join(map(quoted, names))}"
        yield Finding(line, problem, "Write the Task ID.")

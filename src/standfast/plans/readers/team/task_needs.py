"""Whom a task of a team plan waits for, in whatever words. Pure.

`1, 2`, `T1-T3`, `Wave 1`, `all previous tasks`, `nothing, can go with 1`. Whatever was assumed is
told; what cannot be understood stays as it stands, and is no task.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.team import task_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.plans.readers.markdown_plan import Field
    from standfast.plans.readers.team.team_tasks import Step

_ALL = re.compile(r"(?:all|every|everything)\b([a-z ]*)(?:\([^()]*\))?", re.IGNORECASE)
_OTHERS = frozenset(["other", "others", "else"])
_AROUND = """
the of above previous earlier before prior preceding task tasks step steps id ids builder builders
implementation build
"""
_WORDS = _OTHERS | frozenset(_AROUND.split())
_BESIDE = re.compile(
    r"\b(?:with|alongside|beside|besides|parallel|concurrently?|independent(?:ly)?|not|no|without"
    r"|before|except|but)\b",
    re.IGNORECASE,
)  # words that say the opposite
_LEAD = re.compile(
    r"(?:can |must |only |both )?(?:(?:starts?|runs?|begins?|goes?|go) )?(?:only )?"
    r"(?:after |once |both |until )",
    re.IGNORECASE,
)
_NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_IDS_ONLY = "Write Task IDs, with commas between them."


class _Need(NamedTuple):
    """One thing that a field says, the tasks that it means, and what is to be said of it."""

    line: int
    names: list[str]
    told: list[Finding]


def after_of(step: Step, steps: list[Step]) -> dict[str, int]:
    """What a task waits for, with the line; a name that leads nowhere stays as it is."""
    found: dict[str, int] = {}
    for need in _needs(step, steps):
        for name in need.names:
            found.setdefault(name, need.line)
    return found


def assumed(step: Step, steps: list[Step]) -> Iterator[Finding]:
    """The words that were taken for names of tasks, or for none."""
    for need in _needs(step, steps):
        yield from need.told


def _needs(step: Step, steps: list[Step]) -> Iterator[_Need]:
    field = step.get("depends on", "dependencies")
    for line, text in _texts(field) if field else ():
        is_none = False
        for each in plan_words.apart(text):
            if plan_words.is_none(each):
                is_none = True
                yield _Need(line, [], _beside(each, line, step, steps))
            elif is_none:
                yield _Need(line, [], _beside(each, line, step, steps, is_told=True))
            else:
                yield _need(each, line, step, steps)


def _texts(field: Field) -> Iterator[tuple[int, str]]:
    yield field.line, field.value
    yield from ((line.number, line.words) for line in field.more if not line.fenced)


def _need(said: str, line: int, step: Step, steps: list[Step]) -> _Need:
    """What one thing means that is not nothing."""
    if names := every(said, step, steps):
        return _Need(line, names, [_taken(said, line, names)])
    if names := task_numbers.named(said, steps):
        return _Need(line, names, [])
    bare = _LEAD.sub("", said, count=1)
    names = task_numbers.resolve(bare, steps)
    if _BESIDE.search(said):
        return _Need(line, [] if not names else [said], _beside(said, line, step, steps,
                                                                is_told=True))  # fmt: skip
    if not names:
        return _Need(line, [said], list(task_numbers.doubtful(said, line, steps)))
    is_plain = len(names) == 1 or not task_numbers.is_assumed(bare, steps)
    return _Need(line, names, [] if is_plain else [_taken(said, line, names)])


def _taken(said: str, line: int, names: list[str]) -> Finding:
    return warning(line, f"{quoted(said)} is taken for {', '.join(names)}")


def _beside(
    said: str, line: int, step: Step, steps: list[Step], *, is_told: bool = False
) -> list[Finding]:
    """What is said beside `none`: that it names a task and does not wait for it, or might."""
    words = (each.rstrip(".") for each in _NAMES.findall(said))
    names = [each for each in words
             if each != step.name and task_numbers.named(each, steps)]  # fmt: skip
    if names and not _BESIDE.search(said):
        problem = f"{quoted(said)} stands beside `none`, and names {', '.join(names)}"
        return [Finding(line, problem, _IDS_ONLY)]
    if names or is_told:
        problem = f"{quoted(said)} is not taken for something that it waits for"
        return [warning(line, problem)]
    return []


def every(said: str, step: Step, steps: list[Step]) -> list[str]:
    """The tasks that `all previous tasks` means: those above, or all others if it says so."""
    rest = _ALL.fullmatch(said)
    words = set(rest[1].lower().split()) if rest else {"none of them"}
    if not words <= _WORDS:
        return []
    names = [each.name for each in steps if each.name != step.name]
    if not words.isdisjoint(_OTHERS):
        return names
    return list(takewhile(lambda name: name != step.name, (each.name for each in steps)))

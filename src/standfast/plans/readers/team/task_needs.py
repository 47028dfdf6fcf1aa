"""Whom a task of a team plan waits for, in whatever words. Pure.

`1, 2`, `T1-T3`, `Wave 1`, `all previous tasks`, `nothing, can go with 1`. Whatever was assumed is
told; what cannot be understood stays as it stands, and is no task.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.team.task_index import TaskIndex
from standfast.text import one_line

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
_SHOWN = 600  # characters of names: they can be hundreds
_IDS_ONLY = "Write Task IDs, with commas between them."


class _Need(NamedTuple):
    """One thing that a field says, the tasks that it means, and what is to be said of it."""

    line: int
    names: list[str]
    told: list[Finding]


def needs_of(steps: list[Step], found: list[Finding]) -> dict[int, dict[str, int]]:
    """What each task waits for, by the line of its heading: names, each with the line that says so.

    A name that leads nowhere stays as it is; what was assumed is told.
    """
    tasks = TaskIndex(steps)
    made: dict[int, dict[str, int]] = {}
    for step in steps:
        named = made.setdefault(step.line, {})
        for need in _needs(step, tasks):
            found += need.told
            for name in need.names:
                named.setdefault(name, need.line)
    return made


def _needs(step: Step, tasks: TaskIndex) -> Iterator[_Need]:
    field = step.get("depends on", "dependencies")
    for line, text in _texts(field) if field else ():
        is_none = False
        for each in plan_words.apart(text):
            if plan_words.is_none(each):
                is_none = True
                yield _Need(line, [], _beside(each, line, step, tasks))
            elif is_none:
                yield _Need(line, [], _beside(each, line, step, tasks, is_told=True))
            else:
                yield _need(each, line, step, tasks)


def _texts(field: Field) -> Iterator[tuple[int, str]]:
    yield field.line, field.value
    yield from ((line.number, line.words) for line in field.more if not line.fenced)


def _need(said: str, line: int, step: Step, tasks: TaskIndex) -> _Need:
    """What one thing means that is not nothing."""
    if names := _every(said, line, step, tasks):
        return _Need(line, names, [_taken(said, line, names)])
    if names := tasks.named(said, line):
        return _Need(line, names, [])
    bare = _LEAD.sub("", said, count=1)
    names = tasks.resolve(bare, line)
    if _BESIDE.search(said):
        return _Need(line, [] if not names else [said], _beside(said, line, step, tasks,
                                                                is_told=True))  # fmt: skip
    if not names:
        return _Need(line, [said], list(tasks.doubtful(said, line)))
    is_plain = len(names) == 1 or not tasks.is_assumed(bare)
    return _Need(line, names, [] if is_plain else [_taken(said, line, names)])


def _taken(said: str, line: int, names: list[str]) -> Finding:
    shown = one_line(", ".join(names), _SHOWN)
    return warning(line, f"{quoted(said)} is taken for {shown}")


def _beside(
    said: str, line: int, step: Step, tasks: TaskIndex, *, is_told: bool = False
) -> list[Finding]:
    """What is said beside `none`: that it names a task and does not wait for it, or might."""
    words = (each.rstrip(".") for each in _NAMES.findall(said))
    names = [each for each in words
             if each != step.name and tasks.named(each, line)]  # fmt: skip
    if names and not _BESIDE.search(said):
        problem = f"{quoted(said)} stands beside `none`, and names {', '.join(names)}"
        return [Finding(line, problem, _IDS_ONLY)]
    if names or is_told:
        problem = f"{quoted(said)} is not taken for something that it waits for"
        return [warning(line, problem)]
    return []


def _every(said: str, line: int, step: Step, tasks: TaskIndex) -> list[str]:
    """The tasks that `all previous tasks` means: those above, or all others if it says so."""
    rest = _ALL.fullmatch(said)
    words = set(rest[1].lower().split()) if rest else {"none of them"}
    if not words <= _WORDS:
        return []
    is_above = words.isdisjoint(_OTHERS)
    return tasks.above(step.name, line) if is_above else tasks.others(step.name, line)

"""In which wave each task of a team plan is done. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import markdown_tables, plan_words
from standfast.plans.readers.markdown_plan import section, unmarked
from standfast.plans.readers.plan_numbers import whole
from standfast.plans.readers.team.task_index import TaskIndex
from standfast.plans.readers.team.team_tasks import SECTIONS, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Block, Line
    from standfast.plans.readers.team.team_members import Member

_WAVE = re.compile(r"(?i:wave)\s+([0-9]{1,4})\b[\s:]*")
_NUMBER = re.compile(r"[0-9]{1,4}")
_WHO = ("teammates", "teammate", "members", "team members", "who", "agents")
_WHAT = ("tasks", "task", "task ids", "what")
_DASH = re.compile(r"\s(?:-|--|—|\u2013)\s")


def listed(blocks: Sequence[Block], steps: list[Step], found: list[Finding]) -> dict[str, int]:
    """The waves of tasks by `Wave N: teammates - tasks`; without tasks, all that these do.

    Also as a table, and as a list below each wave.
    """
    waves: dict[str, int] = {}
    index = TaskIndex(steps)
    for block in section(blocks, ("spawn waves",), SECTIONS):
        tables, lines = markdown_tables.tables(block.lines, found)
        said = [*_rows(tables, found), *_lines(block, lines, found)]
        for line, wave, who, what in said:
            for each in plan_words.apart(what or who):
                known = index.resolve(each, line) or index.done_by(each, line)
                waves |= {name: wave for name in known if what or name not in waves}
                if not known:
                    problem = f"{quoted(each)} is neither a task nor a teammate who has one"
                    found.append(warning(line, problem))
    return waves


def _lines(
    block: Block, lines: Sequence[Line], found: list[Finding]
) -> Iterator[tuple[int, int, str, str]]:
    head = _WAVE.match(block.name)
    wave = int(head[1]) if head else 0
    for line in lines:
        words = unmarked(line.words)
        said = None if line.fenced else _WAVE.match(words)
        if said is not None:
            wave = int(said[1])
            words = words[said.end() :]
        if wave and words and (said is not None or line.is_bullet):
            who, _, what = _DASH.sub("\n", words, count=1).partition("\n")
            yield line.number, wave, who, what
        elif words and said is None:
            found.append(warning(line.number, f"{quoted(line.words)} is not read"))


def _rows(
    tables: Sequence[markdown_tables.Table], found: list[Finding]
) -> Iterator[tuple[int, int, str, str]]:
    for table in tables:
        who = next((head for head in _WHO if head in table.heads), "")
        what = next((head for head in _WHAT if head in table.heads), "")
        for row in table.rows:
            said = _NUMBER.search(row.cells.get("wave", ""))
            if said and (who or what):
                names, tasks = (unmarked(row.cells.get(each, "")) for each in (who, what))
                yield row.line, int(said[0]), names, tasks
            else:
                found.append(warning(row.line, "this row of the waves is not read"))


def waves_of(
    steps: list[Step],
    team: Mapping[str, Member],
    listed: Mapping[str, int],
    needs: Mapping[int, Mapping[str, int]],
    found: list[Finding],
) -> dict[str, int]:
    """The wave of each task: its own word, else the list's, else its teammate's."""
    waves: dict[str, int] = {}
    for step in steps:
        own = whole(step.get("spawn wave", "wave"), 1, 1_000, found)
        member = member_of(step, team)
        theirs = listed.get(step.name) or (member.wave if member else None)
        if own is not None and step.name in listed and listed[step.name] != own:
            field = step.get("spawn wave", "wave")
            line = field.line if field else step.line
            problem = f"the list of waves puts {quoted(step.name)} into wave {listed[step.name]}"
            found.append(warning(line, problem, f"It goes into wave {own}, as it says here."))
        wave = own or theirs
        if wave is not None:
            waves[step.name] = wave
    for step in steps if waves else ():
        if step.name not in waves:
            before = [waves[each] for each in needs[step.line] if each in waves]
            waves[step.name] = max(before, default=min(waves.values()))
            problem = f"{quoted(step.name)} has no Spawn Wave; it goes into {waves[step.name]}"
            found.append(warning(step.line, problem))
    return waves


def member_of(step: Step, team: Mapping[str, Member]) -> Member | None:
    """Who does a task, if that is a member of the team."""
    said = step.get("assigned to")
    return team.get(unmarked(said.value).lower()) if said else None

"""Markdown phase plans of the checkpoint protocol: swim lanes with tables of tasks. Pure.

The index says who depends on whom, the sections under Swim Lanes what is to be done. Retries, which
had no place there, have one: a line `Retries: 2` in a lane, or before the first section for all.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from standfast.errors import BadName
from standfast.protocol import ids, plan_alone, plan_words
from standfast.protocol.lane_spec import MOST_RETRIES
from standfast.protocol.plan import FIRST_PHASE, Phase, Plan
from standfast.protocol.plan_checks import MOST_LANES
from standfast.protocol.plan_findings import Finding, quoted, warning
from standfast.protocol.plan_markdown import Line, body, fields, section, take_apart
from standfast.protocol.plan_numbers import whole
from standfast.protocol.plan_phase_index import index
from standfast.protocol.plan_phase_lanes import KEYS, Lanes
from standfast.protocol.plan_phase_tasks import Swimmer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.protocol.plan_markdown import Block

LANES = ("swim lanes", "swim lane", "swimlanes", "lanes")
INDEX = ("lane index and dependencies", "lane index", "lane dependencies")
TESTS = ("test execution plan",)
CRITERIA = ("acceptance criteria",)
SECTIONS = frozenset(
    (*LANES, *INDEX, *TESTS, *CRITERIA, "interface freeze gates", "overview", "notes", "risks",
     "execution notes", "open questions")
)  # fmt: skip
INNER = (*KEYS, "notes")  # headings that a lane may have
_ID = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?::|—|\u2013|--|\s-\s|$)\s*")
_OUTSIDE = re.compile(r"SL-[A-Za-z0-9]")
_LONGEST_CRITERIA = 2_000


def is_one(blocks: Sequence[Block]) -> bool:
    """Whether a text has a heading that only such plans have."""
    names = {block.key for block in blocks}
    return not names.isdisjoint((*LANES[:3], *INDEX))


def read(text: str, run: str) -> tuple[Plan | None, list[Finding]]:
    """The plan, and what is to be said of it."""
    blocks, found = take_apart(text, SECTIONS)
    inside = section(blocks, LANES, SECTIONS, INNER)
    swimmers = _swimmers(inside, found)
    found += _outside(blocks, inside)
    if not swimmers:
        line = next((block.line for block in blocks if block.key in LANES), 1)
        remedy = "Write them under `Swim Lanes`, each with a heading such as `SL-1 -- Schema`."
        return None, [*found, Finding(line, "there are no lanes", remedy)]
    if len(swimmers) > MOST_LANES:
        return None, [Finding(1, f"{len(swimmers):,} lanes; a plan has {MOST_LANES:,} at most")]
    names = {each.name.lower(): each.name for each in swimmers}
    entries = index(section(blocks, INDEX, SECTIONS), names, found)
    name, title, line = _phase(blocks, found)
    lanes = Lanes(swimmers, names, entries, _criteria(blocks), found)
    phase = Phase(name, lanes.made(), title=title, line=line)
    alone = {each.name for each in swimmers if lanes.is_alone(each)}
    tests = section(blocks, TESTS, SECTIONS)
    commands = [each for block in tests for each in plan_words.block_commands(block.lines)]
    return (
        Plan(
            run,
            (plan_alone.set_apart(phase, alone),),
            test=plan_words.script(commands),
            retries=_retries(blocks, found),
            kind="phase",
            said={"test": tests[0].line} if tests else {},
        ),
        found,
    )


def _outside(blocks: Sequence[Block], inside: Sequence[Block]) -> list[Finding]:
    """Lanes that nobody would find: no plan is read by half."""
    seen = {block.line for block in (*inside, *section(blocks, INDEX, SECTIONS))}
    return [
        Finding(block.line, f"{quoted(block.name)} does not stand under Swim Lanes", "Move it.")
        for block in blocks
        if block.line not in seen and _OUTSIDE.match(block.name)
    ]


def _phase(blocks: Sequence[Block], found: list[Finding]) -> tuple[str, str, int]:
    """Name, title and line of the phase, from the first heading: `P1: Foundation`."""
    before = list(takewhile(lambda block: block.key not in SECTIONS, blocks))
    head = next((block for block in before if block.name), None)
    words = re.sub(r"^phase\s+(?=\S)", "", head.name, flags=re.IGNORECASE) if head else ""
    said = _ID.match(words)
    if head is None or said is None:
        line = head.line if head else 1
        problem = "the plan has no heading such as `# P1: Foundation`"
        found.append(warning(line, problem, f"Its phase is called {FIRST_PHASE}."))
        return FIRST_PHASE, words, line
    try:
        return ids.name(said[1], what="the phase"), words[said.end() :].strip(), head.line
    except BadName as error:
        found.append(Finding(head.line, error.problem, error.remedy))
        return FIRST_PHASE, words, head.line


def _retries(blocks: Sequence[Block], found: list[Finding]) -> int:
    """What is said before the first section holds for all lanes."""
    for block in blocks:
        if block.key in SECTIONS:
            return 0
        for field in fields(block.lines, ("retries",))[0]:
            if field.key == "retries":
                return whole(field, 0, MOST_RETRIES, found) or 0
    return 0


def _swimmers(blocks: Sequence[Block], found: list[Finding]) -> list[Swimmer]:
    """A heading that begins with an id is a lane; one that is a key belongs to the lane before."""
    made: list[Swimmer] = []
    for block in blocks:
        said = _lane_id(block, made)
        if block.key in LANES:
            _refuse_loose(block, found)
        elif said is not None:
            made.append(_swimmer(block, said, found))
        elif made:
            made[-1].lines.extend(_under_key(block))
        else:
            problem = f"{quoted(block.name)} is no lane"
            found.append(warning(block.line, problem, "A lane is headed like `SL-1 -- Schema`."))
    return made


def _lane_id(block: Block, made: list[Swimmer]) -> re.Match[str] | None:
    """The id that a heading begins with; a word inside a lane is one only if it looks like one."""
    said = _ID.match(block.name)
    if said is None or block.key in KEYS:
        return None
    looks = "-" in said[1] or any(char.isdigit() for char in said[1])
    is_inside = bool(made) and block.level > made[-1].level
    return said if looks or (not is_inside and said.end() < len(block.name)) else None


def _refuse_loose(block: Block, found: list[Finding]) -> None:
    """A table right below `Swim Lanes` belongs to no lane."""
    for line in block.lines:
        if not line.fenced and line.text.lstrip().startswith("|"):
            problem = "a table stands here before any lane"
            found.append(Finding(line.number, problem, "Put it below the heading of its lane."))
            return


def _under_key(block: Block) -> list[Line]:
    """A heading that is a key, as the line with that key."""
    return [Line(block.line, f"**{block.name}**:"), *block.lines]


def _swimmer(block: Block, said: re.Match[str], found: list[Finding]) -> Swimmer:
    title = block.name[said.end() :].strip()
    try:
        name = ids.name(said[1], what="the lane")
    except BadName as error:
        found.append(Finding(block.line, error.problem, error.remedy))
        name = said[1]
    return Swimmer(name, title, block, list(block.lines))


def _criteria(blocks: Sequence[Block]) -> str:
    """When the phase is done: only what stands in a section of its own, not in a lane."""
    inside = {block.line for block in section(blocks, LANES, SECTIONS, INNER)}
    found = [block for block in blocks if block.key in CRITERIA and block.line not in inside]
    return body(found[-1].lines)[:_LONGEST_CRITERIA] if found else ""

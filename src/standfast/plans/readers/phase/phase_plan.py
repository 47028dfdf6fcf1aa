"""Markdown phase plans of the checkpoint protocol: swim lanes with tables of tasks. Pure.

The index says who depends on whom, the sections under Swim Lanes what is to be done. Retries, which
had no place there, have one: a line `Retries: 2` in a lane, or before the first section for all.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, takewhile
from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import BadName
from standfast.plans.checks import exclusive_lanes
from standfast.plans.checks.plan_checks import MOST_LANES
from standfast.plans.findings import WARNING, Finding, quoted, warning
from standfast.plans.lane_spec import MOST_RETRIES
from standfast.plans.model import FIRST_PHASE, Phase, Plan
from standfast.plans.readers import blank_plans, test_commands
from standfast.plans.readers.markdown_plan import (
    Block,
    Line,
    fields,
    section,
    take_apart,
    whole_body,
)
from standfast.plans.readers.mentions import Mentions
from standfast.plans.readers.phase import (
    index_facts,
    index_places,
    index_union,
    interface_gates,
    said_waves,
    test_list,
)
from standfast.plans.readers.phase.lane_index import bare, index
from standfast.plans.readers.phase.lane_needs import Names, words_of
from standfast.plans.readers.phase.lane_tasks import Swimmer
from standfast.plans.readers.phase.swim_lanes import KEYS, Lanes
from standfast.plans.readers.plan_numbers import whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from standfast.plans.readers.phase.lane_index import Entry

LANES = ("swim lanes", "swim lane", "swimlanes", "lanes")
INDEX = ("lane index and dependencies", "lane index", "lane dependencies", "lanes index")
TESTS = ("test execution plan", "test plan", "tests")
CRITERIA = ("acceptance criteria",)
GATES = ("interface freeze gates", "interface gates", "freeze gates")
SECTIONS = frozenset(
    (*LANES, *INDEX, *TESTS, *CRITERIA, *GATES, "overview", "notes", "risks",
     "execution notes", "open questions")
)  # fmt: skip
INNER = (*KEYS, "notes")  # headings that a lane may have
_ID = re.compile(
    r"(SL-[A-Za-z0-9._-]*[A-Za-z0-9](?![\w.-]*\w)"
    r"(?!\W{0,8}(?:(?:and|or|to|through|then)\W{1,4})?SL-)(?!\s+(?:and|or|to)\b)"
    r"|P[0-9]{1,4}[a-z]?(?=\s+\w)(?!\s+(?:and|or|to|through)\b)"
    r"|[A-Za-z0-9][A-Za-z0-9._-]*(?=\s*(?::|—|\u2013|--|\s-\s|$)))"
    r"\s*(?:[:—\u2013·•|/~=»→>.,\]]+|--|-\s)?\s*"
)
_NAMES_ONE = re.compile(r"(?<![\w-])SL-[A-Za-z0-9]", re.IGNORECASE)
_HEADED = "A lane is headed like `SL-1 -- Schema`."
_OUTSIDE = re.compile(r"SL-[A-Za-z0-9._-]+")
_BEFORE = re.compile(
    r"^(?:(?:implementation )?(?:plan|phase)\b[\s:\u2013—-]*(?=\S))+", re.IGNORECASE
)
_SIGNS = re.compile(r"^[^\w(\[{<`]+")  # a picture in front
_SAID = re.compile(
    r"\A---[ \t]*\n(?:(?!---|phase\b).*\n)*phase[ \t]*:[ \t]*[\"']?"
    r"(?:phase[ \t]*)?(P?[0-9]{1,4}[a-z]?)\b",
    re.IGNORECASE,
)  # what the head of the file says
_NUMBER = re.compile(r"([0-9]{1,4}[a-z]?)(?=\s|:|$|\.\s|\))")
_PLAN = re.compile(
    r"^([A-Za-z0-9._-]{1,64}?)(?:[ -]+(?:phase|implementation))?[ -]+plan\b"
    r"(?=\s*(?:[:—\u2013(]|--?\s|$))",
    re.IGNORECASE,
)
_PARTS = 3  # of a gate's name before the words: IF, a number, the phase
_LONGEST_CRITERIA = 2_000
_LONGEST_HEAD = 4_000
_PHASE = re.compile(r"\bp(?:hase)?[ -]?[0-9]", re.IGNORECASE)


def is_one(blocks: Sequence[Block]) -> bool:
    """Whether a text has a heading that only such plans have."""
    names = {block.key for block in blocks}
    return (
        not names.isdisjoint((*LANES[:3], *INDEX))
        or any(map(index_places.is_headed, blocks))
        or any(map(_is_lane, blocks))
    )


def read(text: str, run: str) -> tuple[Plan | None, list[Finding]]:
    """The plan, and what is to be said of it."""
    blocks, found = take_apart(text, SECTIONS, INNER)
    _say_phase(blocks, text)
    headed = index_places.headed(blocks, SECTIONS)
    rest = [block for block in blocks if block.line not in headed.lines]
    inside = _inside(rest, found)
    template = blank_plans.placeholders(blocks, inside)
    if template:
        return None, template
    spoken = _spoken(rest, inside)
    swimmers = _swimmers(inside, found, {block.line for group in spoken for block in group})
    indexes = [*headed.indexes, *spoken]
    found += _outside(blocks, [*inside, *chain(*indexes)], {each.name.lower() for each in swimmers})
    if not swimmers:
        line = next((block.line for block in blocks if block.key in LANES), 1)
        remedy = "Write them under `Swim Lanes`, each with a heading such as `SL-1 -- Schema`."
        return None, [*found, Finding(line, "there are no lanes", remedy)]
    if len(swimmers) > MOST_LANES:
        return None, [Finding(1, f"{len(swimmers):,} lanes; a plan has {MOST_LANES:,} at most")]
    for each in swimmers:
        each.take_apart(KEYS, found)
    return _plan(run, rest, inside, swimmers, indexes, found), found


def _plan(
    run: str,
    blocks: Sequence[Block],
    inside: Sequence[Block],
    swimmers: list[Swimmer],
    indexes: Sequence[Sequence[Block]],
    found: list[Finding],
) -> Plan:
    name, title, line = _phase(blocks, found)
    lanes = {each.name.lower(): each.name for each in swimmers}
    freeze = section(blocks, GATES, SECTIONS)
    titles = {each.title.lower(): each.name for each in swimmers if each.title}
    names = Names(
        lanes,
        titles,
        {name: each.name for each in swimmers for name in (each.name, *each.task_names) if name},
        interface_gates.gates(name, swimmers, freeze, lanes, found),
        words_of(lanes, titles),
        Mentions(),
    )
    entries = _entries(indexes, names, found)
    index_facts.give(swimmers, entries, found)
    entries = said_waves.give(swimmers, inside, entries, found)
    tests = section(blocks, TESTS, SECTIONS)
    commands, of_lanes = test_list.read(tests, lanes, found)
    criteria = _criteria(blocks)
    made = Lanes(swimmers, names, entries, criteria, found, of_lanes)
    phase = Phase(name, made.made(), title=title, line=line, done=criteria)
    alone = {each.name: made.alone_line(each) for each in swimmers if made.is_alone(each)}
    apart = exclusive_lanes.set_apart(phase, alone)
    found += exclusive_lanes.told(phase, apart, alone)
    return Plan(
        run,
        (apart,),
        test=test_commands.script(commands),
        retries=_retries(blocks, found),
        kind="phase",
        said={"test": tests[0].line} if tests else {},
    )


def _spoken(rest: Sequence[Block], inside: Sequence[Block]) -> list[list[Block]]:
    """The indexes that no heading calls so, outside of the sections of the lanes."""
    swimmers = _swimmers(inside, [])
    owned = {line.number for each in swimmers for line in each.lines} | {
        each.line for each in swimmers
    }
    gates = {block.line for block in section(rest, GATES, SECTIONS)}
    free = {block.line for block in rest if block.line not in owned | gates}
    names = {each.name.lower(): each.name for each in swimmers}
    beside = _beside(inside)
    return index_places.spoken(rest, free | beside, names, LANES)


def _beside(inside: Sequence[Block]) -> set[int]:
    """The headings after a lane that are no further in than it, and no key of it."""
    made: set[int] = set()
    level = 0
    for block in inside:
        if _is_lane(block):
            level = block.level
        elif 0 < block.level <= level and block.key not in KEYS:
            made.add(block.line)
    return made


def _entries(
    indexes: Sequence[Sequence[Block]], names: Names, found: list[Finding]
) -> Mapping[str, Entry]:
    """What the indexes say, all of them together."""
    made = [index(each, names.lanes, found, is_only=len(indexes) == 1) for each in indexes]
    return index_union.united(made, names, found)


def _inside(blocks: Sequence[Block], found: list[Finding]) -> list[Block]:
    """The blocks with the lanes; where no heading says so, from the first that is one on."""
    inside = section(blocks, LANES, SECTIONS, INNER, holds=_is_lane)
    if any(map(_is_lane, inside)):
        return inside
    listed = section(blocks, INDEX, SECTIONS)
    after = blocks[blocks.index(listed[-1]) + 1 :] if listed else blocks
    at = next((at for at, each in enumerate(after) if _is_lane(each)), None)
    if at is None or inside:
        return inside
    line = after[at].line
    found.append(warning(line, "there is no heading `Swim Lanes`", "The lanes are read from here."))
    holder = Block(LANES[0], after[at].level, line, [])
    return section([holder, *after[at:]], LANES, SECTIONS, INNER, holds=_is_lane)


def _is_lane(block: Block) -> bool:
    return _OUTSIDE.match(bare(block.name)) is not None


def _outside(
    blocks: Sequence[Block], inside: Sequence[Block], known: Collection[str]
) -> list[Finding]:
    """Lanes that nobody would find: no plan is read by half. Elsewhere a lane may be spoken of."""
    seen = {block.line for block in (*inside, *section(blocks, INDEX, SECTIONS, holds=_is_lane))}
    return [
        Finding(block.line, f"{quoted(block.name)} does not stand under Swim Lanes", "Move it.")
        for block in blocks
        if block.line not in seen
        and (said := _OUTSIDE.match(bare(block.name)))
        and said[0].rstrip(".:").lower() not in known
    ]


def _phase(blocks: Sequence[Block], found: list[Finding]) -> tuple[str, str, int]:
    """Name, title and line of the phase, from the first heading: `P1: Foundation`."""
    before = list(takewhile(lambda block: block.key not in SECTIONS, blocks))
    head = next((block for block in before if block.name), None)
    words = _BEFORE.sub("", _SIGNS.sub("", head.name)) if head else ""
    by_number = _NUMBER.match(words)
    words = f"P{by_number[1]}{words[by_number.end() :]}" if by_number else words
    words = _PLAN.sub(r"\1", words)
    said = _ID.match(words)
    if head is None or said is None:
        line = head.line if head else 1
        problem = "the plan has no heading such as `# P1: Foundation`"
        name = _by_gates(blocks)
        found.append(warning(line, problem, f"Its phase is called {name}."))
        return name, words, line
    try:
        return ids.name(said[1], what="the phase"), words[said.end() :].strip(), head.line
    except BadName as error:
        found.append(Finding(head.line, error.problem, error.remedy))
        return FIRST_PHASE, words, head.line


def _say_phase(blocks: list[Block], text: str) -> None:
    """Put the phase that the head of the file names into a title that names none."""
    said = _SAID.match(text[:_LONGEST_HEAD].replace("\r\n", "\n"))
    at = next((at for at, block in enumerate(blocks) if block.name), None)
    if said is None or at is None or blocks[at].key in SECTIONS or _PHASE.search(blocks[at].name):
        return
    phase = said[1].upper() if said[1][:1] in "Pp" else f"P{said[1]}"
    blocks[at] = blocks[at]._replace(name=f"{phase}: {blocks[at].name}")


def _by_gates(blocks: Sequence[Block]) -> str:
    """The phase that most of its own gates name."""
    lines = [line.text for block in section(blocks, GATES, SECTIONS) for line in block.lines]
    gates = [each.split("-") for line in lines for each in interface_gates.named(line)]
    phases = Counter(each[2] for each in gates if len(each) > _PARTS and each[2][1:2].isdigit())
    return phases.most_common(1)[0][0] if phases else FIRST_PHASE


def _retries(blocks: Sequence[Block], found: list[Finding]) -> int:
    """What is said before the first section holds for all lanes."""
    for block in blocks:
        if block.key in SECTIONS:
            return 0
        for field in fields(block.lines, ("retries",))[0]:
            if field.key == "retries":
                return whole(field, 0, MOST_RETRIES, found) or 0
    return 0


def _swimmers(
    blocks: Sequence[Block], found: list[Finding], indexes: Collection[int] = ()
) -> list[Swimmer]:
    """A heading that begins with an id is a lane; one that is a key belongs to the lane before.

    *indexes* are the lines of headings that belong to neither.
    """
    made: list[Swimmer] = []
    for block in [each for each in blocks if each.line not in indexes]:
        is_beside = not made or block.level <= made[-1].level
        if is_beside and block.key not in LANES and said_waves.is_heading(block):
            found.extend(_wave_words(block))
            continue
        said = _lane_id(block, made)
        if block.key in LANES:
            _refuse_loose(block, found)
        elif said is not None:
            made.append(_swimmer(block, said, found))
        else:
            found.extend(_stray(block, made))
            (made[-1].lines if made else []).extend(_under_key(block))
    return made


def _wave_words(block: Block) -> Iterator[Finding]:
    """What stands between the heading of a wave and its first lane."""
    line = next((each for each in block.lines if each.text.strip()), None)
    if line is not None:
        yield warning(line.number, f"words below {quoted(block.name)} are not read")


def _stray(block: Block, made: list[Swimmer]) -> Iterator[Finding]:
    """A heading that is no lane, where one could stand: what is to be done there is not lost."""
    if made and (block.level > made[-1].level or block.key in KEYS):
        return
    could_be = _NAMES_ONE.search(block.name) or index_places.is_of_a_lane(block)
    if could_be or not made:
        told = Finding(block.line, f"{quoted(block.name)} is no lane", _HEADED)
        yield told if could_be else told._replace(severity=WARNING)
    elif any(line.text.strip() for line in block.lines):
        problem = f"{quoted(block.name)} is read as words of the lane {quoted(made[-1].name)}"
        yield warning(block.line, problem)


def _lane_id(block: Block, made: list[Swimmer]) -> re.Match[str] | None:
    """The id that a heading begins with; a word inside a lane is one only if it looks like one."""
    said = _ID.match(bare(block.name))
    if said is None or block.key in KEYS:
        return None
    looks = "-" in said[1] or any(char.isdigit() for char in said[1])
    is_inside = bool(made) and block.level > made[-1].level
    return said if looks or (not is_inside and said.end() < len(bare(block.name))) else None


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
    title = bare(block.name)[said.end() :].strip()
    try:
        name = ids.name(said[1], what="the lane")
    except BadName as error:
        found.append(Finding(block.line, error.problem, error.remedy))
        name = said[1]
    return Swimmer(name, title, block, list(block.lines))


def _criteria(blocks: Sequence[Block]) -> str:
    """When the phase is done: only what stands in a section of its own, not in a lane."""
    inside = {block.line for block in _inside(blocks, [])}
    own = [block for block in blocks if block.line not in inside]
    return whole_body(section(own, CRITERIA, SECTIONS))[:_LONGEST_CRITERIA]

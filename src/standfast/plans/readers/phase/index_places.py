"""Where a phase plan says who waits for whom: under whatever heading, and under none. Pure.

A heading of which the words say so is an index, and must be readable. Any other block outside of
the lanes' own sections is one if its lines say it: `SL-2 … Depends on: SL-1`, or a table with a
column of lanes and one of what they depend on. None of them is passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.readers.markdown_plan import fields, normal, section
from standfast.plans.readers.phase import index_picture, index_waves
from standfast.plans.readers.phase.lane_index import ORDERS, bare, index

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Block

_ABOUT_WORDS = """
swim lane lanes index of the and or for by to dependencies dependency depends on graph overview
map matrix order ordering parallelism parallel safety table list summary plan dag execution
sequence sequencing wave waves diagram chart relationships deps schedule
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
_LANE = re.compile(r"SL-[A-Za-z0-9._-]*[A-Za-z0-9]", re.IGNORECASE)
_LANES = frozenset(("lane", "lanes"))
_INDEX = frozenset(("index", "dependencies", "dependency", "deps"))
_OF_A_LANE = ("scope", "goal", "owned files", "files", "tasks", "interfaces provided", "interfaces")


class Found(NamedTuple):
    """The indexes of a plan, and the lines of the headings of all their blocks."""

    indexes: list[list[Block]]
    lines: set[int]


def is_headed(block: Block) -> bool:
    """Whether its heading says that it is an index of lanes, and nothing else."""
    words = set(_words(block))
    return _is_about(block) and not words.isdisjoint(_LANES) and not words.isdisjoint(_INDEX)


def _is_about(block: Block) -> bool:
    """Whether its heading speaks of order, of lanes or of anything: `Dependency graph`."""
    words = _words(block)
    return bool(words) and _ABOUT.issuperset(words)


def _words(block: Block) -> list[str]:
    return re.findall(r"[^\W_]+", normal(block.name))


def lane_of(block: Block) -> str:
    """The lane with which a heading begins, in small letters; empty if there is none."""
    said = _LANE.match(bare(block.name))
    return said[0].lower() if said else ""


def headed(blocks: Sequence[Block], known: Collection[str]) -> Found:
    """The indexes that a heading calls so, each to its end."""
    made = Found([], set())
    counts = Counter(map(lane_of, blocks))
    for at, block in enumerate(blocks):
        if block.line in made.lines or not block.name or not is_headed(block):
            continue
        holds = section(blocks[at:], (block.key,), known, holds=lambda each: bool(lane_of(each)))
        _add(_own(holds, counts), made)
    return made


def spoken(
    blocks: Sequence[Block],
    free: Collection[int],
    names: Mapping[str, str],
    of_lanes: Collection[str],
) -> list[list[Block]]:
    """The other indexes, by what they say, those that list something first.

    They begin at one of the *free* lines; *of_lanes* are headings that only hold lanes.
    """
    made = Found([], set())
    drawn: list[list[Block]] = []
    counts = Counter(map(lane_of, blocks))
    for at, block in enumerate(blocks):
        if block.line in made.lines or block.line not in free or lane_of(block):
            continue
        group = [block] if block.key in of_lanes else _own(_group(blocks, at), counts)
        if _lists(group, names):
            _add(group, made)
        elif _is_about(block) and _draws(group, names):
            drawn.append(group)
    return [*made.indexes, *drawn]


def _add(group: list[Block], made: Found) -> None:
    made.indexes.append(group)
    made.lines.update(block.line for block in group)


def _group(blocks: Sequence[Block], at: int) -> list[Block]:
    """A block with the headings below it that name lanes or waves."""
    made = [blocks[at]]
    for block in islice(blocks, at + 1, None):
        is_one = lane_of(block) or index_waves.number(block.name) is not None
        if not is_one or block.level <= made[0].level:
            break
        made.append(block)
    return made


def _own(group: list[Block], counts: Counter[str]) -> list[Block]:
    """An index without the sections of lanes that follow it: those that stand nowhere else."""
    seen: set[str] = set()
    for at, block in enumerate(group):
        lane = lane_of(block)
        if lane and (lane in seen or is_of_a_lane(block)):
            group = group[:at]
            break
        seen.add(lane)
    if len(group) == 1:
        return group
    here = Counter(map(lane_of, group))
    others = {lane for lane in seen if lane and counts[lane] > here[lane]}
    first = next((at for at, each in enumerate(group) if lane_of(each)), len(group))
    return group if others else group[:first]


def is_of_a_lane(block: Block) -> bool:
    """Whether it says what a lane is to do."""
    has_table = any(not line.fenced and line.text.lstrip().startswith("|") for line in block.lines)
    return has_table or any(each.key in _OF_A_LANE for each in fields(block.lines, _OF_A_LANE)[0])


def _lists(group: list[Block], names: Mapping[str, str]) -> bool:
    """Whether it says of a lane whom it waits for, in so many words."""
    entries = index(group, names, [], is_headed=False)
    return any(each.name.lower() in names and not ORDERS.isdisjoint(each.fields)
               for each in entries.values())  # fmt: skip


def _draws(group: list[Block], names: Mapping[str, str]) -> bool:
    """Whether it draws the order, with arrows or as waves."""
    drawing = index_picture.Drawing(names)
    for block in group:
        drawing.take(block.lines)
    waves = index_waves.read(group, names)
    return bool(drawing.arrows or drawing.unread or waves.of)

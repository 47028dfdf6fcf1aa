"""Tasks of a team plan that are no headings: items below waves, rows of a table. Pure.

Each becomes the heading that it could have been, with its keys below it.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from standfast.plans.readers import markdown_tables, plan_words
from standfast.plans.readers.markdown_plan import Block, Line, unmarked
from standfast.plans.readers.phase import index_waves
from standfast.plans.readers.team.team_tasks import is_task

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_ID = r"[A-Za-z]{1,12}[-_]?[0-9]{1,4}[a-z]?"
_ITEM = re.compile(
    rf"(?:\*\*({_ID})\*\*|`({_ID})`|({_ID})(?=:|\)|\.\s|\s[—\u2013-]))[\s:.)—\u2013-]*"
)
_OWNER = re.compile(r"\((?:owner|assigned to|by|who)[:\s]+([^()]{1,60})\)", re.IGNORECASE)
_AFTER = re.compile(
    r"\b(?:depends on|after|needs|blocked by|requires)\b:?\s([^()]{1,160})", re.IGNORECASE
)
_CODE = re.compile(r"`[^`]*`")
_TITLES = ("task", "title", "name", "what", "description")
_NUMBERS = ("", "no", "nr", "number", "step")


def expand(blocks: Sequence[Block], tasks: Collection[str]) -> list[Block]:
    """The blocks with a heading for each such task; *tasks* are the names of their section."""
    made: list[Block] = []
    has_section = any(block.key in tasks for block in blocks)
    for block in blocks:
        wave = index_waves.number(block.name) or 0
        items = _items(block, wave) if wave and not has_section else []
        rows = _rows(block) if block.key in tasks and not _has_headings(block, blocks) else []
        if items and not any(each.key in tasks for each in made):
            made.append(Block("Tasks", block.level, block.line, []))
        made += items or [block._replace(lines=[]) if rows else block, *rows]
    return made


def _has_headings(section: Block, blocks: Sequence[Block]) -> bool:
    """Whether tasks stand below it as headings: a table beside them only sums them up."""
    below = takewhile(lambda each: each.level > section.level,
                      blocks[blocks.index(section) + 1 :])  # fmt: skip
    return any(map(is_task, below))


def is_one(blocks: Sequence[Block]) -> bool:
    """Whether it lists tasks below waves."""
    return any(_items(block, 1) for block in blocks if index_waves.number(block.name))


def _items(block: Block, wave: int) -> list[Block]:
    """The items with an id, each with what is further in below it."""
    made: list[Block] = []
    for line in block.lines:
        said = _ITEM.match(line.words) if line.is_bullet and not line.indent else None
        if said is not None:
            made.append(_item(block, line, said, wave))
        elif made:
            made[-1].lines.append(line)
    return made


def _item(block: Block, line: Line, said: re.Match[str], wave: int) -> Block:
    words = line.words[said.end() :]
    plain = _CODE.sub(" ", words)
    keys = [("Task ID", said[1] or said[2] or said[3]), ("Wave", str(wave))]
    keys += [("Assigned To", each) for each in _OWNER.findall(plain)[:1]]
    keys += [("Depends On", each) for each in _AFTER.findall(plain)[:1]]
    lines = [Line(line.number, f"- **{key}**: {value}") for key, value in keys]
    return Block(unmarked(words), block.level + 1, line.number, [*lines, Line(line.number, words)])


def _rows(block: Block) -> list[Block]:
    tables, _ = markdown_tables.tables(block.lines, [])
    return [each for table in tables for each in _of_table(block, table)]


def _of_table(block: Block, table: markdown_tables.Table) -> Iterator[Block]:
    number = next((each for each in _NUMBERS if each in table.heads), None)
    title = next((each for each in _TITLES if each in table.heads), None)
    for row in table.rows if title else ():
        name = unmarked(row.cells[title or ""])
        said = row.cells.get(number, "") if number is not None else ""
        cells = [(table.names[head], cell) for head, cell in row.cells.items()
                 if head not in (title, number) and not plan_words.is_none(cell)]  # fmt: skip
        lines = [Line(row.line, f"- **{key}**: {cell}") for key, cell in cells]
        yield Block(f"{said}. {name}" if said.isdigit() else name, block.level + 1, row.line, lines)

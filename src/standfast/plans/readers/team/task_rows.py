"""Rows of a table that are tasks of a team plan: each becomes a heading with keys. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.plans.readers import markdown_tables, plan_words
from standfast.plans.readers.markdown_plan import Block, Line, unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLES = ("task", "title", "name", "what", "description")
_NUMBERS = ("", "no", "nr", "number", "step")


def read(block: Block) -> list[Block]:
    """Every row of the tables of a block, as the heading that it could have been."""
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

"""The list of tests of a phase plan: commands for all lanes, and for those it names. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.plans.findings import quoted, warning
from standfast.plans.readers import markdown_tables, test_commands
from standfast.plans.readers.markdown_plan import first_word, unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.plans.findings import Finding
    from standfast.plans.readers.markdown_plan import Block, Line
    from standfast.plans.readers.markdown_tables import Row, Table

_COMMANDS = ("command", "commands", "test command", "test commands", "run", "how")
_LANES = ("lane", "lanes", "swim lane", "scope")


def read(
    blocks: Sequence[Block], names: Mapping[str, str], found: list[Finding]
) -> tuple[list[str], dict[str, list[str]]]:
    """The commands for every lane that names none, and those for single lanes."""
    common: list[str] = []
    single: dict[str, list[str]] = {}
    for block in blocks:
        tables, lines = markdown_tables.tables(block.lines, found)
        lane = _lane(block.name, names) if block is not blocks[0] else None
        for said, commands in [*_rows(tables, names, found), *_lists(lines, names, found)]:
            whose = said or lane
            (single.setdefault(whose, []) if whose else common).extend(commands)
    if blocks and not common and not single and any(map(_says, blocks)):
        problem = f"{quoted(blocks[0].name)} names no command"
        found.append(warning(blocks[0].line, problem, test_commands.BACKTICKS))
    return common, single


def _says(block: Block) -> bool:
    return any(line.text.strip() for line in block.lines)


def _lane(words: str, names: Mapping[str, str]) -> str | None:
    return names.get(first_word(unmarked(words)).rstrip(":.,").lower())


def _rows(
    tables: Sequence[Table], names: Mapping[str, str], found: list[Finding]
) -> Iterator[tuple[str | None, list[str]]]:
    for table in tables:
        column = next((each for each in _COMMANDS if each in table.heads), None)
        if column is None:
            problem = "the table of tests has no column `Command`"
            found.append(warning(table.line, problem, "Nothing of it is run."))
            continue
        for row in table.rows:
            yield _whose(row, names), test_commands.of_cell(row.cells[column], row.line, found)


def _whose(row: Row, names: Mapping[str, str]) -> str | None:
    said = next((row.cells[head] for head in _LANES if row.cells.get(head)), "")
    return _lane(said, names)


def _lists(
    lines: Sequence[Line], names: Mapping[str, str], found: list[Finding]
) -> Iterator[tuple[str | None, list[str]]]:
    """An item that begins with a lane is for it alone, with what is further in below it."""
    group: list[Line] = []
    lane: str | None = None
    indent = 0
    for line in lines:
        starts = _lane(line.words, names) if not line.fenced else None
        leaves = not line.fenced and line.text.strip() and line.indent <= indent
        if starts or (lane and leaves):
            yield lane, test_commands.of_lines(group, found)
            group, lane, indent = [], starts, line.indent
        group.append(_without(line) if starts else line)
    yield lane, test_commands.of_lines(group, found)


def _without(line: Line) -> Line:
    """A line without the lane in front."""
    rest = line.words[len(first_word(line.words)) :].lstrip(" :—\u2013-")
    return line._replace(text=rest)

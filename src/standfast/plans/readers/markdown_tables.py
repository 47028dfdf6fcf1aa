"""Tables in Markdown plans, as they really are: pipes in code, cells that are missing. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers.markdown_plan import Line, normal, unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_RULE = frozenset(" \t|:-")


class Row(NamedTuple):
    """One row: what stands below each head, by the form in which heads are compared."""

    line: int
    cells: Mapping[str, str]


class Table(NamedTuple):
    """A table: its heads, as they stand and in the form in which they are compared."""

    line: int
    heads: list[str]
    names: Mapping[str, str]
    rows: list[Row]


def tables(lines: Sequence[Line], findings: list[Finding]) -> tuple[list[Table], list[Line]]:
    """Every table, and the lines that belong to none; what is odd about them is a finding."""
    found: list[Table] = []
    rest: list[Line] = []
    group: list[Line] = []
    for line in lines:
        if not line.fenced and line.text.lstrip().startswith("|"):
            group.append(line)
            continue
        found += _table(group, findings)
        group = []
        rest.append(line)
    found += _table(group, findings)
    return found, rest


def as_lines(table: Table) -> list[Line]:
    """A table as it is told to somebody."""
    rows = [list(table.names.values()), *([*row.cells.values()] for row in table.rows)]
    texts = ["| " + " | ".join(row) + " |" for row in rows]
    return [Line(table.line, text) for text in texts]


def _table(group: list[Line], findings: list[Finding]) -> Iterator[Table]:
    if not group:
        return
    head, *below = group
    names = [unmarked(cell) for cell in split_row(head.text)]
    if below and "-" in below[0].text and set(below[0].text) <= _RULE:
        below = below[1:]
    else:
        findings.append(warning(head.number, "the table has no line of dashes below its head"))
    heads = [normal(name) for name in names]
    doubles = [name for name, count in Counter(heads).items() if name and count > 1]
    if doubles:
        findings.append(Finding(head.number, f"the table has two columns {quoted(doubles[0])}"))
    rows = [_row(line, heads, findings) for line in below if line.text.strip(" \t|")]
    yield Table(head.number, heads, dict(zip(heads, names, strict=True)), rows)


def _row(line: Line, heads: list[str], findings: list[Finding]) -> Row:
    cells = split_row(line.text)
    if len(cells) > len(heads):
        apart = split_row(line.text, heed_code=True)  # a pipe in backticks that was not escaped
        cells = apart if len(apart) <= len(heads) else cells
    if len(cells) > len(heads):
        more = "a `|` inside a cell is written `\\|`"
        problem = f"the row has {len(cells)} cells, and the table {len(heads)} columns"
        findings.append(Finding(line.number, problem, f"Mend the row: {more}."))
    return Row(line.number, dict(zip(heads, [*cells, *[""] * len(heads)], strict=False)))


def split_row(text: str, *, heed_code: bool = False) -> list[str]:
    r"""The cells of a row; `\|` is a pipe, and so is one in backticks if that is asked for."""
    cells, cell, in_code, escaped = [], "", False, False
    for char in text.strip().removeprefix("|"):
        if char == "|" and escaped:
            cell = cell[:-1] + "|"
        elif char == "|" and not (heed_code and in_code):
            cells.append(cell)
            cell = ""
        else:
            cell += char
        in_code ^= char == "`"
        escaped = char == "\\" and not escaped
    cells += [cell] if cell.strip() else []
    return [each.strip() for each in cells]

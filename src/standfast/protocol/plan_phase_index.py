"""The index of a phase plan: who depends on whom, whom each blocks, what is safe in parallel. Pure.

It is written as a table, as lists under each lane, or as lines that follow a lane's name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.protocol import plan_tables, plan_words
from standfast.protocol.lane_spec import MOST_RETRIES
from standfast.protocol.plan_findings import Finding, nearest, quoted, warning
from standfast.protocol.plan_markdown import Field, Line, fields, first_word, unmarked
from standfast.protocol.plan_numbers import whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.protocol.plan_markdown import Block

KEYS = frozenset(("depends on", "blocks", "parallel safe", "retries", "lane", "name"))
_LANE_COLUMNS = ("lane", "lane id", "sl id", "id", "swim lane")
_ID_END = re.compile(r"[\s:—\u2013(]|--")


class Entry(NamedTuple):
    """What the index says of one lane."""

    name: str
    after: Mapping[str, int]  # name -> line
    blocks: Mapping[str, int]
    parallel: str
    retries: int | None


def index(
    blocks: Sequence[Block], names: Mapping[str, str], found: list[Finding]
) -> dict[str, Entry]:
    """Every entry, by the name of its lane; *names* are those that have a section.

    They are given by themselves in small letters: whoever writes `sl-1` means `SL-1`.
    """
    made: dict[str, Entry] = {}
    for line, name, keys in _groups(blocks, names, found):
        if names.get(name.lower()) != name:
            problem = f"the index names the lane {quoted(name)}, which has no section"
            found.append(Finding(line, problem, nearest(name, names.values())))
        elif name in made:
            found.append(Finding(line, f"the lane {quoted(name)} is in the index twice"))
        else:
            made[name] = _entry(name, keys, names, found)
    return made


def _entry(
    name: str, keys: Mapping[str, Field], names: Mapping[str, str], found: list[Finding]
) -> Entry:
    parallel = keys.get("parallel safe")
    said = unmarked(parallel.value) if parallel else ""
    if parallel and plan_words.yes_or_no(said) is None and not said.lower().startswith("mixed"):
        problem = f"Parallel-safe is {quoted(said)}, which is taken for no"
        found.append(warning(parallel.line, problem, "Write yes, no or mixed."))
        said = "no"
    return Entry(
        name,
        _names(keys.get("depends on"), names),
        _names(keys.get("blocks"), names),
        said,
        whole(keys.get("retries"), 0, MOST_RETRIES, found),
    )


def _names(field: Field | None, names: Mapping[str, str]) -> dict[str, int]:
    """The lanes that a field lists; one that is not there stays as it stands."""
    found: dict[str, int] = {}
    for line, each in plan_words.parts(field) if field else ():
        found.setdefault(known(each, names), line)
    return found


def known(said: str, names: Mapping[str, str]) -> str:
    """The lane that is meant, by its id in whatever case and whatever follows it."""
    first = first_word(said).rstrip(":")
    return names.get(said.lower()) or names.get(first.lower()) or said


def _groups(
    blocks: Sequence[Block], names: Mapping[str, str], found: list[Finding]
) -> list[tuple[int, str, dict[str, Field]]]:
    """Line, name and keys of every lane, whatever form it has."""
    made: list[tuple[int, str, dict[str, Field]]] = []
    for at, block in enumerate(blocks):
        if at > 0:
            made.append((block.line, _lane_of(block.name, names) or block.name, {}))
        tables, lines = plan_tables.tables(block.lines, found)
        for table in tables:
            made += _rows(table, names, found)
        _lines(lines, names, made, found)
    return made


def _rows(
    table: plan_tables.Table, names: Mapping[str, str], found: list[Finding]
) -> list[tuple[int, str, dict[str, Field]]]:
    column = next((each for each in _LANE_COLUMNS if each in table.heads), None)
    if column is None:
        problem = "the table of the index has no column `Lane`"
        found.append(Finding(table.line, problem, nearest("lane", table.heads)))
        return []
    for head in table.heads:
        if head not in (*_LANE_COLUMNS, *KEYS):
            problem = f"the column {quoted(table.names[head])} of the index is not read"
            found.append(warning(table.line, problem))
    made = []
    for row in table.rows:
        start = Line(row.line, "")
        keys = {head: Field(head, table.names[head], cell, row.line, [], start)
                for head, cell in row.cells.items() if head in KEYS}  # fmt: skip
        made.append((row.line, known(unmarked(row.cells[column]), names), keys))
    return made


def _lines(
    lines: Sequence[Line],
    names: Mapping[str, str],
    made: list[tuple[int, str, dict[str, Field]]],
    found: list[Finding],
) -> None:
    """Lines that begin with a lane's name, and the keys that follow them."""
    for line in lines:
        if line.fenced or not line.text.strip():
            continue
        name = _lane_of(line.words, names)
        rest = line.words
        if name is not None:
            made.append((line.number, name, {}))
            end = _ID_END.search(unmarked(line.words))
            rest = unmarked(line.words)[end.end() :] if end else ""
        inside = [Line(line.number, " " * line.indent + each) for each in rest.split(";")]
        got = [field for each in inside for field in fields([each], KEYS)[0]]
        if got and not made:
            found.append(Finding(line.number, f"{quoted(got[0].name)} stands before any lane"))
        elif got:
            made[-1][2].update({field.key: field for field in got})
        elif name is None:
            _go_on(line, made, found)


def _go_on(line: Line, made: list[tuple[int, str, dict[str, Field]]], found: list[Finding]) -> None:
    """An item below a key without a value belongs to it; other words are told."""
    last = list(made[-1][2].values())[-1:] if made else []
    if last and line.is_bullet and line.indent > last[0].start.indent:
        last[0].more.append(line)
    else:
        found.append(warning(line.number, f"{quoted(line.words)} is not read"))


def _lane_of(words: str, names: Mapping[str, str]) -> str | None:
    """The lane that a line begins with: one that is there, or that looks like one."""
    first = _ID_END.split(unmarked(words), maxsplit=1)[0].rstrip(".,")
    if first.lower() in names:
        return names[first.lower()]
    return first if re.match(r"SL-[A-Za-z0-9]", first) else None

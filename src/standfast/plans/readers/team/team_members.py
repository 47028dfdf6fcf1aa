"""The team members of a Markdown plan: as lists of keys, or as a table. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import markdown_tables, plan_words
from standfast.plans.readers.markdown_plan import Field, Line, fields, unmarked
from standfast.plans.readers.plan_numbers import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Block

KEYS = frozenset(("name", "role", "agent type", "model", "spawn wave", "wave", "spawn prompt"))


class Member(NamedTuple):
    """One teammate."""

    name: str
    role: str = ""  # the agent type
    part: str = ""  # what it is for, in words that may be an agent type
    wave: int | None = None
    told: str = ""  # what goes into the prompts of its tasks


def members(blocks: Sequence[Block], found: list[Finding]) -> dict[str, Member]:
    """Everybody, by name in small letters."""
    made: dict[str, Member] = {}
    for group in _groups(blocks, found):
        member = _member(group, found)
        line = group["name"].line
        if member.name.lower() in made:
            found.append(Finding(line, f"the team member {quoted(member.name)} is there twice"))
        made.setdefault(member.name.lower(), member)
    return made


def _groups(blocks: Sequence[Block], found: list[Finding]) -> Iterator[dict[str, Field]]:
    """The keys of one member after the other; a Name begins the next."""
    for block in blocks:
        tables, lines = markdown_tables.tables(block.lines, found)
        for table in tables:
            yield from (_from_row(row) for row in table.rows if row.cells.get("name"))
        group: dict[str, Field] = {}
        for field in fields(_flat(lines), KEYS)[0]:
            if field.key == "name" and "name" in group:
                yield group
                group = {}
            group.setdefault(field.key, field)
        if "name" in group:
            yield group


def _flat(lines: Sequence[Line]) -> list[Line]:
    """Keys of a member are often further in than its name: here that means nothing."""
    return [Line(line.number, line.text.strip(), line.fenced) for line in lines]


def _from_row(row: markdown_tables.Row) -> dict[str, Field]:
    start = Line(row.line, "")
    return {
        key: Field(key, key, value, row.line, [], start)
        for key, value in row.cells.items()
        if key in KEYS
    }


def _member(group: Mapping[str, Field], found: list[Finding]) -> Member:
    def said(key: str) -> str:
        field = group.get(key)
        return "" if field is None or plan_words.is_none(field.value) else unmarked(field.value)

    if said("model"):
        problem = f"the model {quoted(said('model'))} is not asked for"
        remedy = "Which model runs is said in your own configuration of the runner."
        found.append(warning(group["model"].line, problem, remedy))
    name = said("name")
    told = [f"You are {name}." if name else "", said("role"), said("spawn prompt")]
    return Member(
        name,
        role=said("agent type"),
        part=said("role"),
        wave=whole(group.get("spawn wave") or group.get("wave"), 1, 1_000, found),
        told="\n".join(part for part in told if part),
    )

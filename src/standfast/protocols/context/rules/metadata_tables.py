"""Metadata in a table, put into lines: `| Role | architect |`, or a column for each. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.protocols.context.rules.context_schema import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocols.context.rules.context_draft import Draft

_SECTION = 2
_RULE = re.compile(r":?-+:?")
# How a table of two columns begins.
_GENERAL = {"field", "key", "name", "property", "item", "what", ""}
_NAMES = {name.lower(): name for name in FIELDS} | {
    "last updated": "Updated", "agent": "Role", "tmux pane": "Pane",
}  # fmt: skip
_HEADED = 2  # rows: names and a rule

Rows = list[list[str]]


def unfold(draft: Draft, was: list[str]) -> None:
    """The first table above the sections that tells a field; rows of other things stay in it."""
    for first, lines in _tables(draft):
        rows = [_cells(line) for line in lines]
        pairs, left = _across(rows) or _down(rows)
        if pairs and not _known(draft) & {*pairs}:
            told = [f"**{key}**: {value}" for key, value in pairs.items()]
            gone = [line for at, line in enumerate(lines) if at not in left]
            del draft.lines[first : first + len(lines)]
            kept = [lines[at].removesuffix("\r") for at in left]
            draft.put(first, *told, *(["", *kept] if kept else []))
            was += gone
            return


def _known(draft: Draft) -> set[str]:
    """Fields that have a line of their own already."""
    return {key for key, field in draft.parsed().fields.items() if field.is_formed}


def _tables(draft: Draft) -> Iterator[tuple[int, list[str]]]:
    """Each table above the first section: where it begins, and its lines."""
    outline = draft.parsed().outline
    end = next((each.line - 1 for each in outline.headings if each.level == _SECTION),
               len(draft.lines))  # fmt: skip
    begun, lines = 0, list[str]()
    for at in range(end + 1):
        is_row = at < end and draft.lines[at].lstrip().startswith("|")
        if is_row and at + 1 not in outline.fenced:
            begun = begun if lines else at
            lines.append(draft.lines[at])
        elif lines:
            yield begun, lines
            lines = []


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t*_`") for cell in line.strip().strip("|").split("|")]


def _is_rule(cells: list[str]) -> bool:
    return all(map(_RULE.fullmatch, cells))


def _field(cell: str) -> str | None:
    return _NAMES.get(cell.rstrip(": ").lower())


def _across(rows: Rows) -> tuple[dict[str, str], list[int]] | None:
    """A column for each field: the first row below their names."""
    names = [_field(cell) for cell in rows[0]]
    is_headed = len(rows) > _HEADED and _is_rule(rows[1])
    if not is_headed or len([name for name in names if name]) < 2:  # noqa: PLR2004  # else a row of one field
        return None
    told = zip(names, rows[_HEADED], strict=False)
    left = [*range(len(rows))] if len(rows) > _HEADED + 1 or None in names else []
    return {name: value for name, value in told if name and value}, left


def _down(rows: Rows) -> tuple[dict[str, str], list[int]]:
    """A row for each field; what else has a row stays, with the head of the table."""
    pairs: dict[str, str] = {}
    others: list[int] = []
    for at, cells in enumerate(rows):
        name = _field(cells[0]) if len(cells) > 1 else None
        if name is not None and name not in pairs and cells[1]:
            pairs[name] = cells[1]
        elif not _is_rule(cells) and not (at == 0 and cells[0].lower() in _GENERAL):
            others.append(at)
    head = [at for at in (0, 1) if others and len(rows) > 1 and _is_rule(rows[1])]
    return pairs, sorted({*others, *head})

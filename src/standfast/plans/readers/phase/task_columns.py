"""The columns of a table of tasks, by the words of their heads: `Test Cmd`, `Depends`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.plans.readers.team import task_keys

if TYPE_CHECKING:
    from collections.abc import Collection

    from standfast.plans.readers import markdown_tables

AFTER, TYPE, TEST, TEST_FILES = "depends on", "task type", "test command", "tests owned files"
SCOPE, DONE, ID = "files in scope", "acceptance criteria", "task id"
_OWN = frozenset(("test", "tests", "testing", "spec", "specs"))
_COMMANDS = frozenset(("cmd", "cmds", "command", "commands", "run", "runs"))
_FILES = frozenset(("file", "files", "owned", "owns", "path", "paths"))
_CHECKS = frozenset(("verify", "verification", "validation", "validate", "check", "checks"))
_ONE = (
    (frozenset(("acceptance", "criteria", "criterion", "accept", "done")), DONE),
    (_COMMANDS | _OWN | _CHECKS, TEST),
    (frozenset(("type", "kind")), TYPE),
    (_FILES | {"scope", "touches"}, SCOPE),
    (frozenset(("id", "ids", "tid")), ID),
)


def by_words(table: markdown_tables.Table, known: Collection[str]) -> markdown_tables.Table:
    """The table with each head that is not *known* under the name of what it means."""
    names: dict[str, str] = {}
    for head in table.heads:
        name = head if head in known else meaning(head)
        is_free = name not in table.heads and name not in names.values()
        names[head] = name if is_free else head
    rows = [row._replace(cells={names.get(head, head): cell for head, cell in row.cells.items()})
            for row in table.rows]  # fmt: skip
    shown = {names[head]: said for head, said in table.names.items()}
    return table._replace(heads=[names[head] for head in table.heads], names=shown, rows=rows)


def meaning(head: str) -> str:
    """What a column is, or its head as it stands."""
    words = set(re.findall(r"[a-z]+", head))
    if task_keys.meaning(head) == task_keys.AFTER:
        return AFTER
    if words & _OWN and words & _FILES and not words & _COMMANDS:
        return TEST_FILES
    return next((name for some, name in _ONE if words & some), head)

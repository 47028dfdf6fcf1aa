"""The tasks of a swim lane: the rows of its table, in the order of what they depend on. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import BadName
from standfast.protocol import ids, plan_tables, plan_words
from standfast.protocol.lane_spec import MOST_TASKS
from standfast.protocol.plan import BUILDER, ONLY_TASK, Task
from standfast.protocol.plan_findings import Finding, nearest, quoted, warning
from standfast.protocol.plan_markdown import body, fields, first_word, unmarked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from standfast.protocol.plan_markdown import Block, Field, Line
    from standfast.protocol.plan_tables import Row, Table

_IDS = ("task id", "id", "task")
_TYPE, _AFTER, _FILES = "task type", "depends on", "files in scope"
_TESTS = ("test command", "test commands", "tests")
_TYPES = {"test": BUILDER, "impl": BUILDER, "implementation": BUILDER, "verify": "validator"}
_KNOWN = (*_IDS, _TYPE, "type", _AFTER, _FILES, "files", *_TESTS, "acceptance criteria",
          "description", "title")  # fmt: skip
_OWN = frozenset(("owned files", "tasks", "retries", "depends on", "blocks", "parallel safe",
                  "test command", "test commands"))  # fmt: skip


class Swimmer:
    """A section under Swim Lanes."""

    def __init__(self, name: str, title: str, block: Block, lines: list[Line]) -> None:
        self.name, self.title, self.lines = name, title, lines
        self.line, self.level = block.line, block.level
        self.fields: dict[str, Field] = {}
        self.tables: list[Table] = []
        self.rest: list[Line] = []

    def take_apart(self, known: Collection[str], found: list[Finding]) -> None:
        """Tables, keys, and all other lines."""
        self.tables, lines = plan_tables.tables(self.lines, found)
        got, self.rest = fields(lines, known)
        for field in got:
            if field.key in self.fields:
                first = self.fields[field.key].line
                problem = f"{quoted(field.name)} stands twice in this lane; first in line {first}"
                found.append(Finding(field.line, problem))
            if field.key not in known:
                problem = f"{quoted(field.name)} is not a key of a lane"
                found.append(warning(field.line, problem, "It goes into the prompts as it is."))
            self.fields.setdefault(field.key, field)

    def get(self, key: str) -> Field | None:
        """A key with its value."""
        return self.fields.get(key)

    @property
    def rows(self) -> Iterator[tuple[Table, str, Row]]:
        """Every task with the column of its id."""
        for table in self.tables:
            column = _ids(table)
            if column:
                yield from ((table, column, row) for row in table.rows)

    @property
    def task_names(self) -> list[str]:
        """The ids of all tasks."""
        return [unmarked(row.cells[column]) for _, column, row in self.rows]

    @property
    def test_line(self) -> int:
        """Where its tests are said."""
        return next((table.line for table in self.tables), self.line)


def _ids(table: Table) -> str:
    """The column with the ids of tasks, if there is one."""
    return next((each for each in _IDS if each in table.heads), "")


def tasks_of(
    lane: Swimmer, whose: Mapping[str, str], criteria: str, found: list[Finding]
) -> tuple[tuple[Task, ...], list[str], dict[str, int]]:
    """The tasks of a lane, its tests, and the other lanes that its tasks wait for."""
    made: list[Task] = []
    tests = _lane_tests(lane)
    across: dict[str, int] = {}
    for table in lane.tables:
        _tell_columns(table, found)
    rows = list(lane.rows)
    if len(rows) > MOST_TASKS:
        found.append(Finding(lane.line, f"{len(rows):,} tasks; a lane has {MOST_TASKS} at most"))
        rows = []
    for _, column, row in rows:
        name = _name(row, column, found)
        tests += [
            each for head in _TESTS for each in plan_words.cell_commands(row.cells.get(head, ""))
        ]
        after = _after(row, lane, whose, across)
        role = _role(row, found)
        prompt = _prompt(lane, row, column, criteria)
        said = {f"after {each}": row.line for each in after}
        made.append(Task(name, prompt, after=after, role=role, line=row.line, said=said))
    if lane.tables and any(_ids(table) for table in lane.tables) and not list(lane.rows):
        found.append(Finding(lane.tables[0].line, "the table has no tasks"))
    elif not lane.tables:
        made = _only(lane, criteria, found)
    return tuple(made), tests, across


def _lane_tests(lane: Swimmer) -> list[str]:
    field = lane.get("test command") or lane.get("test commands")
    if field is None:
        return []
    return [*plan_words.cell_commands(field.value), *plan_words.block_commands(field.more)]


def _row_tests(row: Row) -> list[str]:
    return [each for head in _TESTS for each in plan_words.cell_commands(row.cells.get(head, ""))]


def _tell_columns(table: Table, found: list[Finding]) -> None:
    if not _ids(table):
        problem = "the table has no column `Task ID`"
        found.append(Finding(table.line, problem, nearest("task id", table.heads)))
        return
    for head in table.heads:
        if head and head not in _KNOWN:
            problem = f"the column {quoted(table.names[head])} is not known"
            found.append(warning(table.line, problem, "It goes into the prompts as it is."))


def _name(row: Row, column: str, found: list[Finding]) -> str:
    said = unmarked(row.cells[column])
    try:
        return ids.name(said, what="the Task ID")
    except BadName as error:
        found.append(Finding(row.line, error.problem, error.remedy))
        return said


def _role(row: Row, found: list[Finding]) -> str:
    said = unmarked(row.cells.get(_TYPE) or row.cells.get("type") or "").lower()
    if said and not plan_words.is_none(said) and said not in _TYPES:
        problem = f"the task type {quoted(said)} is not known; it is done by a {BUILDER}"
        found.append(warning(row.line, problem, nearest(said, _TYPES)))
    return _TYPES.get(said, BUILDER)


def _after(
    row: Row, lane: Swimmer, whose: Mapping[str, str], across: dict[str, int]
) -> tuple[str, ...]:
    """The tasks of this lane that it waits for; for one of another lane the whole lane waits."""
    cell = row.cells.get(_AFTER, "")
    after: dict[str, None] = {}
    for said in () if plan_words.is_none(cell) else plan_words.apart(cell):
        name = said if said in whose else first_word(said)
        name = name.rpartition("/")[2] if name not in whose else name
        other = whose.get(name)
        if other is not None and other != lane.name and name not in lane.task_names:
            across.setdefault(other, row.line)
        else:
            after[name if other else said] = None
    return tuple(after)


def _prompt(lane: Swimmer, row: Row, column: str, criteria: str) -> str:
    """What the agent is told: the row, the lane around it, and when the phase is done."""
    cells = [
        f"{head.capitalize()}: {cell.replace('<br>', '; ')}"
        for head, cell in row.cells.items()
        if head not in (column, _AFTER, *_TESTS) and not plan_words.is_none(cell)
    ]
    tests = _row_tests(row)
    told = [
        f"Task {unmarked(row.cells[column])} of lane {lane.name}: {lane.title}".rstrip(": "),
        "\n".join(cells),
        "It is tested by:\n" + "\n".join(f"- {each}" for each in tests) if tests else "",
        *_around(lane, criteria),
    ]
    return "\n\n".join(part for part in told if part.strip())


def _around(lane: Swimmer, criteria: str) -> list[str]:
    kept = [each for each in lane.fields.values() if each.key not in _OWN]
    owned = lane.get("owned files")
    files = plan_words.listed_files(owned) if owned else []
    return [
        "\n".join(body([each.start, *each.more]) for each in kept),
        body(lane.rest),
        "Change only these files: " + ", ".join(files) if files else "",
        f"The phase is done when:\n{criteria}" if criteria else "",
    ]


def _only(lane: Swimmer, criteria: str, found: list[Finding]) -> list[Task]:
    """A lane without a table of tasks is one task, if it says what to do."""
    words = [lane.title, *_around(lane, "")]
    if not lane.get("scope") and not body(lane.rest):
        remedy = "Add a table with the columns Task ID, Task Type and Depends On."
        found.append(Finding(lane.line, f"the lane {quoted(lane.name)} has no tasks", remedy))
        return []
    found.append(warning(lane.line, f"the lane {quoted(lane.name)} has no table of tasks",
                         "All of it is one task."))  # fmt: skip
    told = [*words, f"The phase is done when:\n{criteria}" if criteria else ""]
    prompt = "\n\n".join(part for part in told if part.strip())
    return [Task(ONLY_TASK, prompt, line=lane.line)]

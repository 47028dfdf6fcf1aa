"""The tasks of a swim lane: the rows of its table, in the order of what they depend on. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.errors.base import BadName
from standfast.plans.findings import Finding, nearest, quoted, warning
from standfast.plans.lane_spec import MOST_TASKS
from standfast.plans.model import BUILDER, ONLY_TASK, Task
from standfast.plans.readers import markdown_tables, plan_words, test_commands
from standfast.plans.readers.markdown_plan import (
    Field,
    Line,
    body,
    fields,
    first_word,
    normal,
    unmarked,
)
from standfast.plans.readers.phase import owned_files, task_columns
from standfast.plans.readers.phase.lane_index import KEYS as INDEX_KEYS
from standfast.plans.readers.phase.lane_index import same
from standfast.plans.readers.phase.lane_needs import of_text
from standfast.plans.readers.phase.owned_files import Owned
from standfast.plans.readers.team import task_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from standfast.plans.readers.markdown_plan import Block
    from standfast.plans.readers.markdown_tables import Row, Table
    from standfast.plans.readers.phase.lane_needs import Names

_IDS = ("task id", "id", "task")
_TYPE, _AFTER = "task type", "depends on"
_SCOPE, _TEST_FILES = ("files in scope", "files"), ("tests owned files", "test owned files")
_TESTS = ("test command", "test commands", "tests")
DONE = ("acceptance criteria", "acceptance criterion", "acceptance", "done when",
        "definition of done", "success criteria")  # fmt: skip
OWNED = ("owned files", "owns", "files owned", "owned", "files")
_TYPES = {"test": BUILDER, "impl": BUILDER, "implementation": BUILDER, "verify": "validator"}
_KNOWN = (*_IDS, _TYPE, "type", _AFTER, *_SCOPE, *_TEST_FILES, *_TESTS, *DONE,
          "description", "title")  # fmt: skip
TESTS = ("test command", "test commands", "tests", "test", "verify", "verification", "validation",
         "validate", "validation commands")  # fmt: skip
_OWN = frozenset(("tasks", "test command", "test commands", *OWNED, *INDEX_KEYS))  # fmt: skip
_ABOVE = re.compile(r"(?:all|every)\b(?: (?:the|of|above|previous|earlier|prior|tasks?|rows?))*$|"
                    r"previous(?: tasks?)?$|above$", re.IGNORECASE)  # fmt: skip
_PAIR = 2  # columns of a table of keys
_MAY_REPEAT = frozenset((*TESTS, *DONE))


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
        read, lines = markdown_tables.tables(self.lines, found)
        tables = [task_columns.by_words(each, _KNOWN) for each in read]
        keyed = [each for each in tables if _has_keys(each, known)]
        lines += [line for table in keyed for line in _as_keys(table)]
        tables = [each for each in tables if each not in keyed]
        self.tables = [each for each in tables if not _is_other(each)]
        got, self.rest = fields(lines, known)
        for table in [each for each in tables if _is_other(each)]:
            problem = "the table is no table of tasks"
            found.append(warning(table.line, problem, "It goes into the prompts as it is."))
            self.rest += markdown_tables.as_lines(table)
        for field in got:
            first = self.fields.setdefault(same(field.key), field)
            if first is not field and field.key in _MAY_REPEAT:
                first.more.extend([field.start._replace(text=field.value), *field.more])
            elif first is not field:
                problem = f"{quoted(field.name)} stands twice in this lane; first in line"
                found.append(Finding(field.line, f"{problem} {first.line}"))
            if field.key not in known:
                problem = f"{quoted(field.name)} is not a key of a lane"
                found.append(warning(field.line, problem, "It goes into the prompts as it is."))

        self._order_in_title()

    def _order_in_title(self) -> None:
        """`SL-2 -- API (after SL-1)`: whom it waits for, where no key says so."""
        said = plan_words.order_in(self.title)
        if said is not None and "sl-" in said[1].lower():
            line = Line(self.line, said[1])
            self.fields.setdefault(said[0], Field(said[0], *said, self.line, [], line))

    def get(self, key: str) -> Field | None:
        """A key with its value."""
        return self.fields.get(key)

    def first(self, keys: Sequence[str]) -> Field | None:
        """The first of some keys that it has."""
        return next((self.fields[key] for key in keys if key in self.fields), None)

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
        field = self.first(TESTS)
        return field.line if field else next((table.line for table in self.tables), self.line)

    def files(self) -> tuple[Owned, Owned]:
        """The files of its tests, which are its own, and those that its other tasks work on."""
        rows = [row for _, _, row in self.rows]
        work = [row for row in rows if _type(row) != "verify"]
        return _cell_files(rows, _TEST_FILES), _cell_files(work, _SCOPE)


class Made(NamedTuple):
    """What becomes of the rows of a lane."""

    tasks: tuple[Task, ...]
    tests: list[str]
    across: dict[str, int]  # the other lanes that its tasks wait for


def _cell_files(rows: Sequence[Row], heads: Sequence[str]) -> Owned:
    """The files that some columns name, with what is to be said of them."""
    cells = [owned_files.of_cell(row.cells[head], row.line)
             for row in rows for head in heads if head in row.cells]  # fmt: skip
    return Owned([each for cell in cells for each in cell.files],
                 [each for cell in cells for each in cell.told])  # fmt: skip


def _ids(table: Table) -> str:
    """The column with the ids of tasks, if there is one."""
    return next((each for each in _IDS if each in table.heads), "")


def _has_keys(table: Table, known: Collection[str]) -> bool:
    """Whether it is a lane's keys beside their values: `| Owned files | src/** |`."""
    first = table.heads[0] if len(table.heads) == _PAIR else ""
    return bool(first) and any(normal(row.cells[first]) in known for row in table.rows)


def _as_keys(table: Table) -> Iterator[Line]:
    key, value = table.heads
    for row in table.rows:
        yield Line(row.line, f"- **{unmarked(row.cells[key])}**: {row.cells[value]}")


def _is_other(table: Table) -> bool:
    """Whether none of its columns is one that tasks have."""
    heads = {*_KNOWN} - {"description", "title", "files", "type", "tests"}
    return heads.isdisjoint(table.heads) and not any("task" in each for each in table.heads)


def _cell(row: Row, heads: Sequence[str]) -> str:
    return next((row.cells[head] for head in heads if row.cells.get(head)), "")


def _type(row: Row) -> str:
    said = unmarked(_cell(row, (_TYPE, "type"))).lower()
    return "" if plan_words.is_none(said) else said


def tasks_of(lane: Swimmer, names: Names, around: str, found: list[Finding]) -> Made:
    """The tasks of a lane; *around* is what every agent of it is told besides."""
    tests = [each for key in TESTS if (field := lane.get(key))
             for each in test_commands.of_field(field, found)]  # fmt: skip
    across: dict[str, int] = {}
    for table in lane.tables:
        _tell_columns(table, found)
    rows = list(lane.rows)
    if len(rows) > MOST_TASKS:
        found.append(Finding(lane.line, f"{len(rows):,} tasks; a lane has {MOST_TASKS} at most"))
        rows = []
    made = []
    for _, column, row in rows:
        row_tests = _row_tests(row, found)
        tests += row_tests
        after = _after(row, lane, names, across, found)
        done = _cell(row, DONE)
        made.append(
            Task(
                _name(row, column, found), _prompt(lane, row, column, row_tests, around),
                after=after, role=_role(row, found), line=row.line,
                said={f"after {each}": row.line for each in after},
                done="" if plan_words.is_none(done) else done,
            )
        )  # fmt: skip
    if lane.tables and any(_ids(table) for table in lane.tables) and not list(lane.rows):
        found.append(Finding(lane.tables[0].line, "the table has no tasks"))
    tests = tests or _told(lane, found)
    if not lane.tables:
        made = _only(lane, around, found, tests)
    return Made(tuple(made), tests, across)


def _told(lane: Swimmer, found: list[Finding]) -> list[str]:
    """The tests that its words name, where nothing else does."""
    field = lane.get("tasks")
    tests = []
    for line in [*(field.more if field else ()), *lane.rest]:
        for command in [] if line.fenced else test_commands.of_text(line.text)[0]:
            if task_keys.is_to_test(command):
                found.append(warning(line.number, f"{quoted(command)} is taken for its test"))
                tests.append(command)
    return tests


def _row_tests(row: Row, found: list[Finding]) -> list[str]:
    cells = [row.cells.get(head, "") for head in _TESTS]
    return [each for cell in cells for each in test_commands.of_cell(cell, row.line, found)]


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
    said = _type(row)
    if said and said not in _TYPES:
        problem = f"the task type {quoted(said)} is not known; it is done by a {BUILDER}"
        found.append(warning(row.line, problem, nearest(said, _TYPES)))
    return _TYPES.get(said, BUILDER)


def _after(
    row: Row, lane: Swimmer, names: Names, across: dict[str, int], found: list[Finding]
) -> tuple[str, ...]:
    """The tasks of this lane that it waits for; for one of another lane the whole lane waits."""
    cell = row.cells.get(_AFTER, "")
    own = lane.task_names
    after: dict[str, None] = {}
    for said in () if plan_words.is_none(cell) else plan_words.apart(cell):
        mine = said.removeprefix(f"{lane.name}.")
        name = next((each for each in (said, first_word(said), mine, said.rpartition("/")[2])
                     if each in own), None)  # fmt: skip
        above = own[: own.index(unmarked(row.cells[_column(row)]))] if _ABOVE.match(said) else []
        if name is not None or above:
            after |= dict.fromkeys([name] if name is not None else above)
            continue
        for other in of_text(said, row.line, lane.name, names, found):
            if other.lower() not in names.lanes:
                after[other] = None
            elif other != lane.name:
                across.setdefault(other, row.line)
    return tuple(after)


def _column(row: Row) -> str:
    return next(each for each in _IDS if each in row.cells)


def _prompt(lane: Swimmer, row: Row, column: str, tests: Sequence[str], around: str) -> str:
    """What the agent is told: the row, the lane around it, and when the phase is done."""
    cells = [
        f"{head.capitalize()}: {cell.replace('<br>', '; ')}"
        for head, cell in row.cells.items()
        if head not in (column, _AFTER, *_TESTS) and not plan_words.is_none(cell)
    ]
    told = [
        f"Task {unmarked(row.cells[column])} of lane {lane.name}: {lane.title}".rstrip(": "),
        "\n".join(cells),
        "It is tested by:\n" + "\n".join(f"- {each}" for each in tests) if tests else "",
        *words_of(lane),
        around,
    ]
    return "\n\n".join(part for part in told if part.strip())


def words_of(lane: Swimmer) -> list[str]:
    """The keys of a lane that its agents are told as they stand, and its other lines."""
    kept = [each for each in lane.fields.values() if each.key not in _OWN]
    return ["\n".join(body([each.start, *each.more]) for each in kept), body(lane.rest)]


def _only(lane: Swimmer, around: str, found: list[Finding], tests: Sequence[str]) -> list[Task]:
    """A lane without a table of tasks is one task, if it says what to do."""
    field = lane.get("tasks")
    listed = body([field.start, *field.more]) if field and (field.value or field.more) else ""
    is_titled = bool(lane.title and lane.fields)
    says = lane.get("scope") or lane.get("goal") or body(lane.rest) or listed
    if not says and not is_titled:
        remedy = "Add a table with the columns Task ID, Task Type and Depends On."
        found.append(Finding(lane.line, f"the lane {quoted(lane.name)} has no tasks", remedy))
        return []
    found.append(warning(lane.line, f"the lane {quoted(lane.name)} has no table of tasks",
                         "All of it is one task."))  # fmt: skip
    tested = "It is tested by:\n" + "\n".join(f"- {each}" for each in tests) if tests else ""
    told = [lane.title, *words_of(lane), listed, tested, around]
    prompt = "\n\n".join(part for part in told if part.strip())
    done = lane.first(DONE)
    words = [done.value, *(line.words for line in done.more)] if done else []
    return [Task(ONLY_TASK, prompt, line=lane.line, done="; ".join(filter(None, words)))]

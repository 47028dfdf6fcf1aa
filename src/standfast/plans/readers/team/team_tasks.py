"""The tasks of a team plan as they stand: a heading, keys, and all other lines. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.errors.base import BadName
from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.markdown_plan import Field, Line, fields, normal, unmarked
from standfast.plans.readers.team import task_keys, task_numbers
from standfast.plans.readers.team.task_index import TaskIndex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Block

TASKS = ("step by step tasks", "step by step task list", "tasks")
TEAM = ("team orchestration", "team members", "spawn waves")
SECTIONS = frozenset(
    (
        *TASKS, *TEAM, "task description", "objective", "project directory", "relevant files",
        "acceptance criteria", "success criteria", "validation commands", "project topology",
        "notes", "solution",
        "implementation phases", "problem statement", "parallelism mode",
    )
)  # fmt: skip
DONE = ("acceptance criteria", "acceptance criterion", "acceptance", "success criteria",
        "done when", "definition of done")  # fmt: skip
TESTS = ("verify", "validate", "validation", "test", "tests", "validation commands", "test command",
         "test commands", "verification")  # fmt: skip
INNER = ("notes", "acceptance criteria", "validation commands")  # headings that a task may have too
KEYS = frozenset(
    (
        "task id", "id", "depends on", "dependencies", "assigned to", "agent type", "parallel",
        "blocks", "build unit", "spawn wave", "wave", "context files", "expected", "behavioral",
        "retries", "actions", "files", "notes", "description", *TESTS, *DONE,
    )
)  # fmt: skip
IDS = ("task id", "id")
OF_A_TASK = frozenset(
    ("depends on", "assigned to", "agent type", "parallel", "files", *TESTS, *DONE)
)
_NAMED = re.compile(
    r"([A-Za-z]{1,12}[-_]?[0-9]{1,4}[a-z]?)\s*(?::|\)|\.(?=\s)|—|\u2013|--|-(?=\s))\s*(?=\S)"
)  # `T1: Extract`
_SPEAKS = re.compile(r"\bwave\s*[#:]?\s*[0-9]|\|\s*(?:spawn )?waves?\s*\|", re.IGNORECASE)
_MAY_REPEAT = frozenset(
    (*TESTS, *DONE, "expected", "behavioral", "notes", "files", "context files")
)
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class Step(NamedTuple):
    """A task as it stands: its heading, its keys, and all other lines."""

    number: str
    title: str
    name: str
    line: int
    fields: dict[str, Field]
    rest: list[Line]

    def get(self, *keys: str) -> Field | None:
        """The first of these keys that it has."""
        return next((self.fields[key] for key in keys if key in self.fields), None)


def is_task(block: Block) -> bool:
    """Whether a heading begins a task, wherever it stands."""
    return (
        has_id(block)
        or task_numbers.HEADED.match(block.name) is not None
        or named_by(block) is not None
    )


def has_id(block: Block) -> bool:
    """Whether its lines have a Task ID."""
    return any(each.key in IDS for each in fields(block.lines, IDS)[0])


def named_by(block: Block) -> re.Match[str] | None:
    """The id with which a heading begins, where its lines have keys of a task."""
    said = _NAMED.match(block.name)
    if said is None or task_numbers.HEADED.match(block.name) is not None:
        return None
    keys = {
        task_keys.meaning(each.key)
        for each in fields(block.lines, task_keys.known(block.lines, KEYS))[0]
    }
    return None if OF_A_TASK.isdisjoint(keys) else said


class _Group(NamedTuple):
    """A heading that begins a task, and all that stands below it."""

    block: Block
    number: re.Match[str] | None
    named: re.Match[str] | None
    lines: list[Line]


def steps_of(blocks: Sequence[Block], found: list[Finding]) -> list[Step]:
    """A heading with a number or a Task ID begins a task; others go on with the one before."""
    made: list[_Group] = []
    has_ids = False
    for block in blocks:
        number = task_numbers.HEADED.match(block.name)
        is_named = has_id(block)
        is_below = bool(made) and block.level > made[-1].block.level
        named = named_by(block)
        begins = (
            is_named
            or (named is not None and not is_below)
            or (number is not None and not (is_below and has_ids))
        )
        has_ids = has_ids or is_named
        if block.key not in TASKS and begins:
            made.append(_Group(block, number, named, list(block.lines)))
        elif not any(line.text.strip() for line in block.lines):
            continue
        elif block.key in TASKS:
            found.append(_before(block))
        elif is_below:
            made[-1].lines.extend([Line(block.line, f"**{block.name}**:"), *block.lines])
        else:
            found.append(warning(block.line, f"{quoted(block.name)} is no task: it has no Task ID",
                                 "Nothing of it is read."))  # fmt: skip
    steps = [_step(each, found) for each in made]
    _order(steps, found)
    return steps


def _before(block: Block) -> Finding:
    """What is said of the words before the first task: they may not speak of waves."""
    said = next((line for line in block.lines if _SPEAKS.search(line.text)), None)
    if said is None:
        return warning(block.line + 1, "words before the first task are not read")
    problem = f"{quoted(said.words)} speaks of waves, and is not read here"
    return Finding(said.number, problem, "Write it under a heading `Spawn Waves`.")


def _order(steps: list[Step], found: list[Finding]) -> None:
    """Make of whom a task blocks what that waits for; a key that could be such must be read."""
    by_name = {step.name: step for step in steps}
    index = TaskIndex(list(by_name.values()))
    for step in steps:
        for field in [each for key, each in step.fields.items() if task_keys.could_order(key)]:
            if field.key == task_keys.BLOCKS:
                _block(step, field, by_name, index, found)
            elif field.key != task_keys.AFTER:
                problem = f"{quoted(field.name)} could say whom the task waits for, and is not read"
                found.append(Finding(field.line, problem, "Write `Depends On`, or other words."))


def _block(
    step: Step, field: Field, by_name: Mapping[str, Step], index: TaskIndex, found: list[Finding]
) -> None:
    for line, each in plan_words.parts(field):
        names = index.resolve(each, line)
        for name in names:
            start = Line(line, step.name)
            own = by_name[name].fields.setdefault(
                task_keys.AFTER, Field(task_keys.AFTER, "Depends On", "", line, [], start)
            )
            own.more.append(start)
        if not names:
            problem = f"{quoted(step.name)} blocks {quoted(each)}, and there is no such task"
            found.append(Finding(line, problem))


def outside(blocks: Sequence[Block], inside: Sequence[Block]) -> list[Finding]:
    """Tasks that nobody would find: no plan is read by half."""
    seen = {block.line for block in inside}
    return [
        Finding(block.line, f"{quoted(block.name)} does not stand under Step by Step Tasks",
                "Move it.")
        for block in blocks
        if block.line not in seen
        and any(field.key == "task id" for field in fields(block.lines, KEYS)[0])
    ]  # fmt: skip


def _step(group: _Group, found: list[Finding]) -> Step:
    block, number = group.block, group.number
    lines = task_keys.asked(group.lines, found)
    got, rest = fields(lines, task_keys.known(lines, KEYS))
    head = number or group.named
    title = block.name[head.end() :].strip() if head else block.name
    by_key: dict[str, Field] = {}
    for said in got:
        field = _known_as(said)
        first = by_key.setdefault(field.key, field)
        is_other = normal(first.name) != normal(field.name)
        if first is not field and (field.key in _MAY_REPEAT or is_other):
            first.more.extend([field.start._replace(text=field.value), *field.more])
        elif first is not field:
            problem = f"{quoted(field.name)} stands twice in this task; first in line {first.line}"
            found.append(Finding(field.line, problem))
        if field.key not in KEYS and not task_keys.could_order(field.key):
            problem = f"{quoted(field.name)} is not a key of a task"
            found.append(warning(field.line, problem, "It goes into the prompt as it is."))
    _order_in(title, block.line, by_key)
    name = _name_of(by_key, group, title, found)
    return Step(
        task_numbers.of(block.name) if number else "", title or name, name, block.line, by_key, rest
    )


def _order_in(title: str, line: int, keys: dict[str, Field]) -> None:
    """`Worker (after 1)`: whom it waits for, where no key says so."""
    said = plan_words.order_in(title)
    if said is not None:
        keys.setdefault(said[0], Field(*said[:1], *said, line, [], Line(line, said[1])))


def _known_as(field: Field) -> Field:
    """A key by the name under which it is looked for."""
    key = task_keys.meaning(field.key)
    is_test = key not in KEYS and task_keys.is_test(key)
    return field._replace(key=task_keys.TEST if is_test else key)


def _name_of(keys: Mapping[str, Field], group: _Group, title: str, found: list[Finding]) -> str:
    """The Task ID, as its key says it, or its heading: `T1: Extract`."""
    said = keys.get("task id") or keys.get("id")
    if said is None and group.named:
        return _name(group.named[1], group.block.line, title, found)
    return _name(said.value if said else "", said.line if said else group.block.line, title, found)


def _name(said: str, line: int, title: str, found: list[Finding]) -> str:
    """The Task ID; a task without one is named by its heading."""
    plain = unmarked(said)
    if not plain:
        plain = _NO_NAME.sub("-", title.lower())[: ids.LONGEST_NAME].strip("._-") or "task"
        found.append(warning(line, f"the task has no Task ID; it is called {quoted(plain)}"))
    try:
        return ids.name(plain, what="the Task ID")
    except BadName as error:
        found.append(Finding(line, error.problem, error.remedy))
        return plain

"""What each hook of Claude Code tells, as facts for the journal: bounded, redacted, by recipe.

Text is redacted before it is cut: half of a key would no longer look like one. Hook path.
"""

from __future__ import annotations

import os

from standfast.clients.claude.recipes import (
    LISTS,
    MOST_TASKS,
    RECIPES,
    TASK_LIMITS,
    TASKS,
    TASKS_LIMIT,
)
from standfast.redaction.redactor import redact
from standfast.text import bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.clients.claude.hook_payload import Payload
    from standfast.clients.claude.recipes import Field

MAIN = "claude"
_LONG, _LOOKED, _EDGE, _NOTE = 64 * 1024, 24 * 1024, 8 * 1024, 20
_PATHS = frozenset({"file", "words"})
NOTICE = "<task-notification>"  # the client speaks in the user's place
DELEGATES = frozenset({"Agent", "Task"})


class Fact:
    """One event to be: its kind, its fields, who says it."""

    __slots__ = ("actor", "fields", "kind")

    def __init__(self, kind: str, fields: dict[str, str | int], actor: str) -> None:
        self.kind = kind
        self.fields = fields
        self.actor = actor


def facts(payload: Payload, event: str, actor: str, root: str) -> list[Fact]:
    """What the payload of one hook call tells; an unknown event tells nothing."""
    if event not in RECIPES:
        return []
    kind, recipe = RECIPES[event]
    found = [Fact(kind, _fields(payload, recipe, root), actor)] if recipe else []
    if kind == "prompt":
        _say_who_speaks(found[0])
    source = found[0].fields.get("tool") if kind == "tool.ended" else event
    if source in TASKS:
        found.append(Fact("tasks.told", _tasks(payload, str(source)), actor))
    return found


def _fields(payload: Payload, recipe: Sequence[Field], root: str) -> dict[str, str | int]:
    values = payload.ask([expression for _, expression, _ in recipe])
    return {
        name: value if name.startswith("json:") else _kept(name, value, limit, root)
        for (name, _, limit), value in zip(recipe, values, strict=True)
        if value is not None
    }


def _kept(name: str, value: str | int, limit: int, root: str) -> str | int:
    if isinstance(value, int):
        return value
    value = str(value)  # a number may have a fraction, or be too large for one
    if name in _PATHS and value.startswith(root + os.sep):  # as people name files of a project
        value = value[len(root) + 1 :]
    return _cut(value, limit)


def _cut(text: str, limit: int) -> str:
    """Redacted, then cut.

    Of a very long text only both ends are looked at, without their inner edges: half of a
    secret may lie there.
    """
    if len(text) <= _LONG:
        return bounded(redact(text), limit)
    head, tail = redact(text[:_LOOKED])[:-_EDGE], redact(text[-_LOOKED:])[_EDGE:]
    half = limit // 2 - _NOTE
    if half < _NOTE:
        return bounded(head, limit)
    cut = len(text) - 2 * half
    return f"{head[:half]}\n[… {cut} characters cut …]\n{tail[-half:]}"


def _say_who_speaks(prompt: Fact) -> None:
    """The user, unless the client put its own words there."""
    if str(prompt.fields.get("text", "")).startswith(NOTICE):
        prompt.kind = "notice"
    else:
        prompt.actor = "user"


def _tasks(payload: Payload, source: str) -> dict[str, str | int]:
    place = LISTS.get(source, "$")
    length = f"iif(json_type(?1,'{place}')='array',json_array_length(?1,'{place}'),NULL)"
    tasks, count = payload.ask([TASKS[source], length])
    is_whole = source in LISTS and count is not None and int(count) <= MOST_TASKS
    return {"json:tasks": _short(str(tasks or "[]")), **({"whole": 1} if is_whole else {})}


def _short(tasks: str) -> str:
    """Tasks are short; those that are not have each text redacted and then cut."""
    if len(tasks) <= TASKS_LIMIT:
        return tasks
    import json  # rare

    for task in (found := json.loads(tasks)):
        for name, text in task.items():
            if isinstance(text, str):
                task[name] = bounded(redact(text), TASK_LIMITS.get(name, 40))
    return json.dumps(found, ensure_ascii=False)

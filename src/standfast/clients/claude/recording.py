"""What each hook of Claude Code tells, as facts for the journal: bounded, redacted, by recipe.

A recipe names the kind of the event and its fields, each an SQL expression over the payload
and the most characters it may keep. Text is redacted before it is cut: half of a key would no
longer look like one. Hook path.
"""

from __future__ import annotations

import os

from standfast.protocol.text import bounded
from standfast.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.clients.claude.payload import Payload

    Field = tuple[str, str, int]

MAIN = "claude"
_LONG, _LOOKED, _EDGE, _NOTE = 64 * 1024, 24 * 1024, 8 * 1024, 20
NOTICE = "<task-notification>"  # the client speaks in the user's place
EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
DELEGATES = frozenset({"Agent", "Task"})
_WORDS = "coalesce({})".format(
    ",".join(
        f"?1->>'$.tool_input.{field}'"
        for field in (
            *("command", "file_path", "notebook_path", "subject", "description", "skill"),
            *("pattern", "query", "url", "summary", "taskId"),
        )
    )
    + ",?1->'$.tool_input'"
)
_CALL: tuple[Field, ...] = (
    ("id", "?1->>'tool_use_id'", 128),
    ("tool", "?1->>'tool_name'", 128),
    ("words", _WORDS, 400),
)

_STILL_RUNNING = """iif(json_type(?1,'$.background_tasks')='array'
    AND json_array_length(?1,'$.background_tasks')<=100,
    (SELECT json_group_array(value->>'id') FROM json_each(?1,'$.background_tasks')
    WHERE type='object' AND length(value->>'id')<=64),NULL)"""

RECIPES: dict[str, tuple[str, tuple[Field, ...]]] = {
    "SessionStart": (
        "session.started",
        (
            ("source", "?1->>'source'", 20),
            (
                "tokens",
                "iif(json_type(?1,'$.context_tokens')='integer',?1->>'context_tokens',NULL)",
                20,
            ),
            ("transcript", "?1->>'transcript_path'", 1000),
        ),
    ),
    "SessionEnd": ("session.ended", (("reason", "?1->>'reason'", 40),)),
    "UserPromptSubmit": ("prompt", (("text", "?1->>'prompt'", 4000),)),
    "PreToolUse": (
        "tool.started",
        (
            *_CALL,
            ("type", "?1->>'$.tool_input.subagent_type'", 80),
            (
                "prompt",
                "iif(?1->>'tool_name' IN ('Agent','Task'),?1->>'$.tool_input.prompt',NULL)",
                2000,
            ),
        ),
    ),
    "PostToolUse": (
        "tool.ended",
        (
            *_CALL,
            ("out", "?1->>'$.tool_response.stdout'", 600),
            ("err", "nullif(?1->>'$.tool_response.stderr','')", 300),
            ("background", "?1->>'$.tool_response.backgroundTaskId'", 64),
            ("agent", "?1->>'$.tool_response.agentId'", 64),
            ("running", "iif(?1->>'$.tool_response.status'='async_launched',1,NULL)", 1),
            ("text", "?1->>'$.tool_response.content[0].text'", 600),
            ("file", "?1->>'$.tool_response.filePath'", 400),
        ),
    ),
    "PostToolUseFailure": (
        "tool.failed",
        (
            *_CALL,
            ("error", "?1->>'error'", 900),
            ("interrupted", "nullif(?1->>'is_interrupt',0)", 1),
        ),
    ),
    "SubagentStart": (
        "agent.started",
        (("id", "?1->>'agent_id'", 64), ("type", "?1->>'agent_type'", 80)),
    ),
    "SubagentStop": (
        "agent.ended",
        (("id", "?1->>'agent_id'", 64), ("text", "?1->>'last_assistant_message'", 600)),
    ),
    "Stop": (
        "turn.ended",
        (
            ("text", "?1->>'last_assistant_message'", 600),
            ("json:background", _STILL_RUNNING, 8000),
        ),
    ),
    "PreCompact": ("compaction.begun", (("trigger", "?1->>'trigger'", 20),)),
    "PostCompact": (
        "compaction.ended",
        (("trigger", "?1->>'trigger'", 20), ("text", "?1->>'compact_summary'", 4000)),
    ),
    "TaskCreated": ("tasks.told", ()),
    "TaskCompleted": ("tasks.told", ()),
}

_ONE = "json_array(json_object('id',?1->>'{}','words',?1->>'{}','status',{}))"
_MANY = (
    "(SELECT json_group_array(json_object('id',{},'words',value->>'{}','status',value->>'status'))"
    " FROM (SELECT key,value FROM json_each(?1,'{}') WHERE type='object' LIMIT 50))"
)
_MOST_TASKS = 50
_TASKS_LIMIT = 8000
_TASK_LIMITS = {"id": 64, "words": 160}
_LISTS = {"TaskList": "$.tool_response.tasks", "TodoWrite": "$.tool_input.todos"}
_TASKS = {  # by tool, or by event
    "TaskCreate": _ONE.format("$.tool_response.task.id", "$.tool_response.task.subject", "NULL"),
    "TaskUpdate": _ONE.format(
        "$.tool_input.taskId", "$.tool_input.subject", "?1->>'$.tool_input.status'"
    ),
    "TaskList": _MANY.format("value->>'id'", "subject", _LISTS["TaskList"]),
    "TodoWrite": _MANY.format("CAST(key+1 AS TEXT)", "content", _LISTS["TodoWrite"]),
    "TaskCreated": _ONE.format("task_id", "task_subject", "NULL"),
    "TaskCompleted": _ONE.format("task_id", "task_subject", "'completed'"),
}


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
    if source in _TASKS:
        found.append(Fact("tasks.told", _tasks(payload, str(source)), actor))
    return found


def _fields(payload: Payload, recipe: Sequence[Field], root: str) -> dict[str, str | int]:
    values = payload.ask([expression for _, expression, _ in recipe])
    return {
        name: value if name.startswith("json:") else _kept(value, limit, root)
        for (name, _, limit), value in zip(recipe, values, strict=True)
        if value is not None
    }


def _kept(value: str | int, limit: int, root: str) -> str | int:
    if isinstance(value, int):
        return value
    value = str(value)  # a number may have a fraction, or be too large for one
    if value.startswith(root + os.sep):  # a file of the project: absolute paths tell too much
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
    place = _LISTS.get(source, "$")
    length = f"iif(json_type(?1,'{place}')='array',json_array_length(?1,'{place}'),NULL)"
    tasks, count = payload.ask([_TASKS[source], length])
    is_whole = source in _LISTS and count is not None and int(count) <= _MOST_TASKS
    return {"json:tasks": _short(str(tasks or "[]")), **({"whole": 1} if is_whole else {})}


def _short(tasks: str) -> str:
    """Tasks are short; those that are not have each text redacted and then cut."""
    if len(tasks) <= _TASKS_LIMIT:
        return tasks
    import json  # rare

    for task in (found := json.loads(tasks)):
        for name, text in task.items():
            if isinstance(text, str):
                task[name] = bounded(redact(text), _TASK_LIMITS.get(name, 40))
    return json.dumps(found, ensure_ascii=False)

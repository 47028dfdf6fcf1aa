"""What is kept of each payload of Claude Code, as data: kind of event, fields, their length.

A field is an SQL expression in which `?1` is the payload, and the most characters it may keep;
a name that begins with `json:` is kept as the JSON that the expression gives. Hook path.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Field = tuple[str, str, int]

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
MOST_TASKS = 50
TASKS_LIMIT = 8000
TASK_LIMITS = {"id": 64, "words": 160}
LISTS = {"TaskList": "$.tool_response.tasks", "TodoWrite": "$.tool_input.todos"}
TASKS = {  # by tool, or by event
    "TaskCreate": _ONE.format("$.tool_response.task.id", "$.tool_response.task.subject", "NULL"),
    "TaskUpdate": _ONE.format(
        "$.tool_input.taskId", "$.tool_input.subject", "?1->>'$.tool_input.status'"
    ),
    "TaskList": _MANY.format("value->>'id'", "subject", LISTS["TaskList"]),
    "TodoWrite": _MANY.format("CAST(key+1 AS TEXT)", "content", LISTS["TodoWrite"]),
    "TaskCreated": _ONE.format("task_id", "task_subject", "NULL"),
    "TaskCompleted": _ONE.format("task_id", "task_subject", "'completed'"),
}

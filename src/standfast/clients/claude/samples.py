"""One small call of each hook that we listen to, as Claude Code would make it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOOL = {"tool_name": "Bash", "tool_use_id": "toolu_proof", "tool_input": {"command": "true"}}
_AGENT = {"agent_id": "proof", "agent_type": "Explore"}
_TASK = {"task_id": "1", "task_subject": "See that hooks answer"}
_ASKED = {
    **_TOOL,
    "tool_name": "Agent",
    "tool_input": {"description": "Try", "prompt": "Try.", "subagent_type": "Explore"},
}

SAMPLES: Mapping[str, Mapping[str, object]] = {
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "other"},
    "UserPromptSubmit": {"prompt": "Do the hooks answer?"},
    "PreToolUse": _TOOL,
    "PostToolUse": {**_TOOL, "tool_response": {"stdout": "", "stderr": ""}},
    "PostToolUseFailure": {**_TOOL, "error": "Exit code 1"},
    "SubagentStart": _AGENT,
    "SubagentStop": {**_AGENT, "stop_hook_active": False},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "They do."},
    "PreCompact": {"trigger": "manual", "custom_instructions": ""},
    "PostCompact": {"trigger": "manual", "compact_summary": "Hooks were tried."},
    "TaskCreated": _TASK,
    "TaskCompleted": _TASK,
}
# A subagent counts only when a call has asked for it: the client starts others for itself.
BEFORE: Mapping[str, Sequence[tuple[str, Mapping[str, object]]]] = {
    "SubagentStart": (("PreToolUse", _ASKED),),
    "SubagentStop": (("PreToolUse", _ASKED), ("SubagentStart", _AGENT)),
}

"""The story from payloads as Claude Code 2.1.325 sends them, where the program cannot be had.

Hooks are called as it calls them: the installed launcher, one process each. The commands of the
story are really run, and a process that stands in for the client is really killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING

from harness import story
from standfast.clients.hooks import launcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.rig.place import Place

SESSION = "5d0c1f6e-7a34-4b7e-9c55-2f81d6a3e904"
AGENT = "a3f19c07e52d84b66"
MODEL = "claude-opus-5-5"
_PROMPTS = {
    story.ASKED: "0b7a3c52-91de-4f06-8a1d-6c2e5f90b7a1",
    story.ALSO: "1c8b4d63-a2ef-4017-9b2e-7d3f60a1c8b2",
    story.ALL_ASKED: "2d9c5e74-b3f0-4128-ac3f-8e4071b2d9c3",
    story.WOKEN: "3ead6f85-c401-4239-bd40-9f5182c3ead4",
}
_TURN = {"permission_mode": "bypassPermissions", "effort": {"level": "medium"}}
_RESTING = {"stop_hook_active": False, "background_tasks": [], "session_crons": []}
_WOKEN = {
    "seconds_since_last_response": 2,
    "context_tokens": 1010,
    "prompt_cache_likely_expired": False,
    "estimated_cache_write_usd": 0.0051,
}
# Says the version that is asked for, and runs what it is given until it is killed.
STAND_IN = f"""\
#!/bin/sh
[ "$1" = --version ] && echo "{story.VERSION} (Claude Code)" && exit
while read -r command; do sh -c "$command"; done
"""
_PATIENCE_S = 60


class Recorded:
    """Payloads, told to the launcher in *place*; *program* stands in for the client."""

    source = "what Standfast's hook printed for the next request"

    def __init__(self, program: str, place: Place, extra: Mapping[str, str]) -> None:
        self._place = place
        self._program = program
        named = {"CLAUDE_PROJECT_DIR": place.project, "CLAUDE_CODE_SESSION_ID": SESSION}
        self._environ = place.environment("http://127.0.0.1:9", {**extra, **named})
        self._launcher = launcher.path(self._environ)
        self._client: subprocess.Popen[str] | None = None
        self._prompt = ""
        self._calls = 0
        self._took: list[int] = []

    def work(self) -> None:
        """Two requests of the user, done."""
        self._start_client()
        self._hook("SessionStart", source="startup")
        self._ask(story.ASKED)
        self._bash(story.NOTE)
        self._bash(story.COMMIT)
        self._hook("Stop", **_TURN, **_RESTING, last_assistant_message=story.FIXED)
        self._ask(story.ALSO)
        self._bash(story.REFUNDS)
        self._audit()
        self._hook("Stop", **_TURN, **_RESTING, last_assistant_message=story.REPORTED)

    def compact(self) -> story.Left:
        """The events of a compaction, in their order."""
        summary = f"<summary>{story.SUMMARY}</summary>"
        self._hook("PreCompact", trigger="manual", custom_instructions=None)
        self._hook("SessionStart", source="compact", model=MODEL)
        self._hook("PostCompact", trigger="manual", compact_summary=summary)
        self._ask(story.ALL_ASKED)
        return story.Left(summary, "no model runs here that could tell what is left")

    def kill(self) -> None:
        """The stand-in alone, while the command that it was given runs."""
        self._hook("PreToolUse", **_TURN, **self._call("Bash", {"command": story.ALL}))
        assert self._client is not None
        assert self._client.stdin is not None
        self._client.stdin.write(f"{story.ALL}\n")
        self._client.stdin.flush()
        story.wait_until_started(self._place)
        self._end_client()

    def wake(self) -> str:
        """What the hooks of a resumed session print for the model."""
        self._start_client()
        printed = [self._hook("SessionStart", source="resume", **_WOKEN), self._ask(story.WOKEN)]
        self._hook("Stop", **_TURN, **_RESTING, last_assistant_message="In a run of all tests.")
        return "\n".join(_context(each) for each in printed)

    def hook_times_ms(self) -> list[int]:
        """From the start of each process to its end."""
        return self._took

    def close(self) -> None:
        """End the stand-in and whatever it left."""
        if self._client is not None:
            self._end_client()
        self._place.end_leftovers()

    def _start_client(self) -> None:
        self._client = subprocess.Popen(
            [self._program],
            cwd=self._place.project,
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
        self._environ["CLAUDE_PID"] = str(self._client.pid)

    def _end_client(self) -> None:
        client, self._client = self._client, None
        assert client is not None
        assert client.stdin is not None
        client.kill()
        client.wait()
        client.stdin.close()

    def _ask(self, words: str) -> str:
        self._prompt = _PROMPTS[words]
        return self._hook("UserPromptSubmit", **_TURN, prompt=words)

    def _call(self, tool: str, given: Mapping[str, object]) -> dict[str, object]:
        self._calls += 1
        use = f"toolu_01demo{self._calls:012d}"
        return {"tool_name": tool, "tool_input": dict(given), "tool_use_id": use}

    def _bash(self, command: str) -> None:
        call = self._call("Bash", {"command": command, "description": "a step"})
        self._hook("PreToolUse", **_TURN, **call)
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self._place.project,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        out = done.stdout.strip()
        if done.returncode:
            error = f"Exit code {done.returncode}\n{out}"
            self._hook("PostToolUseFailure", **_TURN, **call, error=error, is_interrupt=False)
        else:
            said = {"stdout": out, "stderr": done.stderr, "interrupted": False, "isImage": False}
            self._hook("PostToolUse", **_TURN, **call, tool_response=said)

    def _audit(self) -> None:
        given = {"description": story.AUDIT_NAME, "prompt": story.AUDIT_ASKED}
        call = self._call("Agent", {**given, "subagent_type": "general-purpose"})
        agent = {"agent_id": AGENT, "agent_type": "general-purpose"}
        self._hook("PreToolUse", **_TURN, **call)
        self._hook("SubagentStart", **agent)
        self._hook(
            "SubagentStop", **_TURN, **_RESTING, **agent, last_assistant_message=story.AUDITED
        )
        content = [{"type": "text", "text": story.AUDITED}]
        said = {"status": "completed", "agentId": AGENT, "content": content}
        self._hook("PostToolUse", **_TURN, **call, tool_response=said)

    def _hook(self, event: str, /, **fields: object) -> str:
        """Call one hook; what it prints."""
        about = {
            "session_id": SESSION,
            "transcript_path": os.path.join(self._place.config, "projects", f"{SESSION}.jsonl"),
            "cwd": self._place.project,
            **({"prompt_id": self._prompt} if self._prompt else {}),
        }
        began = time.perf_counter()
        done = subprocess.run(
            [self._launcher, "claude"],
            cwd=self._place.project,
            env=self._environ,
            input=json.dumps({**about, "hook_event_name": event, **fields}),
            capture_output=True,
            encoding="utf-8",
            timeout=_PATIENCE_S,
            check=True,
        )
        self._took.append(round((time.perf_counter() - began) * 1000))
        return done.stdout


def _context(printed: str) -> str:
    """What the client would add to the next request."""
    said = json.loads(printed) if printed else {}
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))

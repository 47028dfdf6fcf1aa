"""Hook calls as Claude Code makes them, served in this process; several tests speak through it."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from standfast.clients.hooks import hook_call
from standfast.clients.hooks.deadline import ANSWER
from standfast.journal.store import Journal

SESSION = "8f2c0000-1111-4222-8333-444455556666"


class Claude:
    """One session of the client in one repository: call it with an event and its fields."""

    def __init__(self, root: Path, session: str = SESSION, *, pid: int | None = None) -> None:
        self.root = root
        self.session = session
        self.pid = str(pid or os.getpid())
        self.calls = 0
        self.tells_agents = True  # older clients name the session to no hook

    def __call__(self, event: str, **fields: Any) -> str:
        """Give the hook what the client gives it, and take what it prints."""
        said = _serve(*self._given(event, fields))
        assert said.startswith(ANSWER), f"{event} was not answered"
        return said[1:].decode()

    def misses(self, event: str, **fields: Any) -> None:
        """Give the hook the same, and leave before it has answered."""
        assert _serve(*self._given(event, fields), waits=False) == b""

    def _given(self, event: str, fields: Mapping[str, Any]) -> tuple[bytes, str, dict[str, str]]:
        own = {"session_id": self.session, "cwd": str(self.root), "hook_event_name": event}
        its = {"CLAUDE_PROJECT_DIR": str(self.root)}
        if self.tells_agents:
            its["CLAUDE_CODE_SESSION_ID"] = self.session
        return json.dumps({**own, **fields}).encode(), self.pid, {**os.environ, **its}

    def begins(self, tool: str, **given: Any) -> str:
        """Call a tool that does not come back by itself; its id."""
        self.calls += 1
        name = f"toolu_{self.calls}"
        self("PreToolUse", tool_name=tool, tool_input=given, tool_use_id=name)
        return name

    def does(self, tool: str, *, response: Mapping[str, Any] | None = None, **given: Any) -> str:
        """Call a tool that comes back; what the hook that follows it prints."""
        name = self.begins(tool, **given)
        return self.ends(name, tool, response=response, **given)

    def ends(
        self, name: str, tool: str, *, response: Mapping[str, Any] | None = None, **given: Any
    ) -> str:
        """A call comes back."""
        return self(
            "PostToolUse",
            tool_name=tool,
            tool_input=given,
            tool_use_id=name,
            tool_response=response or {"stdout": "", "stderr": ""},
        )

    def fails(self, tool: str, error: str, **given: Any) -> None:
        """Call a tool that comes back with an error."""
        name = self.begins(tool, **given)
        self(
            "PostToolUseFailure",
            tool_name=tool,
            tool_input=given,
            tool_use_id=name,
            error=error,
        )

    def wakes(self, source: str = "compact", **fields: Any) -> str:
        """Start anew for some reason; what the model is given."""
        return context(self("SessionStart", source=source, **fields))

    @property
    def journal(self) -> Journal:
        """What it all went into."""
        return Journal(str(self.root / ".git" / "standfast"))


def context(printed: str) -> str:
    """What of a hook's output reaches the model."""
    if not printed:
        return ""
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])


def _serve(payload: bytes, pid: str, environ: Mapping[str, str], *, waits: bool = True) -> bytes:
    before = os.dup(0)
    answer, its = os.pipe()
    pipe = os.fstat(its)
    if not waits:
        os.close(answer)
    try:
        _put_on_stdin(payload)
        hook_call.serve(pid, environ, its)
    finally:
        os.dup2(before, 0)
        os.close(before)
    _close(its, pipe)
    if not waits:
        return b""
    with os.fdopen(answer, "rb") as said:
        return said.read()


def _close(fd: int, was: os.stat_result) -> None:
    """The one that serves closes it, unless it had to keep the fact elsewhere."""
    try:
        if os.path.samestat(os.fstat(fd), was):
            os.close(fd)
    except OSError:
        pass


def _put_on_stdin(payload: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(payload)
        file.seek(0)
        os.dup2(file.fileno(), 0)

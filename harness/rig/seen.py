"""One request that the model received, and what it tells: who asked, and every word shown.

Clients say who asks only in passing: a header on newer versions, the opening of the system
prompt on older ones. What they ask for on the side (a title, a command's prefix, a warm-up)
comes without tools.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from standfast.formats.document_limits import Value

AGENT_HEADER = "x-claude-code-agent-id"
AGENT_OPENING = "You are an agent for Claude Code"
SUMMARY_ASKED = "Your task is to create a detailed summary"


class Kind(StrEnum):
    """Who asks, and for what."""

    MAIN = "main"
    AGENT = "agent"
    SUMMARY = "summary"
    SIDE = "side"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one call of the Messages API said."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Value]
    kind: Kind

    @property
    def system(self) -> str:
        """The system prompt."""
        return "\n".join(_texts(self.body.get("system")))

    @property
    def last_user(self) -> str:
        """The last message of the user, tool results among it."""
        users = [text for role, text in messages(self.body) if role == "user"]
        return users[-1] if users else ""

    @property
    def text(self) -> str:
        """Every word that the model was shown, in order."""
        return "\n".join([self.system, *(text for _, text in messages(self.body))])

    @property
    def agent(self) -> str:
        """The subagent's id, where the client tells it."""
        return self.headers.get(AGENT_HEADER, "")


def received(
    path: str, headers: Mapping[str, str], body: Mapping[str, Value], tasks: Iterable[str] = ()
) -> Request:
    """Look at one call; *tasks* are the prompts that subagents were given so far."""
    lower = {name.lower(): value for name, value in headers.items()}
    return Request(path=path, headers=lower, body=body, kind=_kind(path, lower, body, tasks))


def _kind(
    path: str, headers: Mapping[str, str], body: Mapping[str, Value], tasks: Iterable[str]
) -> Kind:
    said = messages(body)
    users = [text for role, text in said if role == "user"]
    if users and SUMMARY_ASKED in users[-1]:
        return Kind.SUMMARY
    if "count_tokens" in path or body.get("max_tokens") == 1 or not body.get("tools"):
        return Kind.SIDE
    opening = "\n".join(_texts(body.get("system")))
    if AGENT_HEADER in headers or AGENT_OPENING in opening:
        return Kind.AGENT
    return Kind.AGENT if any(task in text for task in tasks for text in users[:1]) else Kind.MAIN


def messages(body: Mapping[str, Value]) -> list[tuple[str, str]]:
    """The role and the words of each message; what has another shape says nothing."""
    listed = body.get("messages")
    return [
        (str(each.get("role")), "\n".join(_texts(each.get("content"))))
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict)
    ]


def _texts(content: Value) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            yield from _texts(block)
    elif isinstance(content, dict):
        yield from _texts(content.get("text"))
        yield from _texts(content.get("content"))
        if content.get("type") == "tool_use":
            yield json.dumps(content.get("input"), ensure_ascii=False)

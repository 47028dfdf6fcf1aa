"""What the dialects of other clients share: events as lines, and requests told in one form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from standfast.formats.document_limits import Value

STREAM = "text/event-stream"
TOKENS_OUT = 10

Block = dict[str, "Value"]


def to_json(value: Block) -> bytes:
    """One JSON value."""
    return json.dumps(value, ensure_ascii=False).encode()


def to_lines(events: Iterable[Block]) -> bytes:
    """Server-sent events, each with the name of its type if it has one."""
    said = b""
    for event in events:
        named = f"event: {event['type']}\n".encode() if "type" in event else b""
        said += named + b"data: " + to_json(event) + b"\n\n"
    return said


def told(system: Value, messages: Iterable[tuple[str, Value]], tools: Value) -> Mapping[str, Value]:
    """A request in the form of the Messages API."""
    listed: list[Value] = [{"role": role, "content": content} for role, content in messages]
    return {"system": system, "messages": listed, "tools": tools}


def listed(value: Value) -> list[Block]:
    """The objects in a list; anything else is none."""
    return [each for each in (value if isinstance(value, list) else []) if isinstance(each, dict)]

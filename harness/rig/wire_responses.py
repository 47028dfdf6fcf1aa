"""A reply in the form of the Responses API, which Codex speaks: always a stream of events.

Codex edits by a tool that takes free text and runs commands by one that takes JSON: a call whose
input is `{"input": TEXT}` alone goes out as the former where the client offers it so.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from harness.rig.dialect import OK, Answer
from harness.rig.events import STREAM, TOKENS_OUT, Block, listed, to_json, to_lines, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.rig.script import Reply
    from standfast.formats.document_limits import Value

_RESULTS = ("function_call_output", "custom_tool_call_output")


def serves(path: str) -> bool:
    """Only responses are here."""
    return path.partition("?")[0].endswith("/responses")


def heard(_path: str, body: Mapping[str, Value]) -> Mapping[str, Value]:
    """Items become messages; what a tool gave back is the user's, as in the Messages API."""
    return told(body.get("instructions"), _messages(body), body.get("tools"))


def _messages(body: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    for item in listed(body.get("input")):
        if item.get("type") in _RESULTS:
            yield "user", item.get("output")
        elif item.get("type", "message") == "message":
            yield str(item.get("role")), item.get("content")


def answer(reply: Reply, _path: str, body: Mapping[str, Value]) -> Answer:
    """What goes out for *reply*."""
    if reply.status != OK:
        return Answer(_failure(reply), reply.status)
    return Answer(to_lines(_events(reply, body)), kind=STREAM)


def error(status: int, message: str) -> bytes:
    """An error of the API."""
    return to_json({"error": {"message": message, "type": "invalid_request_error", "code": status}})


def _failure(reply: Reply) -> bytes:
    """A plan's limit, as the service tells it, or any other error."""
    if not reply.resets_s:
        return error(reply.status, reply.text)
    limit: Block = {
        "type": "usage_limit_reached",
        "message": reply.text,
        "plan_type": "pro",
        "resets_at": reply.resets_s,
        "resets_in_seconds": max(0, reply.resets_s - int(time.time())),
    }
    return to_json({"error": limit})


def _events(reply: Reply, body: Mapping[str, Value]) -> Iterator[Block]:
    name = f"resp_{os.urandom(8).hex()}"
    yield {"type": "response.created", "response": {"id": name}}
    for item in _items(reply, body):
        yield {"type": "response.output_item.done", "item": item}
    usage: Block = {
        "input_tokens": reply.tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": TOKENS_OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.tokens + TOKENS_OUT,
    }
    yield {"type": "response.completed", "response": {"id": name, "usage": usage}}


def _items(reply: Reply, body: Mapping[str, Value]) -> Iterator[Block]:
    free = {tool.get("name") for tool in listed(body.get("tools")) if tool.get("type") == "custom"}
    if reply.text or not reply.calls:
        content: list[Value] = [{"type": "output_text", "text": reply.text}]
        yield {"type": "message", "role": "assistant", "content": content}
    for name, given in reply.calls:
        call: Block = {"call_id": f"call_{os.urandom(8).hex()}", "name": name}
        if name in free:
            yield {"type": "custom_tool_call", **call, "input": given.get("input", "")}
        else:
            yield {"type": "function_call", **call, "arguments": json.dumps(given)}

"""A reply in the form of chat completions, which opencode and many others speak."""

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

_DONE = b"data: [DONE]\n\n"
_OPENING = ("system", "developer")


def serves(path: str) -> bool:
    """Only chat completions are here."""
    return path.partition("?")[0].endswith("/chat/completions")


def heard(_path: str, body: Mapping[str, Value]) -> Mapping[str, Value]:
    """Nearly the same; what a tool gave back is the user's, as in the Messages API."""
    messages = listed(body.get("messages"))
    system: list[Value] = [each.get("content") for each in messages if each["role"] in _OPENING]
    said = (
        ("user" if each["role"] == "tool" else str(each["role"]), each.get("content"))
        for each in messages
        if each["role"] not in _OPENING
    )
    return told(system, said, body.get("tools"))


def answer(reply: Reply, _path: str, body: Mapping[str, Value]) -> Answer:
    """What goes out for *reply*."""
    if reply.status != OK:
        wait = str(max(0, reply.resets_s - int(time.time())))
        headers = {"retry-after": wait} if reply.resets_s else {}
        return Answer(error(reply.status, reply.text), reply.status, headers=headers)
    if body.get("stream"):
        return Answer(to_lines(_events(reply)) + _DONE, kind=STREAM)
    return Answer(to_json(_whole("chat.completion", "message", _message(reply), reply)))


def error(status: int, message: str) -> bytes:
    """An error of the API."""
    return to_json({"error": {"message": message, "type": "error", "code": status}})


def _events(reply: Reply) -> Iterator[Block]:
    yield _whole("chat.completion.chunk", "delta", _message(reply), reply)


def _whole(kind: str, at: str, message: Block, reply: Reply) -> Block:
    choice: Block = {
        "index": 0,
        at: message,
        "finish_reason": "tool_calls" if reply.calls else "stop",
    }
    usage: Block = {
        "prompt_tokens": reply.tokens,
        "completion_tokens": TOKENS_OUT,
        "total_tokens": reply.tokens + TOKENS_OUT,
    }
    name = f"chatcmpl-{os.urandom(8).hex()}"
    return {"id": name, "object": kind, "created": 0, "choices": [choice], "usage": usage}


def _message(reply: Reply) -> Block:
    calls: list[Value] = [
        {
            "index": index,
            "id": f"call_{os.urandom(8).hex()}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for index, (name, given) in enumerate(reply.calls)
    ]
    message: Block = {"role": "assistant", "content": reply.text}
    return {**message, "tool_calls": calls} if calls else message

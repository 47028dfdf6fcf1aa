"""A reply in the form of the Anthropic Messages API: one JSON value, or a stream of events."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from harness.rig.dialect import BAD_REQUEST, OK, TOO_MANY, Answer
from harness.rig.script import AGENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.rig.script import Reply
    from standfast.formats.document_limits import Value

Block = dict[str, "Value"]


def serves(path: str) -> bool:
    """Only the Messages API is here."""
    return path.startswith("/v1/messages")


def heard(_path: str, body: Mapping[str, Value]) -> Mapping[str, Value]:
    """The others are told in its own form."""
    return body


def answer(reply: Reply, path: str, body: Mapping[str, Value]) -> Answer:
    """What goes out for *reply*."""
    if reply.status != OK:
        return Answer(error(reply.status, reply.text), reply.status, headers=_limits(reply))
    if "count_tokens" in path:
        return Answer(token_count(reply))
    if body.get("stream"):
        return Answer(stream(reply, body), kind="text/event-stream")
    return Answer(whole(reply, body))


def _limits(reply: Reply) -> Mapping[str, str]:
    """How a subscription's limit is told."""
    prefix = "anthropic-ratelimit-unified-"
    told = {
        "status": "rejected",
        "reset": str(reply.resets_s),
        "representative-claim": "five_hour",
    }
    return {prefix + name: said for name, said in told.items()} if reply.resets_s else {}


def error(status: int, message: str) -> bytes:
    """An error of the API."""
    kinds = {BAD_REQUEST: "invalid_request_error", TOO_MANY: "rate_limit_error"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")  # noqa: PLR2004  # HTTP's own
    return _json({"type": "error", "error": {"type": kind, "message": message}})


def token_count(reply: Reply) -> bytes:
    """What count_tokens answers."""
    return _json({"input_tokens": reply.tokens})


def whole(reply: Reply, asked: Mapping[str, Value]) -> bytes:
    """A reply in one piece."""
    content: list[Value] = list(_blocks(reply, asked))
    return _json({**_opening(reply, asked), "content": content, "stop_reason": _stop(reply)})


def stream(reply: Reply, asked: Mapping[str, Value]) -> bytes:
    """A reply as server-sent events."""
    return b"".join(
        f"event: {event['type']}\ndata: ".encode() + _json(event) + b"\n\n"
        for event in _events(reply, asked)
    )


def _events(reply: Reply, asked: Mapping[str, Value]) -> Iterator[Block]:
    yield {"type": "message_start", "message": _opening(reply, asked)}
    for index, block in enumerate(_blocks(reply, asked)):
        delta: Block
        if block["type"] == "text":
            empty: Block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending: Block = {"stop_reason": _stop(reply), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}


def _opening(reply: Reply, asked: Mapping[str, Value]) -> Block:
    return {
        "id": f"msg_{os.urandom(10).hex()}",
        "type": "message",
        "role": "assistant",
        "model": asked.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": reply.tokens, "output_tokens": 10},
    }


def _blocks(reply: Reply, asked: Mapping[str, Value]) -> Iterator[Block]:
    if reply.text or not reply.calls:
        yield {"type": "text", "text": reply.text}
    tools = _properties(asked)
    for name, given in reply.calls:
        known = "Task" if name == AGENT and AGENT not in tools else name
        # A subagent is waited for unless the story says otherwise: newer clients do not by default.
        waits: Block = (
            {"run_in_background": False}
            if name == AGENT and "run_in_background" in tools.get(known, ())
            else {}
        )
        call: Block = {"type": "tool_use", "id": f"toolu_{os.urandom(10).hex()}", "name": known}
        yield {**call, "input": {**waits, **given}}


def _properties(asked: Mapping[str, Value]) -> dict[str, tuple[str, ...]]:
    """The tools that the client offers, and what each of them can be given."""
    offered: dict[str, tuple[str, ...]] = {}
    tools = asked.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict):
            schema = tool.get("input_schema")
            names = schema.get("properties") if isinstance(schema, dict) else None
            offered[str(tool.get("name"))] = tuple(names) if isinstance(names, dict) else ()
    return offered


def _stop(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _json(value: Block) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()

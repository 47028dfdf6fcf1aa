"""A reply in the form of the Gemini API, which Gemini CLI speaks: a stream, or one JSON value."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from harness.rig.dialect import OK, Answer
from harness.rig.events import STREAM, TOKENS_OUT, Block, listed, to_json, to_lines, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.rig.script import Reply
    from standfast.formats.document_limits import Value

_DAY = "GenerateRequestsPerDayPerProjectPerModel"


def serves(path: str) -> bool:
    """Only what a model generates is here."""
    return "enerateContent" in path or ":countTokens" in path


def heard(_path: str, body: Mapping[str, Value]) -> Mapping[str, Value]:
    """Contents become messages; what a tool gave back is the user's already."""
    system = body.get("systemInstruction")
    parts = system.get("parts") if isinstance(system, dict) else None
    return told(parts, _messages(body), body.get("tools"))


def _messages(body: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    for content in listed(body.get("contents")):
        said: list[Value] = [_said(part) for part in listed(content.get("parts"))]
        yield ("user" if content.get("role") == "user" else "assistant"), said


def _said(part: Block) -> Value:
    given = part.get("functionResponse")
    response = given.get("response") if isinstance(given, dict) else None
    output = response.get("output") if isinstance(response, dict) else None
    return {"text": part.get("text", output)}


def answer(reply: Reply, path: str, _body: Mapping[str, Value]) -> Answer:
    """What goes out for *reply*."""
    if reply.status != OK:
        return Answer(_failure(reply), reply.status)
    if ":countTokens" in path:
        return Answer(to_json({"totalTokens": reply.tokens}))
    if ":stream" in path:
        return Answer(to_lines([_content(reply)]), kind=STREAM)
    return Answer(to_json(_content(reply)))


def error(status: int, message: str) -> bytes:
    """An error of the API."""
    return to_json({"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}})


def _failure(reply: Reply) -> bytes:
    """A day's quota that is used up, as the service tells it, or any other error."""
    if not reply.resets_s:
        return error(reply.status, reply.text)
    kind = "type.googleapis.com/google.rpc."
    wait = f"{max(0, reply.resets_s - int(time.time()))}s"
    details: list[Value] = [
        {"@type": f"{kind}QuotaFailure", "violations": [{"quotaId": _DAY}]},
        {"@type": f"{kind}RetryInfo", "retryDelay": wait},
    ]
    message = f"{reply.text} Please retry in {wait}."
    told_as: Block = {"code": reply.status, "message": message, "status": "RESOURCE_EXHAUSTED"}
    return to_json({"error": {**told_as, "details": details}})


def _content(reply: Reply) -> Block:
    parts: list[Value] = [{"text": reply.text}] if reply.text or not reply.calls else []
    parts += [{"functionCall": {"name": name, "args": dict(given)}} for name, given in reply.calls]
    candidate: Block = {
        "content": {"role": "model", "parts": parts},
        "finishReason": "STOP",
        "index": 0,
    }
    usage: Block = {
        "promptTokenCount": reply.tokens,
        "candidatesTokenCount": TOKENS_OUT,
        "totalTokenCount": reply.tokens + TOKENS_OUT,
    }
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "rig"}

"""Claude Code in print mode: one JSON object in each line, the last one is the result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.runners.registry import Report
from standfast.runners.templates import (
    count,
    dollars,
    filled,
    get,
    moment,
    name,
    objects,
    text,
    words,
)

if TYPE_CHECKING:
    from datetime import datetime

    from standfast.formats.document_limits import Value
    from standfast.runners.registry import Call, Runner

_PRINTS = ("-p", "--output-format", "stream-json", "--verbose")
_TOO_MANY = 429
_OLD_LIMIT = re.compile(r"usage limit reached\|([0-9]{10})\b")


def argv(runner: Runner, call: Call) -> list[str]:
    """The prompt is its input; the session has an id of our choice, or is gone on with."""
    if call.is_resumed and runner.resume:
        return [*filled(runner.resume, call), *_PRINTS]
    session = ("--resume" if call.is_resumed else "--session-id", call.session)
    return [*filled(runner.command, call), *_PRINTS, *(session if call.session else ())]


def read(out: bytes, err: bytes = b"", now: datetime | None = None) -> Report:  # noqa: ARG001  # as every client
    """Its result; where it was cut off before that, what its messages tell."""
    report = Report()
    used: dict[str, tuple[int, int]] = {}
    for said in objects(out):
        report = _after(report, said, used)
    if not report.tokens_in:
        report = report._replace(
            tokens_in=sum(taken for taken, _ in used.values()),
            tokens_out=sum(given for _, given in used.values()),
        )
    return report


def _after(report: Report, said: dict[str, Value], used: dict[str, tuple[int, int]]) -> Report:
    report = report._replace(session=name(text(said, "session_id")) or report.session)
    if said.get("type") == "result":
        return _ended(report, said)
    if said.get("type") == "rate_limit_event":
        info = said.get("rate_limit_info")
        until = moment(get(info, "resetsAt")) if text(info, "status") == "rejected" else 0
        return report._replace(limit_until_s=until)
    if said.get("subtype") == "api_retry":
        return _tries_again(report, said)
    if said.get("type") == "assistant":
        # One message comes in several lines, each with the whole of its usage.
        usage = get(said, "message", "usage")
        message = name(text(said, "message", "id"))
        used[message] = (_tokens_in(usage), count(usage, "output_tokens"))
        heard = report._replace(last=words(_text_of(said)) or report.last)
        return heard if text(said, "error") else heard._replace(limit="", error="")
    return report


def _tries_again(report: Report, said: dict[str, Value]) -> Report:
    """Why it waits; it may be ended while it does."""
    why = f"it tries again: {words(text(said, 'error')) or 'unknown'}"
    if said.get("error_status") == _TOO_MANY:
        return report._replace(limit=why, error="")
    return report._replace(error=why, limit="")


def _ended(report: Report, said: dict[str, Value]) -> Report:
    """The result counts this life of a session under one name, all of its lives under another."""
    models = get(said, "model_usage_since_last_result")
    models = models if isinstance(models, dict) and models else {}
    usage = said.get("usage")
    paid = dollars(*(get(each, "costUSD") for each in models.values()))
    report = report._replace(
        cost_usd=paid or dollars(said.get("total_cost_usd")),
        tokens_in=sum(map(_of_model_in, models.values())) or _tokens_in(usage),
        tokens_out=sum(count(each, "outputTokens") for each in models.values())
        or count(usage, "output_tokens"),
        last=words(text(said, "result")) or report.last,
    )
    return _failed(report, said) if said.get("is_error") is True else _well(report)


def _well(report: Report) -> Report:
    """A limit that it went on in spite of has not stopped it."""
    return report._replace(limit="", limit_until_s=0, error="")


def _failed(report: Report, said: dict[str, Value]) -> Report:
    errors = said.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else ""
    why = text(said, "result") or (first if isinstance(first, str) else "")
    why = why or text(said, "subtype") or "it failed"
    old = _OLD_LIMIT.search(why)
    if old:
        report = report._replace(limit_until_s=moment(int(old[1])))
    if old or said.get("api_error_status") == _TOO_MANY or report.limit_until_s:
        return report._replace(limit=words(why), error="")
    return report._replace(error=words(why), limit="")


def _tokens_in(usage: Value) -> int:
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(count(usage, kind) for kind in kinds)


def _of_model_in(usage: Value) -> int:
    kinds = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
    return sum(count(usage, kind) for kind in kinds)


def _text_of(said: Value) -> str:
    content = get(said, "message", "content")
    blocks = content if isinstance(content, list) else []
    return next((text(block, "text") for block in reversed(blocks) if text(block, "text")), "")

"""Gemini CLI without a terminal: one JSON object in each line, the last one is the result.

How long a quota stays used up stands only in what it prints as an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.runners.registry import Report
from standfast.runners.templates import (
    count,
    filled,
    get,
    is_limit,
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

_PRINTS = ("--output-format", "stream-json")
_END = 64 * 1024  # of what it says as an error
_WAIT = re.compile(r"retry in ([0-9]{1,8})(?:\.[0-9]{1,20})?s\b")
_TRIED = re.compile(r"Attempt [0-9]{1,4} failed[^\n]{0,400}")


def argv(runner: Runner, call: Call) -> list[str]:
    """The prompt is its input; the session has an id of our choice, or is gone on with."""
    if call.is_resumed and runner.resume:
        return [*filled(runner.resume, call), *_PRINTS]
    session = ("--resume" if call.is_resumed else "--session-id", call.session)
    return [*filled(runner.command, call), *_PRINTS, *(session if call.session else ())]


def read(out: bytes, err: bytes = b"", now: datetime | None = None) -> Report:
    """Its result; where it was ended while it tried again and again, why it had to."""
    report, is_over = Report(), False
    for said in objects(out):
        report = _after(report, said)
        is_over = is_over or said.get("type") == "result"
    complaint = err[-_END:].decode("utf-8", "replace")
    if not is_over:
        tried = _TRIED.findall(complaint)
        report = report._replace(error=words(tried[-1]) if tried else "")
    if report.error and is_limit(report.error):
        until = _until(complaint, now) if now else 0
        return report._replace(limit=report.error, limit_until_s=until, error="")
    return report


def _after(report: Report, said: dict[str, Value]) -> Report:
    kind = said.get("type")
    if kind == "init":
        return report._replace(session=name(text(said, "session_id")))
    if kind == "message" and said.get("role") == "assistant":
        return report._replace(last=words(text(said, "content")) or report.last)
    return _ended(report, said) if kind == "result" else report


def _ended(report: Report, said: dict[str, Value]) -> Report:
    why = text(said, "error", "message") or "it failed"
    error = "" if said.get("status") == "success" else words(why)
    stats = get(said, "stats")
    return report._replace(
        tokens_in=count(stats, "input_tokens"),
        tokens_out=count(stats, "output_tokens"),
        error=error,
        last=error or report.last,
    )


def _until(complaint: str, now: datetime) -> int:
    waits = _WAIT.findall(complaint)
    return moment(int(now.timestamp()) + int(waits[-1]) + 1) if waits else 0

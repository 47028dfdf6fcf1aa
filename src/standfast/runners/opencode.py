"""opencode without a terminal: one JSON object in each line, each a part of what it did.

It waits for a limit to end by itself, and tells of it only in its log, which is asked for.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from standfast.runners.registry import Report
from standfast.runners.templates import (
    count,
    dollars,
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
    from standfast.formats.document_limits import Value
    from standfast.runners.registry import Call, Runner

_PRINTS = ("--format", "json", "--print-logs", "--log-level", "ERROR")
_TOO_MANY = 429
_MOST_DIGITS = 8
_END = 64 * 1024  # of its log
_LOGGED = re.compile(
    r'timestamp=([0-9T:.-]{10,40})Z [^\n]{0,100}message="stream error" [^\n]{0,300}'
    r'session\.id=(\w{1,80}) small=false[^\n]{0,200} error\.error="([^"\n]{1,2000})'
)


def argv(runner: Runner, call: Call) -> list[str]:
    """The prompt is its input; a session has the id that it told."""
    if call.is_resumed and runner.resume:
        return [*filled(runner.resume, call), *_PRINTS]
    session = ("--session", call.session) if call.is_resumed and call.session else ()
    return [*filled(runner.command, call), *_PRINTS, *session]


def read(out: bytes, err: bytes = b"", now: datetime | None = None) -> Report:
    """The sum of its steps; where it was ended while it tried again and again, why it had to."""
    report, paid, last_ms = Report(), Decimal(), 0
    for said in objects(out):
        report = _after(report, said, now)
        paid += Decimal(dollars(get(said, "part", "cost")) or 0)
        last_ms = count(said, "timestamp") or last_ms
    report = report._replace(cost_usd=f"{paid.normalize():f}" if paid else "")
    logged = _LOGGED.findall(err[-_END:].decode("utf-8", "replace"))
    if not logged or report.error or report.limit:
        return report
    when, session, why = logged[-1]
    report = report._replace(session=report.session or name(session))
    return _failed(report, why, 0) if _milliseconds(when) > last_ms else report


def _milliseconds(said: str) -> int:
    try:
        return int(datetime.fromisoformat(f"{said}+00:00").timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _after(report: Report, said: dict[str, Value], now: datetime | None) -> Report:
    report = report._replace(session=name(text(said, "sessionID")) or report.session)
    kind, part = said.get("type"), said.get("part")
    if kind == "text":
        return report._replace(last=words(text(part, "text")) or report.last)
    if kind == "step_finish":
        tokens = get(part, "tokens")
        cached = count(tokens, "cache", "read") + count(tokens, "cache", "write")
        return report._replace(
            tokens_in=report.tokens_in + count(tokens, "input") + cached,
            tokens_out=report.tokens_out + count(tokens, "output") + count(tokens, "reasoning"),
            error="",
        )
    return _refused(report, said, now) if kind == "error" else report


def _refused(report: Report, said: dict[str, Value], now: datetime | None) -> Report:
    data = get(said, "error", "data")
    why = text(data, "message") or text(said, "error", "name") or "it failed"
    wait = text(data, "responseHeaders", "retry-after")
    is_known = wait.isascii() and wait.isdecimal() and len(wait) <= _MOST_DIGITS
    until = moment(int(now.timestamp()) + int(wait) + 1) if now and is_known else 0
    if get(data, "statusCode") == _TOO_MANY:
        return report._replace(limit=words(why), limit_until_s=until, last=words(why))
    return _failed(report, why, until)


def _failed(report: Report, why: str, until: int) -> Report:
    said = words(why)
    if is_limit(why):
        return report._replace(limit=said, limit_until_s=until, last=said)
    return report._replace(error=said, last=said)

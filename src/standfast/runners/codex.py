"""Codex without a terminal: one JSON object in each line, each an event of its thread."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from standfast.runners.registry import Report
from standfast.runners.templates import count, filled, is_limit, name, objects, text, words

if TYPE_CHECKING:
    from datetime import datetime

    from standfast.formats.document_limits import Value
    from standfast.runners.registry import Call, Runner

_PRINTS = "--json"
_INPUT = "-"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_AGAIN = re.compile(
    r"(?i)try again at (?:(?P<month>[a-z]{3})[a-z]* (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,"
    r" (?P<year>[0-9]{4}) )?(?P<hour>1[0-2]|[1-9]):(?P<minute>[0-9]{2}) (?P<half>[ap])m"
)


def argv(runner: Runner, call: Call) -> list[str]:
    """The prompt is its input; a session has the id that it told.

    Flags stand before `resume`: behind it, Codex takes only some of them.
    """
    if call.is_resumed and runner.resume:
        return [*filled(runner.resume, call), _PRINTS, _INPUT]
    session = ("resume", call.session) if call.is_resumed and call.session else ()
    return [*filled(runner.command, call), _PRINTS, *session, _INPUT]


def read(out: bytes, err: bytes = b"", now: datetime | None = None) -> Report:  # noqa: ARG001  # as every client
    """Its events; tokens are those of the whole session, which is how Codex counts."""
    report = Report()
    for said in objects(out):
        report = _after(report, said)
    if report.error and is_limit(report.error):
        until = _until(report.error, now) if now else 0
        return report._replace(limit=report.error, limit_until_s=until, error="")
    return report


def _after(report: Report, said: dict[str, Value]) -> Report:
    kind = said.get("type")
    if kind == "thread.started":
        return report._replace(session=name(text(said, "thread_id")))
    if kind == "item.completed" and text(said, "item", "type") == "agent_message":
        return report._replace(last=words(text(said, "item", "text")))
    if kind == "turn.completed":
        return report._replace(
            tokens_in=count(said, "usage", "input_tokens"),
            tokens_out=count(said, "usage", "output_tokens"),
            error="",  # what it complained of before, it got over
        )
    if kind in ("error", "turn.failed"):
        why = text(said, "message") or text(said, "error", "message") or "it failed"
        return report._replace(error=words(why), last=words(why))
    return report


def _until(said: str, now: datetime) -> int:
    """The minute that it names is on its own clock, and ends before the limit surely has."""
    found = _AGAIN.search(said)
    if found is None:
        return 0
    hour = int(found["hour"]) % 12 + (12 if found["half"].lower() == "p" else 0)
    try:
        at = now.replace(hour=hour, minute=int(found["minute"]), second=0, microsecond=0)
        if found["month"]:
            month = _MONTHS.index(found["month"].lower()) + 1
            at = at.replace(year=int(found["year"]), month=month, day=int(found["day"]))
        elif at + timedelta(minutes=1) < now:
            at += timedelta(days=1)
        return int((at + timedelta(minutes=1)).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0

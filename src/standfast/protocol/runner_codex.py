"""Codex without a terminal: one JSON object in each line, each an event of its thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.protocol.runner_words import filled, last_line
from standfast.protocol.runners import Report

if TYPE_CHECKING:
    from datetime import datetime

    from standfast.protocol.runners import Call, Runner

_PRINTS = "--json"
_INPUT = "-"


def argv(runner: Runner, call: Call) -> list[str]:
    """The prompt is its input; a session has the id that it told.

    Flags stand before `resume`: behind it, Codex takes only some of them.
    """
    if call.is_resumed and runner.resume:
        return [*filled(runner.resume, call), _PRINTS, _INPUT]
    session = ("resume", call.session) if call.is_resumed and call.session else ()
    return [*filled(runner.command, call), _PRINTS, *session, _INPUT]


def read(out: bytes, now: datetime | None = None) -> Report:  # noqa: ARG001  # as every client
    """Not read yet."""
    return Report(last=last_line(out))

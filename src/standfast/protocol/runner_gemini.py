"""Gemini CLI without a terminal: one JSON object in each line, the last one is the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.protocol.runner_words import filled, last_line
from standfast.protocol.runners import Report

if TYPE_CHECKING:
    from datetime import datetime

    from standfast.protocol.runners import Call, Runner

_PRINTS = ("--output-format", "stream-json")


def argv(runner: Runner, call: Call) -> list[str]:
    """The prompt is its input; the session has an id of our choice, or is gone on with."""
    if call.is_resumed and runner.resume:
        return [*filled(runner.resume, call), *_PRINTS]
    session = ("--resume" if call.is_resumed else "--session-id", call.session)
    return [*filled(runner.command, call), *_PRINTS, *(session if call.session else ())]


def read(out: bytes, now: datetime | None = None) -> Report:  # noqa: ARG001  # as every client
    """Not read yet."""
    return Report(last=last_line(out))

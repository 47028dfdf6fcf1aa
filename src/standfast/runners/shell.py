"""A command of the user's own: it says nothing of itself that could be relied on but its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.runners.registry import Report
from standfast.runners.templates import filled, last_line

if TYPE_CHECKING:
    from datetime import datetime

    from standfast.runners.registry import Call, Runner


def argv(runner: Runner, call: Call) -> list[str]:
    """Its template as it stands: `{prompt}` is the prompt's file, which is its input too."""
    template = runner.resume if call.is_resumed and runner.resume else runner.command
    return filled(template, call)


def read(out: bytes, err: bytes = b"", now: datetime | None = None) -> Report:  # noqa: ARG001  # as every client
    """Its last words."""
    return Report(last=last_line(out))

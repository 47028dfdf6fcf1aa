"""`standfast ps`: every process that a run left, and every command whose end nobody saw."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from standfast import clock
from standfast.effects import orphans
from standfast.redaction.redactor import redact
from standfast.surfaces.cli import doubt_list
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.effects.orphans import Left
    from standfast.surfaces.cli.command_context import Context


def configure(_parser: argparse.ArgumentParser) -> None:
    """Nothing to choose: it is for the repository it is called in."""


def run(context: Context, _arguments: argparse.Namespace) -> int:
    """List them; nothing is changed."""
    context.heal()
    found = orphans.every(context.journal)
    if context.json:
        print(json_line({"effects": [as_dict(each) for each in found]}))
        return 0
    rows = [
        (each.key, each.state, clock.local_minute(each.since), pids(each), _command(each))
        for each in found
    ]
    print(
        context.screen.table(rows, ("strong", "bad")) or "Nothing is running and nothing in doubt."
    )
    if any(each.state == orphans.IN_DOUBT for each in found):
        print(f"In doubt: {doubt_list.HINT}")
    return 0


def _command(left: Left) -> str:
    """Redacted: it is pasted into issues, and agents read it."""
    return redact(shlex.join(left.argv))


def pids(left: Left) -> str:
    """The processes of an effect, for people."""
    return " ".join(map(str, left.pids)) or "-"


def as_dict(left: Left) -> dict[str, object]:
    """What `--json` carries: documented, stable."""
    return {
        "key": left.key,
        "state": left.state,
        "since": clock.rfc3339(left.since),
        "pids": left.pids,
        "argv": [redact(each) for each in left.argv],
    }

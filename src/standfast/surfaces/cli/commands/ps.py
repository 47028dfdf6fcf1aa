"""`standfast ps`: every process that a run left, and every command whose end nobody saw."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from standfast import clock
from standfast.effects import orphans
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.effects.orphans import Left
    from standfast.surfaces.cli.context import Context


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
        (each.key, each.state, clock.local_minute(each.since), pids(each), shlex.join(each.argv))
        for each in found
    ]
    print(
        context.screen.table(rows, ("strong", "bad")) or "Nothing is running and nothing in doubt."
    )
    return 0


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
        "argv": left.argv,
    }

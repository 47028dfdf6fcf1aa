"""`standfast reap`: end what runs left running, by exact identity, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.effects import orphans
from standfast.errors.base import NothingFound
from standfast.errors.lanes import StillRunning
from standfast.surfaces.cli.commands.ps import as_dict, pids
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """Which of them."""
    parser.add_argument("key", nargs="*", help="only these, as `standfast ps` names them (all)")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """End them, and say what was ended."""
    context.may_write()
    found = orphans.every(context.journal)
    known = {each.key for each in found}
    for key in arguments.key:
        if key not in known:
            raise NothingFound(f"nothing is running under `{key}`", remedy="See `standfast ps`.")
    chosen = [
        each for each in found if each.pids and (not arguments.key or each.key in arguments.key)
    ]
    left = orphans.end(chosen)
    if left:
        raise StillRunning(f"process {', '.join(map(str, left))} did not end")
    if context.json:
        print(json_line({"ended": [as_dict(each) for each in chosen]}))
    else:
        for each in chosen:
            print(f"Ended {each.key}: process {pids(each)}")
        if not chosen:
            print("Nothing was running.")
    context.heal()
    return 0

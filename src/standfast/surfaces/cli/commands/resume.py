"""`standfast resume`: go on with what was left in the middle, and say what was found first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import NotARepository
from standfast.protocol import ids
from standfast.surfaces.cli import run_resuming, runs
from standfast.surfaces.cli.lane_runs import seconds
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """Which run, or all of them; which lane is to be tried once more."""
    parser.add_argument("run", nargs="?", help="the run; all that nobody stopped, without it")
    parser.add_argument("lane", nargs="?", help="a lane that failed, to be tried once more")
    parser.add_argument("--wait-limit", type=seconds, metavar="2h",
                        help="how long to wait for a usage limit to end")  # fmt: skip


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Look, say what was found, go on."""
    if not context.place.in_git:
        raise NotARepository("lanes are branches: this is no git repository")
    context.heal()
    named = arguments.run
    wanted = [run_resuming.find(context, ids.run_id(named))] if named else (
        run_resuming.unfinished(context)
    )  # fmt: skip
    asked = {
        each.run_id: run_resuming.lanes(each, arguments.lane) for each in wanted if arguments.lane
    }
    if not context.json:
        print(run_resuming.told(context, wanted) if wanted else "Nothing was left in the middle.")
    if not wanted:
        if context.json:
            print(json_line({"runs": []}))
        return 0
    return runs.take_on(context, wanted, asked, wait_s=arguments.wait_limit)

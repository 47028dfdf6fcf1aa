"""`standfast rollback`: take the lanes of a run back; everything is kept under refs first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import NotARepository
from standfast.protocol import checkpoints as rules
from standfast.protocol import ids
from standfast.surfaces.cli import grounds, run_resuming, run_rollback, trusting

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """Which run, which of its lanes, and how far."""
    parser.add_argument("run", help="the run")
    parser.add_argument("lane", nargs="?", help="one of its lanes; all of them, without it")
    parser.add_argument("--to", choices=rules.STAGES, help="the stage to go to")
    trusting.configure(parser)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Go back, lane by lane, the last one first."""
    if not context.place.in_git:
        raise NotARepository("lanes are branches: this is no git repository")
    grounds.stand(context)
    context.heal(writes=True)
    found = run_resuming.find(context, ids.run_id(arguments.run))
    names = run_resuming.lanes(found, arguments.lane) if arguments.lane else found.names
    return run_rollback.roll_back(context, found, names, arguments.to, arguments.trust)

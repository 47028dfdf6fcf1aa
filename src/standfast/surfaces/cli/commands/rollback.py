"""`standfast rollback`: take the lanes of a run back; everything is kept under refs first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import NotARepository
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.surfaces.cli import grounds, run_rollback, trust_question, unfinished_runs

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """Which run, which of its lanes, and how far."""
    parser.add_argument("run", help="the run")
    parser.add_argument("lane", nargs="?", help="one of its lanes; all of them, without it")
    parser.add_argument("--to", choices=rules.STAGES, help="the stage to go to")
    trust_question.configure(parser)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Go back, lane by lane, the last one first."""
    if not context.place.in_git:
        raise NotARepository("lanes are branches: this is no git repository")
    grounds.stand(context)
    context.heal(writes=True)
    found = unfinished_runs.find(context, ids.run_id(arguments.run))
    names = unfinished_runs.lanes(found, arguments.lane) if arguments.lane else found.names
    return run_rollback.roll_back(context, found, names, arguments.to, arguments.trust)

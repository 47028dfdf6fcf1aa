"""`standfast demo`: watch a run being killed with -9 again and again, and nothing happen twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """The dice may be told."""
    parser.add_argument("--seed", type=int, help="the same kills again")


def run(_context: Context, arguments: argparse.Namespace) -> int:
    """In a folder of its own; nothing here is touched."""
    from standfast.testing import run_demo

    return run_demo.main(arguments.seed)

"""`standfast context`: the files by which agents with a role survive a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.context import Context

ACTIONS = ("validate", "validate.all", "schema", "migrate", "write")


def configure(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which role or file."""
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument("names", nargs="*", metavar="NAME", help="a role, or files to check")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Load what does it, and do it."""
    from standfast.surfaces.cli import context_checks

    return int(getattr(context_checks, arguments.action.replace(".", "_"))(context, arguments))

"""`standfast forget`: a session is never listed or injected again; its events stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.protocol import ids
from standfast.surfaces.cli.screen import json_line
from standfast.wake import sessions

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """What to forget."""
    parser.add_argument("session", help="the session, or how its id begins")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Leave a tombstone that no hook and no file undoes."""
    context.may_write()
    found = sessions.find(context.journal.query, ids.session_id(arguments.session))
    if not found.forgotten:
        context.journal.append("session.forgotten", {"session": found.session})
    words = f"Forgotten: session {found.session[:8]}. What it recorded stays in the journal."
    print(json_line({"forgotten": found.session}) if context.json else words)
    context.heal()
    return 0

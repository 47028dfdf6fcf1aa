"""`standfast context shim`: the small sh files by which a checkout calls Standfast."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast.clients.claude import role_hook
from standfast.clients.hooks import launcher
from standfast.errors.base import WrongUsage
from standfast.surfaces.cli import context_answers as told

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context

_KEEP_OUT = "They name a path of this machine: keep them out of commits."


def shim(context: Context, arguments: argparse.Namespace) -> int:
    """Write `./context`, and with --hook the PreCompact hook; twice changes nothing."""
    if arguments.names:
        raise WrongUsage("`shim` takes no name")
    launcher.refuse_throwaway()
    root = context.place.root
    written = [role_hook.put_shim(root, sys.executable)]
    if arguments.hook:
        written += role_hook.put_hook(root, context.environ)
    lines = [
        f"{'wrote' if each.is_new else 'in place:'} {context.short(each.path)}" for each in written
    ]
    files = [{"file": each.path, "written": each.is_new} for each in written]
    told.say(context, {"files": files}, *lines, _KEEP_OUT)
    return 0

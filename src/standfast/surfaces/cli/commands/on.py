"""`standfast on`: hooks record and brief again in this repository."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal.place import OFF
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context


def configure(_parser: argparse.ArgumentParser) -> None:
    """Nothing to choose: it is for the repository it is called in."""


def run(context: Context, _arguments: argparse.Namespace) -> int:
    """Take the mark away."""
    context.may_write()
    if os.path.lexists(os.path.join(context.place.folder, OFF)):
        disk.forget(os.path.join(context.place.folder, OFF))
        disk.sync_folder(context.place.folder)
        with suppress(StandfastError):
            context.journal.append("hooks.on", {}, context.author)
    words = "On here: hooks record work and brief the agent."
    print(json_line({"hooks": "on"}) if context.json else words)
    context.heal()
    return 0

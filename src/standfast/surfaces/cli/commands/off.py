"""`standfast off`: hooks leave this repository alone, from the next call on."""

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
    """Leave the mark that every hook looks for first."""
    context.may_write()
    disk.refuse_link(context.place.folder)
    disk.make_folder(context.place.folder)
    disk.replace(os.path.join(context.place.folder, OFF), b"hooks are off: standfast on\n")
    with suppress(StandfastError):  # it holds whatever state the journal is in
        context.journal.append("hooks.off", {}, context.author)
    words = "Off here: nothing is recorded or said by hooks. On again: standfast on"
    print(json_line({"hooks": "off"}) if context.json else words)
    return 0

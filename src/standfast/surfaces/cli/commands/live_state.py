"""`standfast live-state`: which session of an orchestrated workflow is the live one."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from standfast import clock, disk, ids
from standfast.errors.base import Conflict, WrongUsage
from standfast.protocols.outputs.files import live_session
from standfast.protocols.outputs.rules import live_state as rules
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context

_PROJECTS = ".cwf/projects"
_TEXT = 'live:\n  session_id: "{session}"\n  dir: "{dir}"\n'


def configure(parser: argparse.ArgumentParser) -> None:
    """What to do, and a title for a new session."""
    parser.add_argument("action", choices=("resolve", "begin"), help="find it, or begin a new one")
    parser.add_argument("title", nargs="?", help="for `begin`: a short name")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Print the one path, and nothing else where a script reads it."""
    if arguments.action == "begin":
        return _begin(context, arguments.title)
    if arguments.title is not None:
        raise WrongUsage("`resolve` takes no title")
    found = live_session.resolve(context.place.root, context.environ)
    for warning in found.warnings:
        print(printable(f"warning: {warning}"), file=sys.stderr)
    if context.json:
        print(json_line({"path": found.path, **found.live._asdict(), "warnings": found.warnings}))
    else:
        print(found.path)
    return 0


def _begin(context: Context, title: str | None) -> int:
    """Make a session's directory and the root state that names it; never over another's session."""
    root = context.place.root
    name = ids.name(title or "session", what="title")
    path = os.path.join(root, live_session.root_file(root, context.environ))
    before = _before(context, path)
    if before is not None:
        rules.begun(before, path, name, name)  # what cannot be taken is refused before all else
    disk.make_folders_beneath(root, os.path.relpath(path, root))
    relative = _new_folder(root, name)
    try:
        _write(path, before, os.path.basename(relative), relative)
    except FileExistsError:
        raise Conflict("another command has just begun a session", file=path) from None
    made = os.path.join(root, relative)
    print(json_line({"path": path, "dir": made}) if context.json else made)
    return 0


def _before(context: Context, path: str) -> bytes | None:
    """The root state that is there; one in which somebody's session is live is left alone."""
    if not os.path.lexists(path):
        return None
    if not _is_ours(path):
        found = live_session.resolve(context.place.root, context.environ)
        if found.live.dir is not None:
            raise Conflict(
                f"a session is live already, in {found.live.dir}",
                file=found.path,
                remedy="Change `live.dir` there, or see `standfast live-state resolve`.",
            )
    return disk.read_regular(path)


def _write(path: str, before: bytes | None, session: str, relative: str) -> None:
    plain = _TEXT.format(session=session, dir=relative).encode()
    if before is None:
        disk.create(path, plain, mode=disk.tree_mode())
        disk.sync_folder(os.path.dirname(path))
        return
    # The session before stays where it is; so does whatever else somebody keeps there.
    text = plain if _is_ours(path) else rules.begun(before, path, session, relative)
    if disk.read_regular(path) != before:
        raise Conflict("somebody has just changed the live state", file=path)
    disk.replace(path, text, mode=os.stat(path).st_mode & 0o777)


def _is_ours(path: str) -> bool:
    """Whether a state file is one that an earlier `begin` wrote, and nobody has touched."""
    text = disk.read_regular(path).decode("utf-8", "replace")
    found = text.partition('dir: "')[2].partition('"')[0]
    return text == _TEXT.format(session=os.path.basename(found), dir=found)


def _new_folder(root: str, name: str) -> str:
    """The next free number of today."""
    day = time.strftime("%y%m%d", time.localtime(clock.now_us() // clock.MICROSECONDS))
    folder = os.path.join(root, _PROJECTS)
    disk.make_folders_beneath(root, f"{_PROJECTS}/x")
    taken = [entry.split("-") for entry in os.listdir(folder) if entry.startswith(f"{day}-")]
    first = max((int(parts[1]) for parts in taken if parts[1].isdecimal()), default=0) + 1
    for number in range(first, 100):
        relative = f"{_PROJECTS}/{day}-{number:02d}-{name}"
        try:
            os.mkdir(os.path.join(root, relative))
        except FileExistsError:
            continue
        disk.sync_folder(os.path.join(root, _PROJECTS))
        return relative
    raise Conflict("a hundred sessions were begun today", file=os.path.join(root, _PROJECTS))

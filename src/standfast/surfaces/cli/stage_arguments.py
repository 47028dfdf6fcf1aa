"""What `outputs` and `stage` share: their options, which stage, whose outputs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk, ids
from standfast.errors.base import WrongUsage
from standfast.journal.author import Author
from standfast.protocols.outputs.files import live_session
from standfast.protocols.outputs.files.stage_outputs import Wanted
from standfast.protocols.outputs.rules import stages
from standfast.surfaces.cli.screen import warn

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from standfast.surfaces.cli.command_context import Context


_LIMIT = 4 * 1024 * 1024


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of both commands."""
    parser.add_argument("--stage", required=True, help="clarify, plan, review-code, …, or your own")
    parser.add_argument("--session-dir", metavar="DIR", help="instead of what the live state says")
    parser.add_argument("--mode", choices=stages.MODES, default=stages.DEEP, help="of a retro")


def wanted(
    context: Context,
    arguments: argparse.Namespace,
    *,
    only: Sequence[str] = (),
) -> Wanted:
    """The stage and the session's directory that the command is about."""
    stage = stages.stage(arguments.stage, context.config.stages)
    if arguments.mode == stages.LIGHT and not stage.deep_only:
        raise WrongUsage(f"stage `{stage.name}` has no mode `{stages.LIGHT}`")
    given = arguments.session_dir
    if given is not None:
        given = os.path.join(context.directory, given)
    return Wanted(
        stage=stage,
        folder=live_session.session_dir(context.place.root, context.environ, given, tell=warn),
        mode=arguments.mode,
        only=tuple(dict.fromkeys(role_of(stage, each) for each in only)),
    )


def role_of(stage: stages.Stage, said: str) -> str:
    """A role, said as itself or as the file that it writes."""
    said = stage.role_of(said) or said
    if "/" in said or said.endswith(".md"):
        raise WrongUsage(f"`{said}` is no role of stage `{stage.name}`")
    return ids.role(said)


def author(context: Context, actor: str = "standfast") -> Author:
    """Who records what a stage does."""
    return Author(actor, session=context.config.session, subdir=context.place.subdir)


def read(context: Context, path: str) -> bytes:
    """A file that the command line names: a task, or what outputs are made from."""
    at = os.path.join(context.directory, path)
    try:
        return disk.read_regular(at, limit=_LIMIT)
    except FileNotFoundError as error:
        raise WrongUsage("there is no such file", file=at) from error

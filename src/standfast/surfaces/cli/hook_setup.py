"""What `install` and `uninstall` share: whose settings, and how a change of them is told."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from standfast.clients.claude import installation
from standfast.errors.base import WrongUsage
from standfast.surfaces.cli import consent
from standfast.surfaces.cli.consent import Consent
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.clients.claude.installation import Plan
    from standfast.clients.claude.settings_file import SettingsFile
    from standfast.surfaces.cli.command_context import Context

CLIENTS = ("claude",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Which client, whose settings, and whether to ask."""
    parser.add_argument("client", help=f"the coding agent: {', '.join(CLIENTS)}")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument(
        "--user", action="store_true", help="your own settings, for every repository (the default)"
    )
    scope.add_argument(
        "--project", action="store_true", help="only this checkout: .claude/settings.local.json"
    )
    consent.configure(parser)


def choose_file(context: Context, arguments: argparse.Namespace) -> SettingsFile:
    """The settings that the flags name."""
    if arguments.client not in CLIENTS:
        raise WrongUsage(
            f"there is no client `{printable(arguments.client)}`",
            remedy=f"The clients are: {', '.join(CLIENTS)}.",
        )
    project = context.place if arguments.project else None
    return installation.choose_file(context.environ, project)


def header(context: Context, plan: Plan, version: str) -> str:
    """Who is changed, for whom, in which file."""
    where = "in every repository" if plan.file.root is None else "in this checkout"
    words = f"{version}, for you, {where} ({printable(short(context, plan.file.shown))})"
    return context.screen.paint(words, "strong")


def short(context: Context, path: str) -> str:
    """A path as people say it."""
    home = context.environ.get("HOME", "")
    if home and path.startswith(home + os.sep):
        return "~" + path[len(home) :]
    return path


def stays(plan: Plan) -> list[str]:
    """What is not touched."""
    count = plan.others.hooks
    kept = [f"your {count} hooks" if count > 1 else "your hook"] if count else []
    kept += ["your status line"] if plan.others.status_line else []
    if not kept:
        return [] if plan.before is None else ["  = everything else stays as it is"]
    one = len(kept) == 1 and (count <= 1)
    return [f"  = {' and '.join(kept)} {'stays as it is' if one else 'stay as they are'}"]


def facts(plan: Plan, **more: object) -> dict[str, object]:
    """What `--json` carries."""
    return {
        "client": CLIENTS[0],
        "scope": "user" if plan.file.root is None else "project",
        "file": plan.file.shown,
        "hooks_before": [ours.event for ours in plan.had],
        "hooks": [ours.event for ours in plan.hooks],
        **more,
    }


def show_only(context: Context, plan: Plan, may: Consent, lines: list[str], **more: object) -> int:
    """Show the change and write nothing: 0 if that was asked for, 1 if nobody could be asked."""
    diff = consent.diff(plan.before, plan.after, plan.file.shown)
    missing = may is Consent.MISSING
    remedy = "To write it, give --yes or run this in a terminal." if missing else None
    if context.json:
        print(json_line(facts(plan, written=False, diff=diff, remedy=remedy, **more)))
        return int(missing)
    print("\n".join(lines))
    print(consent.paint(diff, context.screen))
    print("Nothing was written.", flush=True)
    if remedy:
        print(remedy, file=sys.stderr)
    return int(missing)

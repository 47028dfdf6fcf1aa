"""`standfast uninstall`: take the hooks out of a client's settings, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.clients.claude import installation
from standfast.clients.hooks import launcher
from standfast.errors.base import StandfastError
from standfast.surfaces.cli import consent, hook_setup
from standfast.surfaces.cli.consent import Consent
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.clients.claude.installation import Plan
    from standfast.surfaces.cli.command_context import Context

_STAYS = "Journals stay, in each repository's .git/standfast: `standfast events` shows one."


def configure(parser: argparse.ArgumentParser) -> None:
    """Which client, whose settings, and whether to ask."""
    hook_setup.configure(parser)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Look, show, ask, write; the launcher goes with the last settings that call it."""
    file = hook_setup.choose_file(context, arguments)
    plan = installation.plan_uninstall(file)
    may = consent.of(context, arguments)
    if plan.changes and may in {Consent.SHOW, Consent.MISSING}:
        return hook_setup.show_only(context, plan, may, _lines(context, plan))
    if plan.changes and not context.json:
        print("\n".join(_lines(context, plan)))
    if plan.changes and may is Consent.ASK and not consent.ask("Take them out?"):
        print("Nothing was written.")
        return 1
    if may is not Consent.SHOW:
        installation.write_uninstall(plan)
        _forget_launcher(context)
    _say(context, plan)
    return 0


def _lines(context: Context, plan: Plan) -> list[str]:
    return [
        hook_setup.header(context, plan, "Claude Code"),
        f"  - {len(plan.had)} hooks of Standfast",
        *hook_setup.stays(plan),
    ]


def _say(context: Context, plan: Plan) -> None:
    if context.json:
        print(json_line(hook_setup.facts(plan, written=plan.changes)))
    elif plan.changes:
        print(f"{context.screen.paint('Done.', 'good')} Running sessions: restart them once.")
        print(_STAYS)
    else:
        print(
            f"Nothing of Standfast is in {printable(hook_setup.short(context, plan.file.shown))}."
        )


def _forget_launcher(context: Context) -> None:
    try:
        project = context.place if context.place.in_git else None
    except StandfastError:  # not in a directory that still exists
        project = None
    if not installation.launcher_is_used(context.environ, project):
        launcher.remove(context.environ)

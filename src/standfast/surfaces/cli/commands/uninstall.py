"""`standfast uninstall`: take the hooks out of a client's settings, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.clients import launcher
from standfast.clients.claude import install
from standfast.errors import StandfastError
from standfast.protocol.text import printable
from standfast.surfaces.cli import consent, setup
from standfast.surfaces.cli.consent import Consent
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.clients.claude.install import Plan
    from standfast.surfaces.cli.context import Context

_STAYS = "Journals stay, in each repository's .git/standfast: `standfast events` shows one."


def configure(parser: argparse.ArgumentParser) -> None:
    """Which client, whose settings, and whether to ask."""
    setup.configure(parser)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Look, show, ask, write; the launcher goes with the last settings that call it."""
    file = setup.choose_file(context, arguments)
    plan = install.plan_uninstall(file)
    may = consent.of(context, arguments)
    if plan.changes and may in {Consent.SHOW, Consent.MISSING}:
        return setup.show_only(context, plan, may, _lines(context, plan))
    if plan.changes and not context.json:
        print("\n".join(_lines(context, plan)))
    if plan.changes and may is Consent.ASK and not consent.ask("Take them out?"):
        print("Nothing was written.")
        return 1
    if may is not Consent.SHOW:
        install.write_uninstall(plan)
        _forget_launcher(context)
    _say(context, plan)
    return 0


def _lines(context: Context, plan: Plan) -> list[str]:
    return [
        setup.header(context, plan, "Claude Code"),
        f"  - {len(plan.had)} hooks of Standfast",
        *setup.stays(plan),
    ]


def _say(context: Context, plan: Plan) -> None:
    if context.json:
        print(json_line(setup.facts(plan, written=plan.changes)))
    elif plan.changes:
        print(f"{context.screen.paint('Done.', 'good')} Running sessions: restart them once.")
        print(_STAYS)
    else:
        print(f"Nothing of Standfast is in {printable(setup.short(context, plan.file.shown))}.")


def _forget_launcher(context: Context) -> None:
    try:
        project = context.place if context.place.in_git else None
    except StandfastError:  # not in a directory that still exists
        project = None
    if not install.launcher_is_used(context.environ, project):
        launcher.remove(context.environ)

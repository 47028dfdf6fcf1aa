"""`standfast install`: put the hooks into a client's settings, and see that they answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast.clients.claude import installation, self_test
from standfast.clients.hooks import launcher
from standfast.surfaces.cli import consent, hook_setup
from standfast.surfaces.cli.consent import Consent
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.clients.claude.installation import Plan
    from standfast.clients.claude.self_test import Proof
    from standfast.surfaces.cli.command_context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """Which client, whose settings, and whether to ask."""
    hook_setup.configure(parser)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Look, show, ask, write, prove."""
    file = hook_setup.choose_file(context, arguments)
    launcher.refuse_throwaway()
    plan = installation.plan_install(context.environ, file)
    may = consent.of(context, arguments)
    if not plan.changes:
        return _in_place(context, plan, may)
    if may in {Consent.SHOW, Consent.MISSING}:
        lines = _lines(context, plan, None)
        return hook_setup.show_only(context, plan, may, lines, version=_number(plan))
    return _write(context, plan, may)


def _write(context: Context, plan: Plan, may: Consent) -> int:
    """The launcher first, so that it can be measured before anyone is asked; a no undoes it."""
    before = launcher.snapshot(context.environ)
    try:
        status = _write_and_prove(context, plan, may)
    except BaseException:  # Ctrl-C at the question among them
        launcher.restore(context.environ, before)
        raise
    if status:
        launcher.restore(context.environ, before)
    return status


def _write_and_prove(context: Context, plan: Plan, may: Consent) -> int:
    launcher.put(context.environ)
    tried = self_test.call_all(plan.hooks, context.environ)
    if not context.json:
        print("\n".join(_lines(context, plan, tried)))
    if tried.silent:
        return _failed(context, plan, tried)
    if may is Consent.ASK and not consent.ask("Write it?"):
        print("Nothing was written.")
        return 1
    change = installation.write_install(context.environ, plan)
    proved = self_test.call_all(installation.hooks_in(plan.file), context.environ)
    if proved.silent:
        back = installation.take_back(plan, change)
        return _failed(context, plan, proved, back=back)
    return _done(context, plan, proved, "Done.")


def _in_place(context: Context, plan: Plan, may: Consent) -> int:
    """Nothing to write: only see that what is there answers."""
    if may in {Consent.GIVEN, Consent.ASK}:
        launcher.put(context.environ)
        installation.sweep(plan.file)
    proved = self_test.call_all(plan.hooks, context.environ)
    if not context.json:
        print("\n".join([hook_setup.header(context, plan, _client(plan)), *_warnings(plan)]))
    if proved.silent:
        return _failed(context, plan, proved)
    return _done(context, plan, proved, "Everything is in place.")


def _done(context: Context, plan: Plan, proved: Proof, word: str) -> int:
    if context.json:
        print(json_line(_facts(plan, proved, written=plan.changes)))
        return 0
    restart = " Running sessions: restart them once." if plan.changes else ""
    unread = plan.others.ignored_at is not None or plan.others.all_off
    if unread:  # the hooks answer, but nobody will call them
        word = "In the file, but Claude Code will call none of them: see above."
    style = "bad" if unread else "good"
    print(f"{context.screen.paint(word, style)} {_count(proved)}.{restart}")
    return 0


def _failed(context: Context, plan: Plan, tried: Proof, *, back: bool = True) -> int:
    remedy = "Run `standfast doctor` and read what it says."
    if context.json:
        print(json_line(_facts(plan, tried, written=not back, remedy=remedy)))
        return 1
    state = "The settings are as they were." if back else "Somebody wrote the settings since."
    print(
        f"Only {_count(tried)}, not {', '.join(tried.silent)}. {state}\n{remedy}", file=sys.stderr
    )
    return 1


def _facts(plan: Plan, tried: Proof, **more: object) -> dict[str, object]:
    return hook_setup.facts(
        plan,
        version=_number(plan),
        answered=list(tried.answered),
        silent=list(tried.silent),
        median_ms=round(tried.median_ms, 1),
        warnings=[line.removeprefix("  ! ") for line in _warnings(plan)],
        **more,
    )


def _lines(context: Context, plan: Plan, tried: Proof | None) -> list[str]:
    measured = f"     measured here: {tried.median_ms:.0f} ms a call" if tried else ""
    lines = [hook_setup.header(context, plan, _client(plan))]
    lines += [f"  {line}" for line in _hook_lines(plan, measured)]
    lines += hook_setup.stays(plan)
    lines += _warnings(plan)
    lines.append("Kept in each repository's .git/standfast. Off here: standfast off")
    return lines


def _warnings(plan: Plan) -> list[str]:
    """What a person should know before and after."""
    found = []
    if plan.version is None:
        found.append("its version could not be read: only hooks that every version knows")
    if plan.others.ignored_at is not None:
        line = plan.others.ignored_at
        found.append(f"Claude Code ignores this file: line {line} is no plain JSON (a comment?)")
    if plan.others.all_off:
        found.append("`disableAllHooks` is on in these settings: until it is off, none runs")
    if plan.file.root is not None:
        found.append("it names a path of this machine: keep this file out of commits")
    return [f"  ! {each}" for each in found]


def _hook_lines(plan: Plan, measured: str) -> list[str]:
    had = {ours.event: ours.hook for ours in plan.had}
    have = {ours.event: ours.hook for ours in plan.hooks}
    added = len(have.keys() - had.keys())
    gone = len(had.keys() - have.keys())
    moved = sum(had[event] != have[event] for event in had.keys() & have.keys())
    lines = [f"+ {added} hooks: remember work, brief the agent{measured}"] if added else []
    lines += [f"- {gone} hooks that this version does not know"] if gone else []
    lines += [f"~ {moved} hooks that now call the launcher as this version needs"] if moved else []
    return lines


def _client(plan: Plan) -> str:
    return f"Claude Code {_number(plan)}" if plan.version else "Claude Code"


def _number(plan: Plan) -> str | None:
    return ".".join(map(str, plan.version)) if plan.version else None


def _count(tried: Proof) -> str:
    return f"{len(tried.answered)} of {len(tried.answered) + len(tried.silent)} hooks answered"

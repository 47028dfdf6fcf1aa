"""`standfast plan`: what a run is to do, checked, shown, and trusted, before any of it is run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import clock, xdg
from standfast.errors.base import WrongUsage
from standfast.git.command import Git
from standfast.plans import plan_file, plan_lanes, plan_writer, trust
from standfast.plans.checks import lane_waves
from standfast.plans.findings import errors
from standfast.plans.lane_spec import PR
from standfast.plans.plan_commands import commands
from standfast.runners.registry import KNOWN, takes_script
from standfast.runs import runner_choice, vouched_lanes
from standfast.runs.lanes.pull_request import REMOTE
from standfast.surfaces.cli import consent, persons, plan_picture, trust_question
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.errors.base import StandfastError
    from standfast.plans.model import Plan
    from standfast.plans.plan_commands import Command
    from standfast.plans.plan_file import Loaded
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """What to do, and with which plan."""
    parser.add_argument("action", choices=tuple(_ACTIONS), help="what to do")
    parser.add_argument("file", metavar="FILE", help="a plan in YAML or Markdown")
    parser.add_argument("--mermaid", action="store_true", help="show: as a Mermaid flowchart")
    parser.add_argument("--yes", action="store_true", help="trust: without asking")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Read the plan, and do it."""
    if arguments.mermaid and arguments.action != "show":
        raise WrongUsage("--mermaid is for `show`")
    if arguments.yes and arguments.action != "trust":
        raise WrongUsage("--yes is for `trust`")
    return _ACTIONS[arguments.action](context, arguments, load(context, arguments.file))


def load(context: Context, file: str) -> Loaded:
    """The plan that was named, from where the command was called."""
    known = (*KNOWN, *context.config.runners)
    path = os.path.join(context.directory, file)
    return plan_file.load(path, context.place.root, runners=known)._replace(file=file)


def _check(context: Context, _arguments: argparse.Namespace, loaded: Loaded) -> int:
    """Everything that is to be said of a plan, with its lines."""
    wrong = bool(errors(loaded.findings))
    refused = _refused(context, loaded)
    if context.json:
        found = [{"file": loaded.file, **each._asdict()} for each in loaded.findings]
        kind = loaded.plan.kind if loaded.plan else None
        print(json_line({"file": loaded.file, "valid": not wrong, "kind": kind, "findings": found,
                         "refused": [each.as_dict() for each in refused]}))  # fmt: skip
        return int(wrong)
    _tell(context, loaded)
    if loaded.plan is not None:
        word = context.screen.paint("good", "good")
        print(printable(f"{loaded.file}: ") + f"{word}, {plan_picture.counted(loaded.plan)}")
    for each in refused:
        why = f"{each.where}: {each.problem}" if each.where else each.problem
        words = f"`run` would begin nothing here: {why}. {each.remedy}"
        print(printable(words), file=sys.stderr)
    return int(wrong)


def _refused(context: Context, loaded: Loaded) -> list[StandfastError]:
    """What keeps a good plan from being run on this machine, now: no fault of the file."""
    if loaded.plan is None:
        return []
    from standfast.surfaces.cli import run_plans

    return run_plans.refusals(context, loaded)


def _tell(context: Context, loaded: Loaded) -> None:
    for each in loaded.findings:
        mark = "" if each.is_error else context.screen.paint("warning: ", "dim")
        print(f"{printable(loaded.file)}:{each.line}: {mark}{printable(str(each))}")


def _show(context: Context, arguments: argparse.Namespace, loaded: Loaded) -> int:
    """Waves, lanes and dependencies."""
    if loaded.plan is None:
        return _check(context, arguments, loaded)
    if context.json:
        waves = [each._asdict() for each in lane_waves.waves(loaded.plan)]
        print(json_line({"file": loaded.file, "kind": loaded.plan.kind,
                         "plan": plan_writer.native(loaded.plan), "waves": waves}))  # fmt: skip
    elif arguments.mermaid:
        print(plan_picture.mermaid(loaded.plan))
    else:
        print(plan_picture.tree(loaded.plan, context.screen))
    return 0


def _trust(context: Context, arguments: argparse.Namespace, loaded: Loaded) -> int:
    """Show every command, then remember that a person has seen them and agrees."""
    persons.refuse_agents(context)
    found = commands(loaded.need(), _shells(context, loaded.need()))
    strange = _strange(context, loaded.need())
    home, repository = xdg.state_home(context.environ), context.place.main_root
    known = trust.is_trusted(home, repository, loaded)
    if not context.json:
        shown = [_shown(context, each) for each in found]
        shown += [f"push to {printable(each)}, where hooks are run" for each in strange]
        print("\n".join(shown) or _NOTHING)
    is_new = bool(strange) or (bool(found) and not known)
    agreed = not is_new or _agrees(context, arguments, loaded)
    if agreed and is_new:
        by, at = persons.who(context, None), clock.rfc3339(clock.now_us())
        vouched_lanes.trust_addresses(trust_question.where(context), strange, by)
        if found:
            trust.trust(home, repository, loaded, at=at, by=by)
    if context.json:
        print(json_line({"file": loaded.file, "trusted": agreed, "fingerprint": loaded.fingerprint,
                         "commands": [each._asdict() for each in found],
                         "push": [*strange]}))  # fmt: skip
    elif found or strange:
        word = "Trusted, as long as it stays as it is" if agreed else "Not trusted"
        print(printable(f"{word}: {loaded.file}"))
    return int(not agreed)


def _strange(context: Context, plan: Plan) -> tuple[str, ...]:
    """Paths of this machine that the plan would push to and nobody has trusted by name."""
    merges = {plan.merge, *(lane.merge for _, lane in plan.lanes())}
    if PR not in merges or plan.pr or not context.place.in_git:
        return ()
    git = Git(directory=Path(context.place.main_root))
    return vouched_lanes.strangers(trust_question.where(context), git.push_addresses(REMOTE))


def _shells(context: Context, plan: Plan) -> set[str]:
    """The runners, by the names that the plan has for them, which take prompts for commands."""
    default = plan.runner or context.config.runner
    names = {default, *plan_lanes.runners_used(plan, default)}
    found = {each for each in names if takes_script(runner_choice.resolve(each, context.config))}
    return found | ({""} if default in found else set())


_NOTHING = "The plan has no commands of its own: there is nothing to trust."


def _agrees(context: Context, arguments: argparse.Namespace, loaded: Loaded) -> bool:
    """Whether a person says so, now or by `--yes`; `--json` alone only looks."""
    if arguments.yes or context.json:
        return bool(arguments.yes)
    if not sys.stdin.isatty():
        raise WrongUsage("nobody is there to be asked", remedy="--yes trusts it without asking.")
    question = f"May these be run on this machine, for {printable(loaded.file)}?"
    return consent.ask(question, usual=False)


def _shown(context: Context, command: Command) -> str:
    """A command with its place and all of its lines."""
    head = f"line {command.line}: {command.what}"
    head += f" of {command.whose}" if command.whose else ""
    text = command.text or f"the file {command.file}"
    lines = printable(text, keep_newlines=True).rstrip("\n").split("\n")
    return "\n".join([context.screen.paint(head, "strong"), *(f"    {line}" for line in lines)])


_ACTIONS = {"check": _check, "show": _show, "trust": _trust}

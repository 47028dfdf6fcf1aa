"""`standfast outputs`: whether the agents of a stage really finished, and what follows from it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast.errors.base import JournalUnwritable, WrongUsage
from standfast.protocols.outputs.files import stage_outputs as files
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import whole_output
from standfast.runs.stages import launches
from standfast.runs.stages import stage_loop as stages
from standfast.surfaces.cli import persons, stage_arguments, stage_picture
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.protocols.outputs.files.stage_outputs import Wanted
    from standfast.protocols.outputs.rules.persistence_gate import Output
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_TASK_LIMIT = 1024 * 1024


def configure(parser: Parser) -> None:
    """What to do with which outputs."""
    parser.add_argument("action", choices=tuple(_ACTIONS), help="what to do")
    parser.add_argument("roles", nargs="*", help="roles, or the names of their files")
    stage_arguments.configure(parser)
    parser.add_argument("--launched", action="append", default=[], metavar="ROLE",
                        help="only these were begun (repeat it)")  # fmt: skip
    parser.add_argument("--task", metavar="FILE", help="for `prompt`: the task; `-` reads stdin")
    parser.add_argument("--why", default="", help="for `accept` and `grant`: the reason")
    parser.add_argument("--by", help="for `accept` and `grant`: who says so")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Find the session's directory, then do it."""
    if arguments.task is not None and arguments.action != "prompt":
        raise WrongUsage("--task goes with `prompt`")
    return _ACTIONS[arguments.action](context, arguments)


def _check(context: Context, arguments: argparse.Namespace) -> int:
    """Say of each output whether it is valid; 1 when one is not."""
    wanted = stage_arguments.wanted(
        context, arguments, only=[*arguments.roles, *arguments.launched]
    )
    found = _look(context, wanted)
    valid = sum(output.is_valid for output in found)
    if context.json:
        print(json_line(stage_picture.as_dict(wanted, found)))
    else:
        if found:
            print(stage_picture.rows(context, found))
        print(f"{valid} of {len(found)} valid in {context.short(wanted.folder)}")
    context.heal()
    return 0 if valid == len(found) else 1


def _gate(context: Context, arguments: argparse.Namespace) -> int:
    """Decide whether the stage goes on."""
    wanted = stage_arguments.wanted(
        context, arguments, only=[*arguments.roles, *arguments.launched]
    )
    found = _look(context, wanted)
    try:
        decided = stages.gate(context.journal, wanted, found, stage_arguments.author(context))
    except JournalUnwritable:
        decided = stages.decide(wanted, found)
    status = stage_picture.show_gate(context, wanted, found, decided)
    context.heal()
    return status


def _look(context: Context, wanted: Wanted) -> list[Output]:
    """Inside a sandbox the journal cannot take receipts: what is on disk is told all the same."""
    try:
        context.may_write()
        return stages.look(context.journal, wanted, stage_arguments.author(context))
    except JournalUnwritable:
        return stages.with_work(context.journal, files.expected(context.journal, wanted))


def _prompt(context: Context, arguments: argparse.Namespace) -> int:
    """Print what an agent must be told about its file, after its task if there is one."""
    wanted = stage_arguments.wanted(context, arguments)
    roles = _roles(wanted, arguments.roles)
    task = _task(context, arguments.task)
    files.refuse_unwritable(wanted.folder)
    made = {role: whole_output.prompt(task, wanted.path(role)) for role in roles}
    if context.json:
        print(json_line({wanted.stage.output(role): text for role, text in made.items()}))
    else:
        print("\n".join(made.values()), end="")
    return 0


def _task(context: Context, path: str | None) -> str:
    if path is None:
        return ""
    if path == "-":
        return sys.stdin.read(_TASK_LIMIT)
    return stage_arguments.read(context, path).decode("utf-8", "replace")


def _roles(wanted: Wanted, said: list[str]) -> list[str]:
    if not said:
        raise WrongUsage("name at least one role", remedy="See `standfast outputs --help`.")
    roles = [stage_arguments.role_of(wanted.stage, each) for each in said]
    return list(dict.fromkeys(roles))


def _launched(context: Context, arguments: argparse.Namespace) -> int:
    """Count a launch that no hook sees, before it is made."""
    wanted = stage_arguments.wanted(context, arguments)
    roles = _roles(wanted, [*arguments.roles, *arguments.launched])
    _refuse_unknown(wanted, _every(context, wanted), roles)
    context.may_write()
    files.refuse_unwritable(wanted.folder)
    counted = launches.count(context.journal, wanted, roles, stage_arguments.author(context))
    if context.json:
        told = {each.role: {"launches": each.launches, "left": each.left} for each in counted}
        print(json_line(told))
    for each in () if context.json else counted:
        print(f"Counted: {each.name}, launch {each.launches}, {each.left} left")
    context.heal()
    return 0


def _accept(context: Context, arguments: argparse.Namespace) -> int:
    """A person goes on without an output."""
    return _say(context, arguments, "accepted")


def _grant(context: Context, arguments: argparse.Namespace) -> int:
    """A person allows one more launch."""
    return _say(context, arguments, "granted")


def _say(context: Context, arguments: argparse.Namespace, what: str) -> int:
    persons.refuse_agents(context)
    wanted = stage_arguments.wanted(context, arguments)
    roles = _roles(wanted, arguments.roles)
    _refuse_needless(context, wanted, roles)
    author = stage_arguments.author(context, persons.who(context, arguments.by))
    context.may_write()
    tell = recorded.accept if what == "accepted" else recorded.grant
    with context.journal.writing() as tx:
        for role in roles:
            tell(tx, wanted.path(role), arguments.why, author)
    names = [wanted.stage.output(role) for role in roles]
    if context.json:
        print(json_line({what: names, "by": author.actor}))
    else:
        print(f"Recorded: {what} by {author.actor}: {', '.join(names)}")
    context.heal()
    return 0


def _refuse_needless(context: Context, wanted: Wanted, roles: list[str]) -> None:
    """A slip of the pen would be believed, and a failure to come be let off beforehand."""
    every = _every(context, wanted)
    _refuse_unknown(wanted, every, roles)
    valid = [output.name for output in every if output.is_valid and output.role in roles]
    if valid:
        raise WrongUsage(f"{', '.join(valid)} is valid: there is nothing to say")


def _every(context: Context, wanted: Wanted) -> list[Output]:
    return files.expected(context.journal, wanted._replace(only=()))


def _refuse_unknown(wanted: Wanted, every: list[Output], roles: list[str]) -> None:
    known = {*wanted.stage.tiers, *(output.role for output in every)}
    for role in roles:
        if role not in known:
            names = ", ".join(sorted(known)) or "none"
            problem = f"stage `{wanted.stage.name}` has no output of a role `{role}`"
            raise WrongUsage(problem, remedy=f"There are {names}.")


_ACTIONS = {
    "check": _check,
    "gate": _gate,
    "prompt": _prompt,
    "launched": _launched,
    "accept": _accept,
    "grant": _grant,
}

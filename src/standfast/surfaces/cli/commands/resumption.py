"""`standfast resumption`: the section by which a session resumes, shown, checked and updated."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from standfast.errors.base import NotTheOrchestrator, StandfastError, WrongUsage
from standfast.protocols.resumption.rules.triggers import TRIGGERS
from standfast.surfaces.cli import trigger_flags as flags
from standfast.surfaces.cli import troubles
from standfast.surfaces.cli.screen import json_line
from standfast.text import one_line, printable

if TYPE_CHECKING:
    import argparse

    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.rules.triggers import Trigger
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_ADVISORY = "T7"


def configure(parser: Parser) -> None:
    """What to do, and what a trigger says."""
    parser.add_argument("action", choices=tuple(_ACTIONS), help="what to do")
    parser.add_argument(
        "words",
        nargs="*",
        help="for `trigger`: T1 to T7; for `decide`: what was decided; for `adopt`: the file",
    )
    parser.add_argument(
        "--from", dest="source", metavar="FILE", help="the whole trigger as JSON; `-` reads stdin"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="migrate: show what it would do, write nothing"
    )
    flags.configure(parser, *TRIGGERS, flags.DECIDE)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Do it, and say what stood in the way of the file."""
    action = arguments.action
    if arguments.dry_run and action != "migrate":
        raise WrongUsage("--dry-run goes with `migrate`")
    if action not in {"trigger", flags.DECIDE, "adopt"} and arguments.words:
        raise WrongUsage(f"`{action}` takes no `{one_line(arguments.words[0], 60)}`")
    if action != "trigger":
        flags.refuse_others(arguments, action)
        if arguments.source is not None:
            raise WrongUsage("--from goes with `trigger`")
    status = _ACTIONS[action](context, arguments)
    troubles.tell(context)
    return status


def _trigger(context: Context, arguments: argparse.Namespace) -> int:
    """Fire one trigger; the advisory one is never an error where it cannot be done now."""
    from standfast.surfaces.cli import trigger_arguments

    if len(arguments.words) > 1:
        raise WrongUsage("fire one trigger at a time")
    said = arguments.words[0] if arguments.words else None
    if said is not None and said not in TRIGGERS:
        raise WrongUsage(f"there is no trigger `{one_line(said, 40)}`",
                         remedy=f"There are {', '.join(TRIGGERS)}.")  # fmt: skip
    if arguments.source is not None:
        flags.refuse_others(arguments, "--from")
        value = trigger_arguments.from_file(context, arguments.source)
        return _advised(context, arguments, trigger_arguments.number_in(value, said), value)
    if said is None:
        raise WrongUsage("name a trigger, T1 to T7, or give one with --from")
    flags.refuse_others(arguments, said)
    return _advised(context, arguments, said, None)


def _advised(
    context: Context, arguments: argparse.Namespace, number: str, value: Any  # noqa: ANN401  # a JSON object
) -> int:  # fmt: skip
    from standfast.surfaces.cli import section_write as writing

    try:
        writing.refuse_agents(context)
        return _fire(context, arguments, number, value)
    except (WrongUsage, NotTheOrchestrator):
        raise
    except StandfastError as error:
        if number != _ADVISORY:
            raise
        if context.json:
            print(json_line({"trigger": number, "recorded": False, "error": error.as_dict()}))
        where = f"{error.where}: " if error.where else ""
        print(printable(f"T7 is advisory and was left out: {where}{error.problem}"),
              file=sys.stderr)  # fmt: skip
        return 0


def _fire(
    context: Context, arguments: argparse.Namespace, number: str, value: Any  # noqa: ANN401  # a JSON object
) -> int:  # fmt: skip
    """Record it, acknowledge it, then let the file show it."""
    from standfast.surfaces.cli import acknowledgement, trigger_answers, trigger_arguments
    from standfast.surfaces.cli import section_write as writing

    given = flags.said(arguments)
    if arguments.action == flags.DECIDE and arguments.words:
        given["decision"] = " ".join(arguments.words)
    context.may_write()
    file = writing.file_of(context, arguments.file)
    fill = writing.fill(context) if value is None and "fill" not in given else None

    def make(tx: Writing, document: Document) -> Trigger:
        said = value
        if said is None:
            said = trigger_arguments.value_of(number, given, document, fill)
        return trigger_arguments.complete(tx.execute, document, {**said, "trigger": number})

    context.take(file)  # before a transaction: who wrote it takes time to tell
    named = trigger_arguments.fields(given if value is None else {}, value)
    with context.journal.writing() as tx:
        before, after = writing.fire(tx, context, file, make, named)
    told = trigger_answers.recorded(number, before, after)
    must = number != _ADVISORY
    return acknowledgement.acknowledge(context, after, told.words, told.facts, must=must)


def _decide(context: Context, arguments: argparse.Namespace) -> int:
    """A decision that later phases are bound by, or that one is applied from now on: T6."""
    from standfast.surfaces.cli import section_write as writing

    if bool(arguments.words) == ("apply" in flags.said(arguments)):
        raise WrongUsage("say what was decided, or name a decision with --apply")
    writing.refuse_agents(context)
    return _fire(context, arguments, "T6", None)


def _show(context: Context, arguments: argparse.Namespace) -> int:
    """What a resuming person or agent needs."""
    from standfast.surfaces.cli import section_picture as shown
    from standfast.surfaces.cli import section_view as looking

    context.heal()
    seen = looking.look(context, arguments.file)
    if context.json:
        print(json_line(seen.as_dict()))
    else:
        print(shown.whole(context.screen, seen))
    return 0


def _staleness(context: Context, arguments: argparse.Namespace) -> int:
    """One line; 1 where the section must be updated before anything else."""
    from standfast.protocols.resumption.rules.staleness import CRITICAL
    from standfast.surfaces.cli import section_view as looking

    context.heal()
    seen = looking.look(context, arguments.file)
    if context.json:
        facts = {"level": seen.staleness.level, "reason": seen.staleness.reason}
        print(json_line({"file": seen.file, **facts}))
    else:
        print(printable(str(seen.staleness)))
    return 1 if seen.staleness.level == CRITICAL else 0


def _validate(context: Context, arguments: argparse.Namespace) -> int:
    """Everything that is wrong with the file's section; 1 where anything is."""
    from standfast.surfaces.cli import section_commands as checks

    return checks.validate(context, arguments.file)


def _migrate(context: Context, arguments: argparse.Namespace) -> int:
    """v1.0, or what is nearly v2.0, to v2.0."""
    from standfast.surfaces.cli import section_commands as checks

    return checks.migrate(context, arguments.file, is_dry=arguments.dry_run)


def _adopt(context: Context, arguments: argparse.Namespace) -> int:
    """The file is right, a person says: old or not, it is what holds from now on."""
    from standfast.surfaces.cli import section_commands as checks

    if len(arguments.words) > 1 or (arguments.words and arguments.file):
        raise WrongUsage("adopt one file at a time")
    return checks.adopt(context, arguments.words[0] if arguments.words else arguments.file)


_ACTIONS = {
    "show": _show,
    "validate": _validate,
    "migrate": _migrate,
    "adopt": _adopt,
    "trigger": _trigger,
    "decide": _decide,
    "staleness": _staleness,
}

"""`standfast gate`: scores of a quality gate, kept as they come, judged when all are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.errors.base import NothingFound, WrongUsage
from standfast.protocols.resumption.records import document_records
from standfast.protocols.resumption.rules.quality_gates import missing, read_scores
from standfast.surfaces.cli import gate_picture as shown
from standfast.surfaces.cli import section_write as writing
from standfast.surfaces.cli import trigger_arguments, troubles
from standfast.surfaces.cli import trigger_flags as flags
from standfast.surfaces.cli.acknowledgement import acknowledge
from standfast.surfaces.cli.screen import json_line
from standfast.text import one_line, printable

if TYPE_CHECKING:
    import argparse

    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.rules.quality_gates import Scores
    from standfast.protocols.resumption.rules.triggers import Trigger
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """Which gate, its scores, and what else the iteration tells."""
    parser.add_argument("action", choices=tuple(_ACTIONS), help="what to do")
    parser.add_argument("gate", nargs="?", help="the gate's name, such as QG-1")
    parser.add_argument(
        "scores",
        nargs="*",
        metavar="DIMENSION=SCORE",
        help=f"completeness=0.95 and so on; {flags.ALONE}",
    )
    parser.add_argument(
        "--from", dest="source", metavar="FILE", help="scores as a JSON object; `-` reads stdin"
    )
    flags.configure(parser, flags.GATE)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Do it, and say what stood in the way of the file."""
    status = _ACTIONS[arguments.action](context, arguments)
    troubles.tell(context)
    return status


def _record(context: Context, arguments: argparse.Namespace) -> int:
    """Keep the scores; when all are in, the iteration is recorded: T3."""
    if not arguments.gate or "=" in arguments.gate:
        raise WrongUsage("name the gate before its scores")
    if not arguments.gate.strip() or printable(arguments.gate) != arguments.gate:
        raise WrongUsage("the gate has no name that can be seen")
    scores = _scores(context, arguments)
    writing.refuse_agents(context)
    context.may_write()
    file = writing.file_of(context, arguments.file)
    context.take(file)
    said = {"fill": writing.fill(context), **flags.said(arguments)}
    with context.journal.writing() as tx:
        document = _keep(tx, context, file, arguments.gate, scores, said)
    found = shown.standing(document, arguments.gate)
    lacking = ", ".join(found.missing)
    done = f"Kept; still missing: {lacking}" if lacking else "Recorded T3"
    words = f"{shown.drawn(context.screen, found)}\n{done}"
    return acknowledge(context, document, words, {"file": file, **found.as_dict()})


def _scores(context: Context, arguments: argparse.Namespace) -> Scores:
    found: dict[str, Any] = dict(trigger_arguments.scores(arguments.scores))
    if arguments.source is not None:
        for name, score in trigger_arguments.from_file(context, arguments.source).items():
            if name in found:
                raise WrongUsage(f"`{one_line(name, 60)}` is scored twice")
            found[name] = score
    if not found:
        raise WrongUsage("give at least one score, such as completeness=0.95")
    return read_scores(found)


def _keep(
    tx: Writing,
    context: Context,
    file: str,
    gate: str,
    scores: Scores,
    said: dict[str, Any],
) -> Document:
    """The document after it."""
    who = writing.author(context)
    name = writing.ensure(tx, context, file, who).name
    pending = document_records.score(tx, name, gate, scores, who)
    lacking = missing(pending.scores)
    if lacking:
        _refuse_early(said, lacking)
        found = document_records.find(tx.execute, name)
        if found is None:
            raise NothingFound(f"nothing is known of `{file}`")
        return found

    def make(tx: Writing, document: Document) -> Trigger:
        all_of_it = {**said, "gate": gate, "score": [f"{n}={s}" for n, s in pending.scores.items()]}
        value = trigger_arguments.value_of("T3", all_of_it, document, None)
        return trigger_arguments.complete(tx.execute, document, value)

    return writing.fire(tx, context, file, make)[1]


def _refuse_early(said: dict[str, Any], lacking: list[str]) -> None:
    """Before all scores are in there is no iteration yet that could say anything."""
    early = [f"--{name}" for name in said if name != "fill"]
    if early:
        problem = f"{early[0]} goes with the last scores; still missing: {', '.join(lacking)}"
        raise WrongUsage(problem, remedy="Nothing was recorded: say it when all scores are in.")


def _show(context: Context, arguments: argparse.Namespace) -> int:
    """Draw one gate, or all."""
    if arguments.scores or arguments.source is not None:
        raise WrongUsage("`gate show` takes no scores")
    flags.refuse_others(arguments, "gate show")
    context.heal()
    file = writing.file_of(context, arguments.file)
    document = writing.known(context, file)
    if document is None:
        raise NothingFound("the journal knows of no gates of this file", file=file)
    names = shown.known(document)
    if arguments.gate and arguments.gate not in names:
        there = ", ".join(one_line(name, 60) for name in names) or "none yet"
        raise NothingFound(f"there is no gate `{one_line(arguments.gate, 60)}`",
                           file=file, remedy=f"There are: {there}.")  # fmt: skip
    found = [shown.standing(document, name) for name in names if arguments.gate in (None, name)]
    if context.json:
        print(json_line({"file": file, "gates": [each.as_dict() for each in found]}))
    else:
        print("\n\n".join(shown.drawn(context.screen, each) for each in found) or "No gates yet.")
    return 0


_ACTIONS = {"record": _record, "show": _show}

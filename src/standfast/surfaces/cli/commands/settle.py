"""`standfast settle`: a person says whether a command took effect whose end nobody saw."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast.effects import person_answers
from standfast.effects.rules import Verdict
from standfast.journal.author import Author
from standfast.runs.lanes import doubts
from standfast.surfaces.cli import grounds, lane_workers, persons, trust_question
from standfast.surfaces.cli.screen import json_line, speak

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_ANSWERS = {"done": Verdict.DONE, "again": Verdict.AGAIN}


def configure(parser: Parser) -> None:
    """Of what, and what became of it."""
    parser.add_argument("key", help="the command, as `standfast ps` names it")
    parser.add_argument(
        "answer", choices=tuple(_ANSWERS),
        help="`done`: it took effect; `again`: it did not, and is begun once more",
    )  # fmt: skip
    parser.add_argument("--by", help="who says so (the login)")
    trust_question.configure(parser)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Take the answer; whoever resumes goes by it."""
    persons.refuse_agents(context)
    context.may_write()
    grounds.stand(context)
    trust_question.see_to_command(context, arguments.key, arguments.trust)
    _look(context, arguments)
    author = Author(persons.who(context, arguments.by))
    person_answers.say(context.journal, arguments.key, _ANSWERS[arguments.answer], author)
    if context.json:
        print(json_line({"key": arguments.key, "answer": arguments.answer, "by": author.actor}))
    else:
        print(f"Recorded by {author.actor}: {arguments.key}: {_ANSWERS[arguments.answer]}")
    context.heal()
    return 0


def _look(context: Context, arguments: argparse.Namespace) -> None:
    """Who answers is told first what a power cut has torn there."""
    if not person_answers.is_open(context.journal, arguments.key):
        return
    worker = lane_workers.worker(context, lambda _, words: speak(words, sys.stderr))
    is_done = _ANSWERS[arguments.answer] is Verdict.DONE
    doubts.look(context.journal, arguments.key, worker, is_done=is_done)

"""`standfast resume`: go on with what was left in the middle, and say what was found first."""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import NotARepository, WrongUsage
from standfast.surfaces.cli import grounds, run_calls, trust_question, unfinished_runs
from standfast.surfaces.cli.lane_runs import seconds
from standfast.surfaces.cli.screen import json_line, speak
from standfast.text import one_line, printable

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_NOTHING = "Nothing was left in the middle."


def configure(parser: Parser) -> None:
    """Which run, or all of them; which lane is to be tried once more."""
    parser.add_argument("run", nargs="?", help="the run; all that nobody stopped, without it")
    parser.add_argument("lane", nargs="?", help="a lane that failed, to be tried once more")
    parser.add_argument("--wait-limit", type=seconds, metavar="2h",
                        help="how long to wait for a usage limit to end")  # fmt: skip
    trust_question.configure(parser)
    parser.add_argument("--cost-limit", type=_dollars, metavar="USD",
                        help="what the run may cost in all, for this call")  # fmt: skip
    parser.epilog = run_calls.STATUSES_TOLD


def _dollars(said: str) -> str:
    """Without it a run that has cost as much as its plan allows could never go on."""
    try:
        found = Decimal(said)
    except InvalidOperation:
        found = Decimal(0)
    if not (found.is_finite() and found > 0):
        raise WrongUsage(f"`{one_line(said, 40)}` is no sum such as 20 or 7.50")
    return str(found)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Look, say what was found, go on."""
    if not context.place.in_git:
        raise NotARepository("lanes are branches: this is no git repository")
    grounds.stand(context)
    context.heal(writes=True)
    named = arguments.run
    if named:
        found = unfinished_runs.Unfinished(
            [unfinished_runs.find(context, ids.run_id(named))], [], []
        )
    else:
        found = unfinished_runs.unfinished(context)
    wanted = found.left
    if arguments.cost_limit is not None:
        if not named:
            raise WrongUsage("--cost-limit needs the run that it is for")
        wanted = [each._replace(cost_usd=arguments.cost_limit) for each in wanted]
    asked = {
        each.run_id: unfinished_runs.lanes(each, arguments.lane)
        for each in wanted
        if arguments.lane
    }
    if context.json:
        told = unfinished_runs.as_json(context, wanted, asked)
        speak(json_line({**told, "busy": found.busy, "elsewhere": found.elsewhere}), sys.stdout)
    else:
        lines = [f"{name} is being worked on already, and left to that." for name in found.busy]
        lines += map(printable, found.elsewhere)
        words = unfinished_runs.told(context, wanted, asked) if wanted else _NOTHING
        speak("\n".join([*lines, words]), sys.stdout)
    if not wanted:
        return 0
    return run_calls.take_on(
        context, wanted, asked, wait_s=arguments.wait_limit, given=arguments.trust
    )

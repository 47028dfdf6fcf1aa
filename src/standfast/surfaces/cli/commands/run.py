"""`standfast run`: take a plan to merged work; called again, it goes on where it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import NotARepository, WrongUsage
from standfast.surfaces.cli import (
    grounds,
    run_calls,
    run_plans,
    run_rollback,
    trust_question,
    unfinished_runs,
)
from standfast.surfaces.cli.lane_runs import seconds

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """Which plan, under which name, and how long to wait."""
    parser.add_argument("plan", nargs="?", help="the plan: YAML, or one of two kinds of Markdown")
    parser.add_argument("--run-id", help="the run's name (the plan's, or its file's)")
    parser.add_argument("--base", metavar="BRANCH", help="where lanes start and go to (this one)")
    parser.add_argument("--phase", help="only this phase of the plan")
    parser.add_argument("--lanes", type=int, metavar="N", help="how many at once (4)")
    parser.add_argument("--wait-limit", type=seconds, metavar="2h",
                        help="how long to wait for a usage limit to end")  # fmt: skip
    trust_question.configure(parser)
    parser.add_argument("--resume", action="store_true", help="go on with the run")
    parser.add_argument("--rollback", action="store_true", help="take its lanes back")
    parser.epilog = run_calls.STATUSES_TOLD


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Begin the run, or go on with it."""
    if not context.place.in_git:
        raise NotARepository("lanes are branches: this is no git repository")
    if arguments.resume and arguments.rollback:
        raise WrongUsage("--resume goes on and --rollback goes back: name one of them")
    if arguments.rollback and (arguments.lanes, arguments.wait_limit) != (None, None):
        raise WrongUsage("--lanes and --wait-limit are for a run that goes on")
    if arguments.lanes is not None and arguments.lanes < 1:
        raise WrongUsage("--lanes is a number from 1 on")
    grounds.stand(context)
    context.heal(writes=True)
    if arguments.resume or arguments.rollback:
        found = unfinished_runs.find(context, _named(arguments))
        run_plans.refuse_other(context, found, arguments)
        phase = arguments.phase
        wanted = [name for name in found.names if phase in (None, name[0])]
        if not wanted:
            known = ", ".join(dict.fromkeys(name for name, _ in found.names))
            raise WrongUsage(f"{found.run_id} has no phase `{phase}`: it has {known}")
        if arguments.rollback:
            return run_rollback.roll_back(context, found, wanted, None, arguments.trust)
        found = run_plans.narrowed(found, arguments)
        return run_calls.take_on(context, [found], wait_s=arguments.wait_limit, phase=phase,
                            given=arguments.trust)  # fmt: skip
    if arguments.plan is None:
        raise WrongUsage("name the plan")
    planned = run_plans.narrowed(run_plans.begin(context, arguments), arguments)
    return run_calls.take_on(context, [planned], wait_s=arguments.wait_limit, given=arguments.trust)


def _named(arguments: argparse.Namespace) -> str:
    if arguments.run_id is None:
        raise WrongUsage("--resume and --rollback need --run-id")
    return ids.run_id(arguments.run_id)

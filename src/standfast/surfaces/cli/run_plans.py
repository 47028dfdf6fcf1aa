"""From a plan file to a run in the journal: read, trusted, looked at, told. In this order."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.errors import WrongUsage
from standfast.files import homes
from standfast.git import Git, branches
from standfast.journal import runs as told
from standfast.journal.author import Author
from standfast.journal.runs import Run
from standfast.lane_errors import LaneBlocked, NothingToStart, RunChanged
from standfast.protocol import ids, plan_lanes, plan_overlaps
from standfast.protocol.plan_lanes import Ground
from standfast.protocol.text import printable
from standfast.redact import redact
from standfast.run import runners
from standfast.run.starting import base_commit
from standfast.surfaces.cli import plans

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from standfast.protocol.lane_spec import Spec
    from standfast.protocol.plan import Plan
    from standfast.surfaces.cli.context import Context
    from standfast.surfaces.cli.plans import Read

_LINES = ("setup", "test", "pr", "pr_probe")


def begin(context: Context, arguments: argparse.Namespace) -> Run:
    """The run of a plan: as it was begun, if it was, else as the plan says now."""
    read = plans.read_good(context, arguments.plan)
    run_id = ids.run_id(arguments.run_id or read.plan.run)
    known = told.find(context.journal, run_id)
    if known is not None:
        return _same(known, read)
    plan = _narrowed(read.plan, arguments)
    ground = _ground(context, read._replace(plan=plan), run_id, arguments.base)
    specs = list(plan_lanes.specs(plan, ground))
    _refuse_secrets(specs)
    _look_first(context, plan, specs)
    made = _run(plan, run_id, specs[0].base, read)
    author = Author(context.who, session=context.config.session, subdir=context.place.subdir)
    context.may_write()
    with context.journal.writing() as tx:
        told.plan(tx, made, specs, author)
    return made


def _same(known: Run, read: Read) -> Run:
    """A run that was begun is resumed as it is: a plan that changed meanwhile is another run."""
    if known.digest != read.digest:
        raise RunChanged(
            f"run {known.run_id} was begun from another plan ({printable(known.file)}), or this"
            " one was changed since"
        )
    return known


def _narrowed(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """The plan, or one phase of it; with as many lanes at once as somebody says."""
    if arguments.phase is not None:
        phases = tuple(each for each in plan.phases if each.name == arguments.phase)
        if not phases:
            known = ", ".join(each.name for each in plan.phases)
            raise WrongUsage(f"the plan has no phase `{arguments.phase}`: it has {known}")
        plan = plan._replace(phases=phases)
    if arguments.lanes is not None:
        if arguments.lanes < 1:
            raise WrongUsage("--lanes is a number from 1 on")
        plan = plan._replace(limits=plan.limits._replace(lanes=arguments.lanes))
    return plan


def _ground(context: Context, read: Read, run_id: str, base: str | None) -> Ground:
    plan = read.plan
    root = homes.main_root(context.place)
    branch = base or plan.base or Git(directory=Path(context.place.root)).branch()
    if branch is None:
        raise LaneBlocked("no branch is checked out here: name one with `--base`")
    default = plan.runner or context.config.runner
    wanted = {default, *plan_lanes.runner_names(plan)}
    found = {name: runners.resolve(name, context.config) for name in sorted(wanted)}
    for runner in found.values():
        runners.installed(runner, context.environ.get("PATH"))
        doubt = runners.could_edit(runner, root, context.environ)
        if doubt is not None:
            _warn(doubt.says)
    prompts = {file: redact(text) for file, text in read.prompts.items()}
    return Ground(run_id, root, branch, default, found, prompts)


def _warn(words: str) -> None:
    print(f"warning: {printable(words)}", file=sys.stderr)


def _refuse_secrets(specs: Iterable[Spec]) -> None:
    """The journal keeps no secret: a command that held one could not be run again as it was."""
    for spec in specs:
        lines = {name: getattr(spec, name) for name in _LINES}
        for runner in spec.runners.values():
            words = (*runner.command, *runner.resume, *runner.env.values())
            lines |= {f"runner {runner.name}": " ".join(words)}
        for name, line in lines.items():
            if redact(line) != line:
                raise WrongUsage(f"{name} of lane {spec.lane} holds what looks like a secret: give"
                                 " it to the command by the environment")  # fmt: skip


def _look_first(context: Context, plan: Plan, specs: Sequence[Spec]) -> None:
    """What would stop lanes later is said before anything is begun."""
    git = Git(directory=Path(homes.main_root(context.place)))
    base_commit(git, specs[0].base)
    taken = branches.heads(git, *{name for spec in specs for name in branches.around(spec.branch)})
    for spec in specs:
        if os.path.lexists(spec.worktree):
            raise NothingToStart("the worktree of a lane would be here", file=spec.worktree)
        branch = branches.in_the_way(taken, spec.branch)
        if branch is not None:
            raise NothingToStart(
                f"there is a branch `{printable(branch)}` already, where lane {spec.lane} would"
                f" make `{printable(spec.branch)}`"
            )
    for overlap in plan_overlaps.overlaps(plan):
        _warn(f"line {overlap.line}: {overlap}")


def _run(plan: Plan, run_id: str, base: str, read: Read) -> Run:
    phases = tuple(
        (phase.name, phase.title, tuple((lane.name, lane.after) for lane in phase.lanes))
        for phase in plan.phases
    )
    cost = plan.limits.cost_usd
    return Run(
        run_id=run_id,
        file=read.file,
        digest=read.digest,
        base=base,
        phases=phases,
        at_once=plan.limits.lanes,
        stops_at_failure=plan_lanes.stops_at_failure(plan),
        time_s=plan.limits.time_s,
        cost_usd="" if cost is None else str(cost),
    )

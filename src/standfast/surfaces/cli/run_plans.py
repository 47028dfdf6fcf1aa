"""From a plan file to a run in the journal: read, trusted, looked at, told. In this order."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import clock, ids, xdg
from standfast.errors.base import NotARepository, StandfastError, WrongUsage
from standfast.errors.lanes import LaneBlocked, NothingToStart, RunChanged
from standfast.errors.plans import PlanUntrusted
from standfast.git import branches
from standfast.git.command import Git
from standfast.plans import plan_lanes, trust
from standfast.plans.plan_commands import commands
from standfast.plans.plan_lanes import Ground
from standfast.redaction.redactor import redact
from standfast.runners.registry import takes_script
from standfast.runs import runner_choice
from standfast.runs.lanes import copied_files
from standfast.runs.lanes.lane_start import base_commit
from standfast.runs.records import run_records as told
from standfast.runs.records.run_records import Run
from standfast.surfaces.cli import persons, plan_secrets, trust_question
from standfast.surfaces.cli.commands.plan import load
from standfast.surfaces.cli.screen import warn
from standfast.text import one_line, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Mapping, Sequence

    from standfast.plans.lane_spec import Spec
    from standfast.plans.model import Plan
    from standfast.plans.plan_file import Loaded
    from standfast.runners.registry import Runner
    from standfast.surfaces.cli.command_context import Context

_WORDS = 200
_COPY = "Put the file there, or take it out of the plan's `copy:`."


def begin(context: Context, arguments: argparse.Namespace) -> Run:
    """The run of a plan: as it was begun, if it was, else as the plan says now."""
    loaded = load(context, arguments.plan)
    plan = loaded.need()
    run_id = ids.run_id(plan.run if arguments.run_id is None else arguments.run_id)
    known = told.find(context.journal, run_id)
    if known is not None:
        _same(known, loaded, arguments)
        return known
    plan = _narrowed(plan, arguments)
    specs = _specs(context, loaded, plan, run_id, arguments)
    _look_first(context, specs)
    trust_question.began(context, specs, arguments.trust)
    made = _run(plan, run_id, specs[0].base, loaded)
    author = context.author
    context.may_write()
    with context.journal.writing() as tx:
        known = told.find(context.journal, run_id)  # another call may have come first
        if known is None:
            told.plan(tx, made, specs, author)
    return made if known is None else _same(known, loaded, arguments)


def refusals(context: Context, loaded: Loaded) -> list[StandfastError]:
    """Why `run` would begin nothing of a plan here, as far as looking tells; nothing is changed."""
    if not context.place.in_git:
        return [NotARepository("lanes are branches: this is no git repository")]
    plan = loaded.need()
    known = told.find(context.journal, plan.run)
    if known is not None:
        return _whys(partial(_refuse_plan, known, loaded))
    found = _resolved(context, plan)
    shells = _shells(context, plan, found)
    path = context.environ.get("PATH")
    return _whys(
        *(partial(runner_choice.installed, each, path) for each in found.values()),
        partial(_need_trust, context, loaded, plan, shells),
        partial(plan_secrets.see_to, loaded, plan, shells=shells, runners=found.values()),
        partial(_look_ahead, context, loaded, plan, found),
    )


def _whys(*looks: Callable[[], object]) -> list[StandfastError]:
    """What each of them is refused for."""
    found = []
    for look in looks:
        try:
            look()
        except StandfastError as error:
            found.append(error)
    return found


def _look_ahead(context: Context, loaded: Loaded, plan: Plan, found: Mapping[str, Runner]) -> None:
    ground = _ground(context, plan, ids.run_id(plan.run), None, found)
    _look_first(context, list(plan_lanes.specs(plan, ground._replace(prompts=loaded.prompts))))


def _specs(
    context: Context, loaded: Loaded, plan: Plan, run_id: str, arguments: argparse.Namespace
) -> list[Spec]:
    """The lanes as the plan says them now; its commands are trusted."""
    found = _runners(context, plan)
    shells = _shells(context, plan, found)
    _refuse_untrusted(context, loaded, plan, shells, arguments.trust)
    plan_secrets.see_to(loaded, plan, shells=shells, runners=found.values())
    ground = _ground(context, plan, run_id, arguments.base, found)
    texts = {file: redact(text) for file, text in loaded.prompts.items()}
    return list(plan_lanes.specs(plan, ground._replace(prompts=texts)))


def _same(known: Run, loaded: Loaded, arguments: argparse.Namespace) -> Run:
    """A run that was begun is resumed as it is: a plan that changed meanwhile is another run."""
    _refuse_plan(known, loaded)
    phases = [arguments.phase] if arguments.phase else [each.name for each in loaded.need().phases]
    begun = [name for name, _, _ in known.phases]
    if phases != begun or arguments.base not in (None, known.base):
        raise RunChanged(
            f"run {known.run_id} was begun with phase {', '.join(begun)} into"
            f" {printable(known.base)}, and this call says something else"
        )
    return known


def _refuse_plan(known: Run, loaded: Loaded) -> None:
    if known.digest != loaded.fingerprint:
        raise RunChanged(
            f"run {known.run_id} was begun from another plan ({printable(known.file)}), or this"
            " one was changed since"
        )


def refuse_other(context: Context, known: Run, arguments: argparse.Namespace) -> None:
    """A run that is named needs no plan and no base; what is said of them must be true of it."""
    if arguments.plan is not None:
        _refuse_plan(known, load(context, arguments.plan))
    if arguments.base not in (None, known.base):
        raise RunChanged(f"run {known.run_id} was begun into {printable(known.base)}")


def narrowed(run: Run, arguments: argparse.Namespace) -> Run:
    """The run as this call takes it on: with as many lanes at once as it says."""
    return run if arguments.lanes is None else run._replace(at_once=arguments.lanes)


def _narrowed(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """The plan, or one phase of it; with as many lanes at once as somebody says."""
    if arguments.phase is not None:
        phases = tuple(each for each in plan.phases if each.name == arguments.phase)
        if not phases:
            known = ", ".join(each.name for each in plan.phases)
            raise WrongUsage(f"the plan has no phase `{arguments.phase}`: it has {known}")
        plan = plan._replace(phases=phases)
    if arguments.lanes is not None:
        plan = plan._replace(limits=plan.limits._replace(lanes=arguments.lanes))
    return plan


def _runners(context: Context, plan: Plan) -> dict[str, Runner]:
    """Every runner that is needed, as it is configured now; each must be there."""
    root, found = context.place.main_root, _resolved(context, plan)
    for runner in found.values():
        runner_choice.installed(runner, context.environ.get("PATH"))
        doubt = runner_choice.could_edit(runner, root, context.environ)
        if doubt is not None:
            warn(doubt.says)
    return found


def _resolved(context: Context, plan: Plan) -> dict[str, Runner]:
    names = plan_lanes.runners_used(plan, plan.runner or context.config.runner)
    return {name: runner_choice.resolve(name, context.config) for name in sorted(names)}


def _shells(context: Context, plan: Plan, found: Mapping[str, Runner]) -> set[str]:
    """The runners whose prompts are commands."""
    shells = {name for name, runner in found.items() if takes_script(runner)}
    if (plan.runner or context.config.runner) in shells:
        shells.add("")  # whoever names none
    return shells


def _refuse_untrusted(
    context: Context, loaded: Loaded, plan: Plan, shells: Collection[str], given: Sequence[str]
) -> None:
    """Commands of a plan that nobody has trusted are shown, and none is run."""
    try:
        _need_trust(context, loaded, plan, shells)
    except PlanUntrusted as error:
        if loaded.fingerprint in given:
            persons.refuse_agents(context)
            by, at = persons.who(context, None), clock.rfc3339(clock.now_us())
            home, root = xdg.state_home(context.environ), context.place.main_root
            trust.trust(home, root, loaded, at=at, by=by)
            return
        for each in commands(plan, shells):
            whose = f" of {each.whose}" if each.whose else ""
            text = one_line(each.text or each.file, _WORDS)
            print(f"not run: line {each.line}, {each.what}{whose}: {text}", file=sys.stderr)
        error.remedy = (
            "Read them with `standfast plan trust FILE`, which asks; without a terminal, call"
            f" this with `--trust {loaded.fingerprint}`."
        )
        raise


def _need_trust(context: Context, loaded: Loaded, plan: Plan, shells: Collection[str]) -> None:
    wanted = commands(plan, shells)
    home, root = xdg.state_home(context.environ), context.place.main_root
    if not wanted or trust.is_trusted(home, root, loaded):
        return
    problem = f"nobody has trusted its {len(wanted)} commands, or it was changed since"
    remedy = "Read them with `standfast plan trust FILE`, which asks."
    raise PlanUntrusted(problem, file=loaded.file, line=wanted[0].line, remedy=remedy)


def _ground(
    context: Context, plan: Plan, run_id: str, base: str | None, found: Mapping[str, Runner]
) -> Ground:
    branch = base or plan.base or Git(directory=Path(context.place.root)).branch()
    if branch is None:
        raise LaneBlocked("no branch is checked out here",
                          remedy="Name one with `--base`, or check one out.")  # fmt: skip
    default = plan.runner or context.config.runner
    return Ground(run_id, context.place.main_root, branch, default, found)


def _look_first(context: Context, specs: Sequence[Spec]) -> None:
    """What would stop lanes later is said before anything is begun."""
    root = context.place.main_root
    if printable(root) != root:  # checkpoints name it, and are read by people and agents
        raise NothingToStart("the path of the repository holds a control or invisible character",
                             file=root)  # fmt: skip
    git = Git(directory=Path(root))
    start = base_commit(git, specs[0].base)
    lacks = copied_files.missing(
        git, start, list(dict.fromkeys(n for spec in specs for n in spec.copy))
    )
    if lacks is not None:
        raise NothingToStart(lacks, remedy=_COPY)
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


def _run(plan: Plan, run_id: str, base: str, loaded: Loaded) -> Run:
    phases = tuple(
        (phase.name, phase.title, tuple((lane.name, lane.after) for lane in phase.lanes))
        for phase in plan.phases
    )
    cost = plan.limits.cost_usd
    return Run(
        run_id=run_id,
        file=loaded.file,
        digest=loaded.fingerprint,
        base=base,
        phases=phases,
        at_once=plan.limits.lanes,
        stops_at_failure=plan_lanes.stops_at_failure(plan),
        time_s=plan.limits.time_s,
        cost_usd="" if cost is None else str(cost),
    )

"""What looks like a secret in a plan: the journal keeps none, so that it could not be run as it is.

A command without its secret is another command, and is refused; an agent that is told less can
still work, and whoever wrote its prompt hears of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import WrongUsage
from standfast.plans.plan_commands import commands
from standfast.redaction.redactor import redact
from standfast.runners.registry import SHELL
from standfast.surfaces.cli.screen import warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from standfast.plans.model import Plan
    from standfast.plans.plan_commands import Command
    from standfast.plans.plan_file import Loaded
    from standfast.runners.registry import Runner

_REMEDY = "Have the command read it from the environment, or from a file that is not in the plan."


def see_to(
    loaded: Loaded, plan: Plan, *, shells: Collection[str], runners: Iterable[Runner]
) -> None:
    """Refuse commands that hold a secret, and only then warn of prompts that do."""
    _refuse_runners(runners)
    run = commands(plan, shells)
    for each in run:
        where = _where(loaded, each)
        if where is not None:
            raise WrongUsage(f"{_whose(each)} holds what looks like a secret", file=where[0],
                             line=where[1], remedy=_REMEDY)  # fmt: skip
    everybody = {"", *(runner.name for runner in runners)}
    for each in commands(plan, everybody):
        where = None if each in run else _where(loaded, each)
        if where is not None:
            file, line = where
            words = f"{file}:{line}: {_whose(each)} holds what looks like a secret"
            warn(f"{words}: the agent is not told it")


def _refuse_runners(runners: Iterable[Runner]) -> None:
    for runner in runners:
        line = " ".join((*runner.command, *runner.resume, *runner.env.values()))
        if redact(line) != line:
            raise WrongUsage(f"runner {runner.name} holds what looks like a secret: give it to the"
                             " command by the environment")  # fmt: skip


def _whose(each: Command) -> str:
    if each.task:
        return f"task {each.task} of {each.whose}"
    if each.what == SHELL:
        return f"gate {each.whose}"
    return f"{each.what} of {each.whose}" if each.whose else each.what


def _where(loaded: Loaded, each: Command) -> tuple[str, int] | None:
    """The file and line of the first secret, as far as it is known; None if it holds none."""
    text = loaded.prompts[each.file] if each.file else each.text
    clean = redact(text)
    if clean == text:
        return None
    if not each.file:
        return loaded.file, each.line
    pairs = zip(text.splitlines(), clean.splitlines(), strict=False)
    line = next((n for n, (one, other) in enumerate(pairs, 1) if one != other), 1)
    return each.file, line

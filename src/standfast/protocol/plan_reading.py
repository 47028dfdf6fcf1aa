"""The one entry for plans: which of the three kinds a file is, the plan in it, what is wrong. Pure.

A plan with an error is told of as a whole, not run in part: whoever has findings with an error has
no plan.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.errors import StandfastError
from standfast.protocol import ids, plan_checks, plan_waves, plan_yaml
from standfast.protocol.plan_findings import Finding, errors, in_order

if TYPE_CHECKING:
    from collections.abc import Collection

    from standfast.protocol.plan import Plan

LIMIT = plan_yaml.LIMIT
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_BLANKS = re.compile(r"[-.]{2,}")


def read(
    data: bytes, name: str, *, runners: Collection[str] | None = None
) -> tuple[Plan | None, list[Finding]]:
    """The plan in a file of that name, or None, and all that is to be said of it, by line.

    *runners* are the names that are known here; None leaves them unchecked.
    """
    plan, found = plan_yaml.read(data, name, run=run_name(name))
    if plan is not None:
        found = [*found, *plan_checks.check(plan, runners)]
    if plan is None or errors(found):
        return None, in_order(found)
    phases = tuple(
        phase._replace(
            lanes=tuple(lane._replace(tasks=plan_waves.in_turn(lane.tasks)) for lane in phase.lanes)
        )
        for phase in plan.phases
    )
    return plan._replace(phases=phases), in_order(found)


def run_name(name: str) -> str:
    """What a run is called whose plan does not say it: as the file, as far as that can be."""
    stem = name.rpartition("/")[2].rpartition(".")[0] or name.rpartition("/")[2]
    plain = _BLANKS.sub("-", _NO_NAME.sub("-", stem)).strip("._-")[: ids.LONGEST_NAME]
    try:
        return ids.name(plain.rstrip("._-"), what="the run")
    except StandfastError:
        spelled = f"plan-{plain.replace('.', '-')}"[: ids.LONGEST_NAME]
        return ids.name(spelled.rstrip("-"), what="the run")

"""The one entry for plans: which of the three kinds a file is, the plan in it, what is wrong. Pure.

A plan with an error is told of as a whole, not run in part: whoever has findings with an error has
no plan.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import StandfastError
from standfast.formats.document_limits import decode
from standfast.plans.checks import lane_waves, plan_checks
from standfast.plans.findings import Finding, errors, in_order
from standfast.plans.readers import yaml_plan
from standfast.plans.readers.markdown_plan import take_apart
from standfast.plans.readers.phase import phase_plan
from standfast.plans.readers.team import team_plan, team_tasks

if TYPE_CHECKING:
    from collections.abc import Collection

    from standfast.plans.model import Plan

LIMIT = yaml_plan.LIMIT
_YAML, _MARKDOWN = (".yaml", ".yml", ".json"), (".md", ".markdown", ".mdx", ".txt")
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_BLANKS = re.compile(r"[-.]{2,}")
_NEITHER = (
    "Write `Step by Step Tasks` (a team plan) or `Swim Lanes` (a phase plan), or name the file"
    " .yaml."
)


def read(
    data: bytes, name: str, *, runners: Collection[str] | None = None
) -> tuple[Plan | None, list[Finding]]:
    """The plan in a file of that name, or None, and all that is to be said of it, by line.

    *runners* are the names that are known here; None leaves them unchecked.
    """
    try:
        plan, found = _read(data, name)
    except StandfastError as error:
        return None, [Finding(error.line or 1, error.problem, error.remedy)]
    if plan is not None:
        found = [*found, *plan_checks.check(plan, runners)]
    if plan is None or errors(found):
        return None, in_order(found)
    return _in_turn(plan), in_order(found)


def _read(data: bytes, name: str) -> tuple[Plan | None, list[Finding]]:
    """By the reader of its kind: the extension says, and where it does not, the headings."""
    run = run_name(name)
    extension = name[name.rfind(".") :].lower()
    if extension in _YAML:
        return yaml_plan.read(data, name, run=run)
    text = decode(data, name=name, limit=LIMIT)
    blocks, _ = take_apart(text, phase_plan.SECTIONS | team_tasks.SECTIONS)
    if phase_plan.is_one(blocks):
        return phase_plan.read(text, run)
    if team_plan.is_one(blocks):
        return team_plan.read(text, run)
    if extension in _MARKDOWN:
        return None, [Finding(1, "this is neither a team plan nor a phase plan", _NEITHER)]
    return yaml_plan.read(data, name, run=run)


def _in_turn(plan: Plan) -> Plan:
    """The same plan, each lane's tasks in the order in which they are done."""
    phases = (
        phase._replace(
            lanes=tuple(lane._replace(tasks=lane_waves.in_turn(lane.tasks)) for lane in phase.lanes)
        )
        for phase in plan.phases
    )
    return plan._replace(phases=tuple(phases))


def run_name(name: str) -> str:
    """What a run is called whose plan does not say it: as the file, as far as that can be."""
    stem = name.rpartition("/")[2].rpartition(".")[0] or name.rpartition("/")[2]
    plain = _BLANKS.sub("-", _NO_NAME.sub("-", stem)).strip("._-")[: ids.LONGEST_NAME]
    try:
        return ids.name(plain.rstrip("._-"), what="the run")
    except StandfastError:
        spelled = f"plan-{plain.replace('.', '-')}"[: ids.LONGEST_NAME]
        return ids.name(spelled.rstrip("-"), what="the run")

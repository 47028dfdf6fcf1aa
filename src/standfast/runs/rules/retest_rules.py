"""Testing what will land: which run of the tests is due, and what follows from how it ended. Pure.

A lane's tests are of the lane on the base that it began with. Where the base moved, they run once
more on the very tree that would be merged. Red once may be chance: it is repeated. Red twice, and
the base alone is tested: what is red without the lane is no fault of the lane's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.lane_spec import NEVER, NONE, STRICT
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.rules.lane_steps import BLOCKED, FAILED, OK, RED, RETEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.plans.lane_spec import Spec
    from standfast.runs.rules.lane_steps import Standing

FIRST, REPEATED, ALONE = "first", "repeated", "base alone"
_NEXT = {FIRST: REPEATED, REPEATED: ALONE}
_SHORT = 12


class Landing(NamedTuple):
    """What would land, and on what."""

    base: str
    head: str
    tree: str  # of the head, and of a merge commit too
    tested: str  # the tree that the lane's tests were of


def is_wanted(spec: Spec) -> bool:
    """Whether anything of this lane is ever to be tested again."""
    return bool(spec.test) and spec.retest != NEVER and spec.merge != NONE


def due(lane: Standing, found: Landing) -> dict[str, str] | None:
    """The run that comes next, as it is told when it begins; None where the lane may land."""
    if not is_wanted(lane.spec) or found.tree == found.tested:
        return None
    step = lane.steps.get(RETEST)
    if step is not None and step.state == OK and step.facts.get("tree") == found.tree:
        return None
    afresh = {"base": found.base, "head": found.head, "tree": found.tree, "which": FIRST}
    if step is None or step.state != RED or step.seq < lane.marks[cp.TESTED].seq:
        return afresh
    if any(step.facts.get(name) != afresh[name] for name in ("base", "head")):
        return afresh
    return {**step.facts, "which": _NEXT[step.facts["which"]]}


class Verdict(NamedTuple):
    """What follows from a run: how the step stands now, and what is said of it."""

    state: str
    facts: Mapping[str, str]


def after(spec: Spec, facts: Mapping[str, str], error: str | None) -> Verdict:
    """What follows from how a run ended; *error* says how, where it was red."""
    known = dict(facts)
    which, place = facts["which"], f"{spec.base} {facts['base'][:_SHORT]}"
    if which == FIRST:
        return Verdict(OK, known) if error is None else Verdict(RED, {**known, "error": error})
    if which == REPEATED and error is not None:
        return Verdict(RED, {**known, "error": error})
    if which == REPEATED:
        return _flaky(spec, known, place)
    if error is not None:
        said = f"the base itself is red: {place}, without the lane: {error}"
        return Verdict(BLOCKED, {**known, "error": said})
    return Verdict(FAILED, {**known, "error": f"green alone, red on {place}: {known['error']}"})


def _flaky(spec: Spec, known: Mapping[str, str], place: str) -> Verdict:
    """Red, then green on the same commit: it lands with that said, unless strictness is asked."""
    again = ", after its setup" if spec.is_prepared else ""
    said = f"its tests are flaky: red on {place}, green when repeated{again}"
    if spec.retest == STRICT:
        strict = f"{said}, and `retest: strict` is asked: {known['error']}"
        return Verdict(BLOCKED, {**known, "error": strict})
    return Verdict(OK, {**known, "flaky": said})

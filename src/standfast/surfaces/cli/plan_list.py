"""The live resumption sections that `status` lists and `brief --json` tells."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import clock
from standfast.brief import live_plans
from standfast.brief.plan_summary import DIMENSIONS, band
from standfast.protocols.resumption.rules import staleness
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.brief.plan_summary import Plan
    from standfast.surfaces.cli.command_context import Context

_LISTED, _MOST = 20, 100  # documents, and of each list in one
_WORDS = 60
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def gather(context: Context) -> tuple[Plan, ...]:
    """Those of every checkout of the repository, as old as they are for the caller's session."""
    ask, session = context.journal.query, context.config.session
    root, now = context.place.root, clock.now_us()
    found = live_plans.gather(
        ask, root, session, now, most=_MOST, documents=_LISTED, everywhere=True
    )
    return tuple(found)


def needs_you(plan: Plan) -> str:
    """What only a person can decide, or must know before anything goes on; mostly nothing."""
    for gate, failed in plan.escalated:
        which = f"gate {one_line(gate, _WORDS)} failed {failed} times"
        return f'{which}. Say how the work goes on: standfast resumption decide "…"'
    is_critical = plan.level == staleness.CRITICAL
    return f"its resumption section is {plan.level}: {plan.reason}" if is_critical else ""


def needs(context: Context, found: tuple[Plan, ...]) -> list[dict[str, object]]:
    """The same beside what else needs a person, in its shape; it is no error and has no code."""
    return [
        {"code": None, "problem": needs_you(plan), "file": _file(context, plan), "line": None}
        for plan in found
        if needs_you(plan)
    ]


def rows(context: Context, found: tuple[Plan, ...]) -> list[str]:
    """First what needs somebody, then a line for each."""
    table = context.screen.table
    needs = [("NEEDS YOU", _file(context, plan), needs_you(plan)) for plan in found]
    listed = [("PLAN", _file(context, plan), _words(plan)) for plan in found]
    parts = [
        table([row for row in needs if row[2]], ("bad", "strong")),
        table(listed, ("good", "strong")),
    ]
    return [part for part in parts if part]


def _file(context: Context, plan: Plan) -> str:
    """Where it is: from the root of this checkout, or wherever else it is at home."""
    is_here = plan.root == context.place.root
    return plan.file if is_here else os.path.join(plan.root, plan.file)


def _words(plan: Plan) -> str:
    name = f" {one_line(plan.phase_name, _WORDS)}" if plan.phase_name.strip() else ""
    if name and not plan.is_ours("recovery_state.current_phase_name"):
        name += " (from the repository)"
    said = [f"phase {plan.phase_words}{name}", plan.status, *_gate(plan), _age(plan.updated_at)]
    return ", ".join([*said, *([plan.level] if plan.level != staleness.FRESH else [])])


def _gate(plan: Plan) -> list[str]:
    """The gate that is worked at: what is scored in part counts before what was scored last."""
    if plan.unfinished is not None:
        gate, iteration, scores = plan.unfinished
        done = "cut" if scores is None else f"{scores} of {DIMENSIONS} scores"
        return [f"{one_line(gate, _WORDS)} iteration {iteration}: {done}"]
    return [
        f"{one_line(gate, _WORDS)} iteration {iteration}: {score:.10g}"
        for gate, iteration, score, _ in plan.gates
        if gate == plan.current_gate
    ]


def _age(updated_at: str) -> str:
    second = staleness.seconds(updated_at)
    if second is None:
        return "updated nobody knows when"
    age = clock.now_us() // clock.MICROSECONDS - second
    if age < -staleness.AHEAD_S:  # our own stamps run a few seconds ahead of quick commands
        return "updated in the future"
    for size, unit in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if age >= 2 * size or (age >= size and unit == "min"):
            return f"updated {age // size} {unit} ago"
    return "updated just now"


def as_dict(plan: Plan) -> dict[str, object]:
    """What `--json` prints of one: documented, stable."""
    return {
        "file": plan.file,
        "root": plan.root,
        "phase": plan.phase,
        "phase_name": plan.phase_name,
        "status": plan.status,
        "activity": plan.activity,
        "next_step": plan.next_step,
        "updated_at": plan.updated_at,
        "read_from": plan.untaken or None,
        "staleness": {"level": plan.level, "reason": plan.reason},
        "last_checkpoint": plan.checkpoint,
        "current_gate": plan.current_gate,
        "gates": [
            {"gate": gate, "iteration": iteration, "score": score, "band": band(score)}
            for gate, iteration, score, _ in plan.gates[::-1]
        ],
        "gates_to_come": plan.to_come,
        "run_again": _run_again(plan),
        "lowest_dimension": plan.lowest,
        "unresolved_defects": plan.defects,
        "primary_defect": plan.primary,
        "files_to_read": [
            {"path": path, "sections": sections, "purpose": purpose}
            for path, sections, purpose in plan.files
        ],
        "agents": [{"agent": name, "summary": line} for name, line in plan.agents],
        "agents_not_done": [{"agent": name, "summary": line} for name, line in plan.failed],
        "agents_from_repository": [
            {"agent": name, "summary": line} for name, line in plan.foreign_agents
        ],
        "by": dict.fromkeys(sorted(plan.foreign), "repository"),
        "unacknowledged_compactions": plan.unacknowledged,
        "needs_you": needs_you(plan) or None,
    }


def _run_again(plan: Plan) -> dict[str, object] | None:
    """An iteration whose scores are not all in, or that a compaction cut."""
    if plan.unfinished is None:
        return None
    gate, iteration, scores = plan.unfinished
    return {"gate": gate, "iteration": iteration, "scores": scores}

"""What a trigger has recorded, as people and programs are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.protocols.resumption.rules.quality_gates import verdict_of
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from standfast.journal.tables.document_folds import Document

_WORDS = 100


class Told(NamedTuple):
    """One line, and the same for `--json`."""

    words: str
    facts: dict[str, Any]


def recorded(number: str, before: Document, after: Document) -> Told:
    """What came of a trigger: the number of what was appended, or where the work is now."""
    words, more = _HOW[number](before, after)
    facts = {"file": after.file, "trigger": number, "recorded": True, **more}
    return Told(f"Recorded {words}", {**facts, "recovery_state": after.state})


def _state(number: str) -> Callable[[Document, Document], tuple[str, dict[str, Any]]]:
    def told(_before: Document, after: Document) -> tuple[str, dict[str, Any]]:
        state = after.state
        which = "unknown" if state["current_phase"] is None else state["current_phase"]
        phase = f"phase {which} {state['current_phase_name']}".rstrip()
        return f"{number}: {one_line(phase, _WORDS)}, {state['workflow_status']}", {}

    return told


def _gate(before: Document, after: Document) -> tuple[str, dict[str, Any]]:
    had = before.section["quality_trajectory"]["score_history"]
    now = after.section["quality_trajectory"]["score_history"]
    gate = next(name for name in now if now[name] != had.get(name))
    verdict = verdict_of(now[gate])
    words = f"T3: {one_line(gate, _WORDS)} iteration {len(now[gate])}, "
    words += f"{now[gate][-1]} {verdict.band}"
    if verdict.escalates:
        words += f"; {len(now[gate])} iterations have failed: ask a person before the next"
    facts = {"gate": gate, "iteration": len(now[gate]), "score": now[gate][-1]}
    return words, {**facts, "verdict": verdict.band, "escalates": verdict.escalates}


def _agent(before: Document, after: Document) -> tuple[str, dict[str, Any]]:
    had, now = (each.section["agent_summaries"] for each in (before, after))
    agent = next(name for name in now if name not in had)
    return f"T4: {one_line(agent, _WORDS)}", {"agent": agent, "summary": now[agent]}


def _compaction(before: Document, after: Document) -> tuple[str, dict[str, Any]]:
    had, now = (each.section["compaction_events"]["events"] for each in (before, after))
    if len(now) > len(had):
        return str(now[-1]["id"]), {"id": now[-1]["id"]}
    told = [new["id"] for old, new in zip(had, now, strict=True) if old != new]
    return f"T5: {', '.join(told) or 'nothing was left to be'} acknowledged", {"acknowledged": told}


def _decision(before: Document, after: Document) -> tuple[str, dict[str, Any]]:
    had, now = (each.section["decision_log"] for each in (before, after))
    if len(now) > len(had):
        entry, journalled = now[len(had)], after.decided[len(had)]
        also = f" ({journalled} in the journal)" if journalled != entry["id"] else ""
        return f"{entry['id']}{also}", {"id": entry["id"], "journal_id": journalled}
    applied = [new["id"] for old, new in zip(had, now, strict=True) if old != new]
    words = f"{applied[0]} is applied" if applied else "T6: it was applied already"
    return words, {"applied": applied}


_HOW: Mapping[str, Callable[[Document, Document], tuple[str, dict[str, Any]]]] = {
    "T1": _state("T1"),
    "T2": _state("T2"),
    "T3": _gate,
    "T4": _agent,
    "T5": _compaction,
    "T6": _decision,
    "T7": _state("T7"),
}

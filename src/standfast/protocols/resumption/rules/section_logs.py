"""What a resumption section only ever appends to: decisions, agents' summaries, compactions.

Ids are counted on from the last one; what is past is handed on as it is, but for the one flag of
a decision or a compaction that may become true, and never false again.
"""

from __future__ import annotations

from itertools import count, takewhile
from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import TriggerRefused
from standfast.protocols.resumption.rules.section_schema import (
    COMPACTION,
    DECISION,
    LONGEST_LINE,
    Section,
)
from standfast.protocols.resumption.rules.triggers import Acknowledged, Applied, GateIteration
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.protocols.resumption.rules.triggers import (
        AgentCompletion,
        CompactionEvent,
        CrossPhaseDecision,
        Decision,
    )

_RETRY = "-retry"


def next_iteration(section: Section, gate: str) -> int:
    """The number of a gate's next iteration: counted, so that it is never said wrong."""
    return len(section["quality_trajectory"]["score_history"].get(gate, [])) + 1


def decision_log(
    section: Section, trigger: GateIteration | CrossPhaseDecision, _results: object
) -> list[Section]:
    """Appended; of a past decision only `applied` changes, and only to true."""
    before: list[Section] = section["decision_log"]
    said = trigger.decision_log
    if isinstance(said, Applied):
        if isinstance(trigger, GateIteration):  # its type says so too
            raise TriggerRefused("a decision is applied by T6, not by a gate")
        return _set(before, "applied", (said.id,), "decision")
    if said is None:
        return before
    if isinstance(trigger, GateIteration):
        gate = trigger.quality_trajectory.gate
        said = said._replace(gate=gate, iteration=next_iteration(section, gate))
    return [*before, {"id": next_id(DECISION, before), **_decision(said)}]


def _decision(said: Decision) -> Section:
    return {
        "gate": said.gate,
        "iteration": said.iteration,
        "decision": said.decision,
        "rationale": said.rationale,
        "affects_phases": list(said.affects_phases),
        "applied": said.applied,
    }


def agent_summaries(section: Section, trigger: AgentCompletion, _results: object) -> Section:
    """Appended under the agent's id; a re-run under one of its own, the earlier line untouched."""
    before, said = section["agent_summaries"], trigger.agent_summaries
    return {**before, free_name(before, said.agent_id): summary_line(said.status, said.finding)}


def summary_line(status: str, finding: str) -> str:
    """`{status}. {key finding or output}.` in one line, each with one dot."""
    parts = [one_line(text, LONGEST_LINE // 2).rstrip(". ") for text in (status, finding)]
    if not all(parts):
        raise TriggerRefused("an agent's summary says no status or nothing that it found")
    return ". ".join(parts) + "."


def newest_summary(summaries: Mapping[str, str], agent: str) -> str:
    """What was said last of an agent, through all its re-runs; nothing, if it never ended."""
    known = list(takewhile(summaries.__contains__, _names(agent)))
    return summaries[known[-1]] if known else ""


def free_name(taken: Mapping[str, str], agent: str) -> str:
    """The name that the next run of an agent gets."""
    return next(name for name in _names(agent) if name not in taken)


def gate_to_tell(section: Section, gate: str) -> str:
    """The name of a gate's next iteration: judged again after it passed, it has another."""
    passed = section["quality_trajectory"]["gates_completed"]
    return next(name for name in _names(gate) if name not in passed)


def free_gate(sections: Sequence[Section], names: Sequence[str]) -> str:
    """The first of these names that no gate has been judged under, else the last."""
    told = [each["quality_trajectory"] for each in sections]
    used = {name for each in told for name in (*each["score_history"], *each["gates_completed"])}
    return next((name for name in names if name not in used), names[-1])


def _names(agent: str) -> Iterator[str]:
    """`x`, then `x-retry`, `x-retry2`, `x-retry3`."""
    yield from (agent, f"{agent}{_RETRY}")
    yield from (f"{agent}{_RETRY}{number}" for number in count(2))


def compaction_events(section: Section, trigger: CompactionEvent, _results: object) -> Section:
    """Appended unacknowledged, and counted; acknowledged only once the model was told."""
    before, said = section["compaction_events"], trigger.compaction_events
    events: list[Section] = before["events"]
    if isinstance(said, Acknowledged):
        events = _set(events, "acknowledged", said.ids, "compaction")
    else:
        event = {"id": next_id(COMPACTION, events), **said._asdict(), "acknowledged": False}
        events = [*events, event]
    return {**before, "count": len(events), "events": events}


def _set(entries: list[Section], flag: str, wanted: Sequence[str], what: str) -> list[Section]:
    """The entries with *flag* true where it is wanted; true again is no change."""
    known = {entry["id"] for entry in entries}
    for name in wanted:
        if name not in known:
            raise TriggerRefused(f"there is no {what} `{one_line(name, 40)}`")
    return [{**entry, flag: True} if entry["id"] in wanted else entry for entry in entries]


def next_id(prefix: str, entries: Sequence[Section]) -> str:
    """The id after the last one; there may be gaps before it in a file of others."""
    last = ids.parse_id(entries[-1]["id"])[1] if entries else 0
    return ids.format_id(prefix, last + 1)

"""Whether a resumption section is v2.0: by the published schema, and by what no schema can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from standfast.protocol import ids
from standfast.protocol.json_schema import Fault, Finding, check, line_of
from standfast.protocol.resumption_schema import (
    COMPACTION,
    DECISION,
    SECTION,
    SUB_SECTIONS,
    Section,
)
from standfast.protocol.staleness import seconds
from standfast.protocol.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from standfast.protocol.yaml_text import Path

AT: Path = ("resumption",)
_QUOTE = "Put the time in quotes, like `'2026-01-02T03:04:05Z'`."


def validate(
    value: object,
    lines: Mapping[Path, int] | None = None,
    *,
    plain: Collection[Path] = (),
    at: Path = AT,
) -> list[Finding]:
    """Everything that is wrong with a section, in the order of its lines.

    *lines* and *plain* are those of the document that it stands in, at the path *at*; *plain*
    names what was written without quotes.
    """
    faults = [*check(value, SECTION), *_unquoted(value, plain, at)]
    if not faults:
        faults = [*_beyond(cast("Section", value), SUB_SECTIONS)]
    found = [
        Finding(fault.path, line_of(lines or {}, (*at, *fault.path)), fault.problem, fault.remedy)
        for fault in faults
    ]
    return sorted(found, key=lambda finding: finding.line)


def faults_in(section: Section, names: Iterable[str]) -> Iterator[Fault]:
    """What is wrong with these sub-sections alone: the others were right before and still are."""
    for name in names:
        shape = list(check(section[name], SECTION["properties"][name], (name,)))
        yield from shape or _beyond(section, (name,))


def _unquoted(value: object, plain: Collection[Path], at: Path) -> Iterator[Fault]:
    """Times that stand there without quotes: other readers make a date of them, or worse."""
    for path, time in _times(value):
        if (*at, *path) in plain and isinstance(time, str):
            yield Fault(path, "is a time without quotes, which YAML reads as a date", _QUOTE)


def _times(section: object) -> Iterator[tuple[Path, object]]:
    """Where a section tells a time: one of its state, and one of each compaction."""
    whole = section if isinstance(section, dict) else {}
    state, compactions = whole.get("recovery_state"), whole.get("compaction_events")
    if isinstance(state, dict):
        yield ("recovery_state", "updated_at"), state.get("updated_at")
    events = compactions.get("events") if isinstance(compactions, dict) else None
    for at, event in enumerate(events if isinstance(events, list) else ()):
        if isinstance(event, dict):
            yield ("compaction_events", "events", at, "timestamp"), event.get("timestamp")


def _beyond(section: Section, names: Iterable[str]) -> Iterator[Fault]:
    """The rules over several fields of what has the right shape."""
    for name in names:
        for path, time in _times({name: section[name]}):
            if seconds(time) is None:
                yield Fault(path, f"is `{time}`, which is no day or time that there is", _QUOTE)
        if name in _RULES:
            yield from _RULES[name](section[name])


def _decisions(entries: list[Section]) -> Iterator[Fault]:
    return _sequence(entries, DECISION, ("decision_log",))


def _sequence(entries: list[Section], prefix: str, path: Path) -> Iterator[Fault]:
    for at, entry in enumerate(entries):
        expected = ids.format_id(prefix, at + 1)
        if entry["id"] != expected:
            problem = f"is `{entry['id']}` where `{expected}` is next"
            yield Fault((*path, at, "id"), problem, "Ids follow one another from 001.")


def _compactions(compactions: Section) -> Iterator[Fault]:
    path = ("compaction_events",)
    count, events = compactions["count"], compactions["events"]
    yield from _sequence(events, COMPACTION, (*path, "events"))
    if count != len(events):
        problem = f"is {count} and there are {len(events)} events"
        yield Fault((*path, "count"), problem, f"Write {len(events)}.")


def _gates(trajectory: Section) -> Iterator[Fault]:
    path = ("quality_trajectory",)
    completed, remaining = trajectory["gates_completed"], trajectory["gates_remaining"]
    seen: set[str] = set()
    for key, names in (("gates_completed", completed), ("gates_remaining", remaining)):
        for at, name in enumerate(names):
            if name in seen:
                problem = f"names `{one_line(name, 60)}` again"
                yield Fault((*path, key, at), problem, "Name each gate once.")
            seen.add(name)
    if (trajectory["current_gate"] is None) != (trajectory["current_gate_iteration"] is None):
        yield Fault(
            (*path, "current_gate_iteration"),
            "and `current_gate` are not null together",
            "Between gates both are null.",
        )


def _summaries(summaries: dict[str, str]) -> Iterator[Fault]:
    for agent, line in summaries.items():
        path = ("agent_summaries", agent)
        if not agent.strip() or printable(agent + line) != agent + line:
            yield Fault(path, "holds what cannot be seen", "Write names and lines that can be.")
        elif ". " not in line or not line.endswith("."):
            problem = "is not of the form `{status}. {key finding or output}.`"
            yield Fault(path, problem, "End status and finding with a dot.")


_RULES: Mapping[str, Callable[[Any], Iterator[Fault]]] = {
    "decision_log": _decisions,
    "compaction_events": _compactions,
    "quality_trajectory": _gates,
    "agent_summaries": _summaries,
}

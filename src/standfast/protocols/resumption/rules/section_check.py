"""Whether a resumption section is v2.0: by the published schema, and by what no schema can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from standfast import ids
from standfast.formats.json_schema import Fault, Finding, check, line_of
from standfast.protocols.resumption.rules.section_schema import (
    COMPACTION,
    DECISION,
    SECTION,
    SUB_SECTIONS,
    V1_FIELDS,
    Section,
)
from standfast.protocols.resumption.rules.staleness import seconds
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from standfast.formats.yaml_text import Path

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
    faults = [*check(value, SECTION), *_of_v1(value), *_unquoted(value, plain, at)]
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


def _of_v1(value: object) -> Iterator[Fault]:
    """Fields that have another place in v2.0: any other key is the project's own."""
    for name in value if isinstance(value, dict) else ():
        if name in V1_FIELDS and name not in SUB_SECTIONS:
            yield Fault((name,), "is a field of v1.0", "Bring the section to v2.0.")


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
    """Each id once. Ours have no gaps; where a file has one, other files name what is behind it."""
    highest = 0
    for at, entry in enumerate(entries):
        number = ids.parse_id(entry["id"])[1]
        if number <= highest:
            expected = ids.format_id(prefix, highest + 1)
            problem = f"is `{entry['id']}` where `{expected}` is next"
            yield Fault((*path, at, "id"), problem, "Each id is above those before it.")
        highest = max(highest, number)


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
    if trajectory["current_gate"] is None and trajectory["current_gate_iteration"] is not None:
        problem = "is the iteration of no gate: `current_gate` is null"
        remedy = "Name the gate, or write null: between gates both are null."
        yield Fault((*path, "current_gate_iteration"), problem, remedy)


def _summaries(summaries: dict[str, str]) -> Iterator[Fault]:
    for agent, line in summaries.items():
        path = ("agent_summaries", agent)
        if not agent.strip() or printable(agent + line) != agent + line:
            yield Fault(path, "holds what cannot be seen", "Write names and lines that can be.")


_RULES: Mapping[str, Callable[[Any], Iterator[Fault]]] = {
    "decision_log": _decisions,
    "compaction_events": _compactions,
    "quality_trajectory": _gates,
    "agent_summaries": _summaries,
}

"""A resumption section as single records, and an edit of some of them judged one by one. Pure.

Of an edit each record counts for itself: a slip in one costs the others nothing. What was added
to a log while we added to it too is appended under the next free id, as if it had come after.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.protocol.json_schema import Fault
from standfast.protocol.resumption_edits import adopt
from standfast.protocol.resumption_logs import free_name, next_id
from standfast.protocol.resumption_schema import DECISION, SUB_SECTIONS, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LATEST = ("checkpoints", "latest_id")  # beside the section, and what it must agree with
LOGS = ("decision_log", "agent_summaries", "compaction_events")
_WHOLE = "files_to_read"
_MEANWHILE = "was edited here while it changed in the journal; what the journal says was kept"
_REMEDY = "Say it again with `standfast resumption trigger`, if it still holds."

Path = tuple[str, ...]  # the sub-section, and the field or entry in it


class Woven(NamedTuple):
    """The section after an edit, the decisions that are new in it, and what is not in it."""

    section: Section
    decisions: tuple[Section, ...] = ()
    left: tuple[Fault, ...] = ()


def records(section: Section) -> Iterator[tuple[Path, Any]]:
    """Every field and every entry of a log, by its path."""
    for name, value in section.items():
        if name == _WHOLE or name not in SUB_SECTIONS:  # the project's own are taken whole
            yield (name,), value
        elif name == "decision_log":
            yield from (((name, entry["id"]), entry) for entry in value)
        elif name == "compaction_events":
            yield from (((name, event["id"]), event) for event in value["events"])
        else:
            yield from (((name, field), each) for field, each in value.items())


def weave(
    ours: Section,
    changed: Iterable[tuple[Path, Any]],
    added: Iterable[tuple[Path, Any]],
    *,
    from_git: bool = False,
) -> Woven:
    """Ours with what an edit changed and added, as far as the rules allow.

    *changed* is what only they touched. *added* is what we did not have, or touched as well: of
    the latter only logs have room for both. What git brought only adds to logs: another branch's
    state is not ours.
    """
    section, left = ours, list[Fault]()
    for path, value in changed:
        section, faults = adopt(section, _with(section, path, value))
        left += (fault._replace(path=path) for fault in faults)
    for path, value in added:
        section, faults = _append(section, path, value, from_git=from_git)
        left += (fault._replace(path=path) for fault in faults)
    new = section["decision_log"][len(ours["decision_log"]) :]
    return Woven(section, tuple(new), tuple(left))


def _with(section: Section, path: Path, value: Any) -> Section:  # noqa: ANN401  # a record's value
    """The section with one record in its place."""
    name, *rest = path
    edited = copy.deepcopy(section)
    if not rest:
        edited[name] = value
    elif name == "decision_log":
        _put(edited[name], rest[0], value)
    elif name == "compaction_events":
        _put(edited[name]["events"], rest[0], value)
        edited[name]["count"] = len(edited[name]["events"])
    else:
        edited[name][rest[0]] = value
    return edited


def _put(entries: list[Section], name: str, value: Section) -> None:
    for at, entry in enumerate(entries):
        if entry["id"] == name:
            entries[at] = value
            return
    entries.append(value)


def _append(
    section: Section,
    path: Path,
    value: Any,  # noqa: ANN401  # a record's value
    *,
    from_git: bool,
) -> tuple[Section, tuple[Fault, ...]]:
    name, key = path[0], path[-1]
    if name == "decision_log":
        return adopt(section, _with_decision(section, value))
    if name == "agent_summaries":
        return adopt(section, _with_summary(section, key, value))
    if from_git:
        return section, ()
    if name in LOGS or dict(records(section)).get(path, value) != value:
        problem = _MEANWHILE if name not in LOGS else "may only be written by compactions"
        return section, (Fault(path, problem, _REMEDY),)
    return adopt(section, _with(section, path, value))


def _with_decision(section: Section, entry: Section) -> Section:
    """The next decision, unless its words are there already under whatever id."""
    known = [(each["decision"], each["rationale"]) for each in section["decision_log"]]
    if (entry["decision"], entry["rationale"]) in known:
        return section
    number = next_id(DECISION, section["decision_log"])
    return {**section, "decision_log": [*section["decision_log"], {**entry, "id": number}]}


def _with_summary(section: Section, agent: str, line: str) -> Section:
    """An agent's line; another one of the same agent is that of a re-run."""
    before: Mapping[str, str] = section["agent_summaries"]
    if line in (each for name, each in before.items() if name.startswith(agent)):
        return section
    return {**section, "agent_summaries": {**before, free_name(before, agent): line}}

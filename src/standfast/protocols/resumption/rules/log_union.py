"""The logs of two sections united: decisions, agents' summaries, compactions. Pure.

An entry is known by its words, never by its number: two clones give the same number to different
words. The newer section's list comes first; what only the other one has follows under the next
free ids, each with the id that it had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import ids
from standfast.protocols.resumption.rules.section_logs import free_name
from standfast.protocols.resumption.rules.section_schema import COMPACTION, DECISION, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from standfast.protocols.resumption.rules.section_units import Path

LOG, AGENTS, EVENTS = "decision_log", "agent_summaries", "compaction_events"
WAS = "was"  # the id that an entry had in the list that it came from
_KEPT = "Edit it back, or say it with `standfast resumption`; ours was kept."


class Kept(NamedTuple):
    """What is in the section no more, or not: where, what, and why."""

    path: Path
    value: Any
    why: str
    remedy: str
    is_ours: bool = False


class Logs(NamedTuple):
    """The three logs; for each decision where it stood in ours, None if it is new here."""

    section: Section
    places: tuple[int | None, ...]
    taken: tuple[Path, ...] = ()
    kept: tuple[Kept, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()  # decisions that have another id than in their list


def unite(
    ours: Section, theirs: Section, counts: tuple[int, int, int] | None, *, theirs_first: bool
) -> Logs:
    """The logs of both; *counts* are those of the state of ours that theirs is an edit of."""
    first = theirs_first and counts is None
    decided, refused = _decisions(ours, theirs, counts)
    log, places, renamed = _log(ours[LOG], decided, first=first)
    agents, not_so = _agents(ours[AGENTS], theirs[AGENTS], counts, first=first)
    events, never = _events(ours[EVENTS]["events"], theirs[EVENTS]["events"], counts, first=first)
    new = {AGENTS: agents, EVENTS: {"count": len(events), "events": events}}
    had = {_happened(event) for event in ours[EVENTS]["events"]}
    taken: list[Path] = [
        (LOG, entry["id"]) for entry, at in zip(log, places, strict=True) if at is None
    ]
    taken += [(AGENTS, name) for name in agents if not _had(ours[AGENTS], name, agents[name])]
    taken += [(EVENTS, event["id"]) for event in events if _happened(event) not in had]
    return Logs({LOG: log, **new}, places, tuple(taken), (*refused, *not_so, *never), renamed)


# Decisions.


def _said(entry: Section) -> Hashable:
    return (entry["decision"], entry["rationale"])


def _decisions(
    ours: Section, theirs: Section, counts: tuple[int, int, int] | None
) -> tuple[list[Section], list[Kept]]:
    """Theirs without what rewrites the past: an edit of ours may only add, and apply."""
    if counts is None:
        return theirs[LOG], []
    known = {_said(entry) for entry in ours[LOG]}
    past = {entry["id"]: entry for entry in ours[LOG][: counts[0]]}
    found, kept = list[Section](), list[Kept]()
    for entry in theirs[LOG]:
        before = past.get(entry["id"])
        if before is not None and _said(entry) not in known:
            why = f"changes {entry['id']}, of which only `applied` may change"
            kept.append(Kept((LOG, entry["id"]), entry, why, _KEPT))
        else:
            found.append(entry)
            if before is not None and _said(before) == _said(entry):
                kept += _unapplied(before, entry)
    return found, kept


def _unapplied(before: Section, entry: Section) -> Iterator[Kept]:
    if before.get("applied", False) and not entry.get("applied", False):
        why = f"takes back that {entry['id']} was applied"
        yield Kept((LOG, entry["id"]), entry, why, _KEPT)


def _log(
    ours: Sequence[Section], theirs: Sequence[Section], *, first: bool
) -> tuple[list[Section], tuple[int | None, ...], tuple[tuple[str, str], ...]]:
    """One list of both: which entries, where each stood in ours, and what has another id now."""
    mine, other = _numbered(ours, _said), _numbered(theirs, _said)
    lead, follow = (other, mine) if first else (mine, other)
    log, renamed = list[Section](), list[tuple[str, str]]()
    keys = [*lead, *(key for key in follow if key not in lead)]
    for key in keys:
        entry = {**(lead.get(key) or follow[key])}
        if any(side[key].get("applied", False) for side in (mine, other) if key in side):
            entry["applied"] = True
        number = ids.format_id(DECISION, len(log) + 1)
        if entry["id"] != number:
            renamed.append((entry["id"], number))
            entry = {**entry, "id": number, WAS: entry.get(WAS, entry["id"])}
        log.append(entry)
    places = {key: at for at, key in enumerate(mine)}
    return log, tuple(places.get(key) for key in keys), tuple(renamed)


def _numbered(
    entries: Sequence[Section], said: Callable[[Section], Hashable]
) -> dict[Hashable, Section]:
    """Each entry by its words, and by which one of several with the same words it is."""
    times = Counter[Hashable]()
    found: dict[Hashable, Section] = {}
    for entry in entries:
        words = said(entry)
        times[words] += 1
        found[words, times[words]] = entry
    return found


# Summaries of agents.


def _agents(
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    counts: tuple[int, int, int] | None,
    *,
    first: bool,
) -> tuple[dict[str, str], list[Kept]]:
    """Another line of the same agent is that of a re-run; what has completed is never changed."""
    past = list(ours)[: counts[1]] if counts is not None else []
    lead, follow = (theirs, ours) if first else (ours, theirs)
    united, kept = dict(lead), list[Kept]()
    for agent, line in follow.items():
        if any(line == said for name, said in united.items() if name.startswith(agent)):
            continue
        if agent in past:
            why = "changes or takes away the summary of an agent that has completed"
            kept.append(Kept((AGENTS, agent), line, why, _KEPT))
        else:
            united[free_name(united, agent)] = line
    return united, kept


def _had(ours: Mapping[str, str], name: str, line: str) -> bool:
    """Whether a line was ours, of this agent or of the one whose re-run it is named as."""
    return any(line == said for agent, said in ours.items() if name.startswith(agent))


# Compactions.


def _happened(event: Section) -> Hashable:
    return tuple(sorted((k, str(v)) for k, v in event.items() if k not in {"id", "acknowledged"}))


def _events(
    ours: Sequence[Section],
    theirs: Sequence[Section],
    counts: tuple[int, int, int] | None,
    *,
    first: bool,
) -> tuple[list[Section], list[Kept]]:
    """United, told as soon as one side was told; by hand nothing of it may be written."""
    if counts is not None:
        return list(ours), list(_by_hand(ours, theirs))
    mine, other = _numbered(ours, _happened), _numbered(theirs, _happened)
    lead, follow = (other, mine) if first else (mine, other)
    found = list[Section]()
    for key in [*lead, *(key for key in follow if key not in lead)]:
        event = {**(lead.get(key) or follow[key])}
        if any(side[key].get("acknowledged", False) for side in (mine, other) if key in side):
            event["acknowledged"] = True
        found.append({**event, "id": ids.format_id(COMPACTION, len(found) + 1)})
    return found, []


def _by_hand(ours: Sequence[Section], theirs: Sequence[Section]) -> Iterator[Kept]:
    had = {_happened(event): event for event in ours}
    for event in theirs:
        before = had.get(_happened(event))
        is_told = before is not None and event.get("acknowledged", False) <= before.get(
            "acknowledged", False
        )
        if not is_told:
            why = "changes what only compactions and their delivery change"
            yield Kept((EVENTS, event["id"]), event, why, _KEPT)

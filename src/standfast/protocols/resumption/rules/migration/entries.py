"""Decisions, agents, compactions and files of a section that is nearly v2.0. Pure.

Keys of the project's own stay in each entry. An id that cannot stay is told in it as `was`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from standfast import ids
from standfast.formats.json_schema import check
from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.migration import decision_fields
from standfast.protocols.resumption.rules.plain_values import spoken
from standfast.protocols.resumption.rules.section_schema import COMPACTION, DECISION, SECTION
from standfast.text import is_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.formats.json_schema import Schema
    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.migration.migration_notes import Notes
    from standfast.protocols.resumption.rules.section_schema import Section

LOG, AGENTS, COMPACTIONS, FILES = (
    *("decision_log", "agent_summaries", "compaction_events"),
    "files_to_read",
)
_ENTRY: Schema = SECTION["properties"][LOG]["items"]["properties"]
_NUMBER = re.compile(r"(\d{1,9})\D{0,3}$", re.ASCII)
_DECISION = ("decision", "what", "description", "text", "title", "summary", "choice")
_RATIONALE = ("rationale", "reason", "why", "because", "reasoning")
_PATH = ("path", "file", "filename", "name")
_PURPOSE = ("purpose", "reason", "why", "description", "note")
_IS_PATH = re.compile(r"\S*[./]\S*")
_KNOWN = {*_PATH, *_PURPOSE, "priority", "sections"}
_AT = ("timestamp", "at", "time", "date", "when", "occurred_at")
_FILL = ("estimated_fill_before", "fill_before", "estimated_fill", "context_fill", "fill")


def decision_log(value: object, notes: Notes) -> list[Section]:
    """Every decision with its words, under an id that no other has."""
    found = [_decision(key, each, (LOG, at), notes) for at, key, each in _listed(value)]
    made = [each for each in found if each is not None]
    return _numbered(made, DECISION, (LOG,), notes)


def _listed(value: object) -> Iterator[tuple[int | str, str, Any]]:
    """The entries of a log, whether it is a list or a mapping by ids: place, id, what is said."""
    if isinstance(value, dict):
        yield from ((key, key, each) for key, each in value.items())
    for at, each in enumerate(value if isinstance(value, list) else ()):
        is_pair = isinstance(each, dict) and len(each) == 1
        key = next(iter(each)) if is_pair else ""
        if is_pair and _NUMBER.search(key) and key not in _DECISION:
            yield at, key, each[key]
        else:
            yield at, "", each
    if isinstance(value, str):
        yield 0, "", value


def _decision(key: str, said: object, path: Path, notes: Notes) -> Section | None:
    entry: Section = {**said} if isinstance(said, dict) else {"decision": spoken(said)}
    words = plain_values.named(entry, *_DECISION)
    if words is None:
        if said not in (None, "", {}):
            notes.removed(path, said)
        return None
    found: Section = {"id": entry.get("id", key or None)}
    used = next(name for name in _DECISION if entry.get(name) == words)
    why = plain_values.named(entry, *_RATIONALE)
    gave = next((name for name in _RATIONALE if why is not None and entry.get(name) == why), "")
    rest = {name: each for name, each in entry.items() if name not in ("id", used, gave)}
    found["decision"] = words if isinstance(words, str) else spoken(words)
    found["rationale"] = why if isinstance(why, str) else spoken(why)
    for name in sorted({used, gave} - {"", "decision", "rationale"}):
        notes.moved((*path, name), "rationale" if name == gave else "decision")
    return {**found, **_optional(rest, path, notes)}


def _optional(rest: Section, path: Path, notes: Notes) -> Section:
    """What the protocol knows of a decision too, as it has it; the rest is the project's own."""
    rest = decision_fields.by_their_names(rest, path, notes)
    rest = decision_fields.with_all(rest, path, notes)
    found = {**rest}
    for name in _READERS:
        if name not in rest or not [*check(rest[name], _ENTRY[name])]:
            continue
        read = _READERS[name](rest[name])
        if read is None or [*check(read, _ENTRY[name])]:
            notes.removed((*path, name), rest[name])
            found.pop(name)
        else:
            notes.read((*path, name), rest[name], read)
            found[name] = read
    if "applied" not in found and plain_values.flag(rest.get("status")) is True:
        found["applied"] = True
        notes.assumed((*path, "status"), "says that it is applied")
    return found


_READERS: Mapping[str, Any] = {
    "gate": spoken,
    "iteration": plain_values.number,
    decision_fields.PHASES: decision_fields.phases,
    "applied": plain_values.flag,
    "was": spoken,
}


def _numbered(entries: list[Section], prefix: str, path: Path, notes: Notes) -> list[Section]:
    """Ids in their form, each above those before it.

    An entry keeps its number where it can, for other files name it; the others come behind.
    """
    taken = _places(entries, prefix)
    order = sorted(taken)
    if [taken[number] for number in order] != list(range(len(entries))):
        notes.assumed(path, "was not in the order of its ids: it is now")
    found = []
    for number in order:
        entry, at = entries[taken[number]], taken[number]
        made = {**entry, "id": ids.format_id(prefix, number)}
        if entry["id"] is None:
            notes.assumed((*path, at), f"had no id: it is {made['id']}")
        elif entry["id"] != made["id"]:
            notes.read((*path, at, "id"), entry["id"], made["id"])
            made["was"] = made.get("was") or spoken(entry["id"])
        found.append(made)
    return found


def _places(entries: list[Section], prefix: str) -> dict[int, int]:
    """Which entry has which number: an id in our form yields to none in another's."""
    numbers = [_number(entry["id"]) for entry in entries]
    ours = (
        at for at, number in enumerate(numbers)
        if number and entries[at]["id"] == ids.format_id(prefix, number)
    )  # fmt: skip
    taken: dict[int, int] = {}
    for at in dict.fromkeys((*ours, *range(len(entries)))):
        number = numbers[at]
        if number and number not in taken:
            taken[number] = at
    placed = {*taken.values()}
    last = max(taken, default=0)
    behind = (at for at in range(len(entries)) if at not in placed)
    return taken | dict(enumerate(behind, last + 1))


def _number(name: object) -> int | None:
    """The number in an id; one of another kind than a log's counts too."""
    found = _NUMBER.search(spoken(name)[:100])
    number = int(found[1]) if found and not isinstance(name, bool) else None
    return number if number and number < 10 ** (ids.LONGEST_NUMBER - 1) else None


def agent_summaries(value: object, notes: Notes) -> Section:
    """One line for each agent, in its own words."""
    found: dict[str, str] = {}
    for place, agent, said in _agents(value):
        line, name = _line(said), spoken(agent) or "agent"
        if not line:
            notes.removed((AGENTS, place), said)
            continue
        while name in found:
            name += "-again"
        found[name] = line
        if line != said or name != agent:
            notes.read((AGENTS, place), said, f"{name}: {line}")
    return found


def _agents(value: object) -> Iterator[tuple[str | int, str, Any]]:
    if isinstance(value, dict):
        yield from ((key, key, each) for key, each in value.items())
    for at, each in enumerate(value if isinstance(value, list) else ()):
        if isinstance(each, dict) and len(each) == 1:
            yield from ((at, key, said) for key, said in each.items())
        elif isinstance(each, dict):
            name = next((key for key in ("agent_id", "agent", "id", "name") if each.get(key)), "")
            yield at, spoken(each.get(name)), {key: each[key] for key in each if key != name}
        else:
            head, colon, words = spoken(each).partition(": ")
            yield (at, head, words) if colon and " " not in head else (at, "", each)
    if isinstance(value, str):
        yield 0, "", value


def _line(said: object) -> str:
    """`{status}. {finding}.` where both are said apart; else the words, in one line."""
    if not isinstance(said, dict):
        text = said if isinstance(said, str) else spoken(said)
        return text if not any(map(is_hidden, text)) and "\n" not in text else spoken(text)
    status = plain_values.named(said, "status", "result", "verdict")
    rest = {key: each for key, each in said.items() if each is not status}
    only = len(rest) == 1 and next(iter(rest)) in {"finding", "summary", "output", "key_finding"}
    words = [spoken(status), spoken(next(iter(rest.values())) if only else rest)]
    return " ".join(f"{each.rstrip('. ')}." for each in words if each.strip(". "))


def compaction_events(value: object, updated_at: str, notes: Notes) -> Section:
    """Every compaction with its time; how many there were is counted."""
    whole = value if isinstance(value, dict) else {}
    events = value if isinstance(value, list) else whole.get("events", whole.get("history"))
    for path, said in (((COMPACTIONS,), value), ((COMPACTIONS, "events"), events)):
        if not (plain_values.is_none(said) or isinstance(said, (list, dict))):
            notes.removed(path, said)
    own = {key: each for key, each in whole.items() if key not in ("count", "events", "history")}
    found = [
        _compaction(each, (COMPACTIONS, "events", at), updated_at, notes)
        for at, each in enumerate(events if isinstance(events, list) else ())
        if each not in (None, "", {})
    ]
    made = _numbered(found, COMPACTION, (COMPACTIONS, "events"), notes)
    count = whole.get("count", len(made))
    if count != len(made) or isinstance(count, bool):
        notes.read((COMPACTIONS, "count"), count, len(made), "as many as are told of")
    return {"count": len(made), "events": made, **own}


def _compaction(said: object, path: Path, updated_at: str, notes: Notes) -> Section:
    entry: Section = {**said} if isinstance(said, dict) else {"said": spoken(said)}
    told = plain_values.named(entry, *_AT)
    at = plain_values.time(told if told is not None else entry.get("said"))
    if at is None:
        notes.assumed(path, f"has no time: taken as {updated_at}")
        if told is not None:
            notes.removed((*path, "timestamp"), told)
    elif told != at:
        notes.read((*path, "timestamp"), told or said, at)
    fill = plain_values.named(entry, *_FILL)
    share = plain_values.share(fill)
    if fill is not None and share is None:
        notes.removed((*path, "estimated_fill_before"), fill)
    elif share is not None and share != fill:
        notes.read((*path, "estimated_fill_before"), fill, share)
    used = {key for key in (*_AT, *_FILL) if key in entry and entry[key] in (told, fill)}
    used |= {"id", "timestamp", "trigger", "estimated_fill_before"}
    rest = {key: each for key, each in entry.items() if key not in used}
    return {
        "id": entry.get("id"),
        "timestamp": at or updated_at,
        "trigger": _cause(entry, path, notes),
        "estimated_fill_before": share,
        **_active(rest, path, notes),
    }


def _cause(entry: Section, path: Path, notes: Notes) -> str:
    said = plain_values.named(entry, "trigger", "type", "reason", "said")
    words = spoken(said).lower()
    cause = "manual" if re.search(r"manual|user|operator|/compact", words) else "auto"
    if said != cause:
        notes.read((*path, "trigger"), said, cause)
    return cause


def _active(rest: Section, path: Path, notes: Notes) -> Section:
    shapes = SECTION["properties"][COMPACTIONS]["properties"]["events"]["items"]["properties"]
    readers = {
        "active_phase": lambda value: plain_values.phase(value).number,
        "active_gate": spoken,
        "active_gate_iteration": plain_values.number,
        "checkpoint_file": spoken,
        "acknowledged": plain_values.flag,
    }
    found = {**rest}
    for name, reader in readers.items():
        if name in rest and [*check(rest[name], shapes[name])]:
            read = reader(rest[name])
            if read is None or [*check(read, shapes[name])]:
                notes.removed((*path, name), rest[name])
                found.pop(name)
            else:
                notes.read((*path, name), rest[name], read)
                found[name] = read
    return found


def files_to_read(value: object, file: str, notes: Notes) -> list[Any]:
    """Bare paths and structured entries, in their order; a section that names none names *file*."""
    listed = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    if isinstance(value, str) and len(several := _paths(value)) > 1:
        notes.read((FILES,), value, several)
        listed = several
    if isinstance(value, dict):
        listed = [{"path": path, "purpose": why} for path, why in value.items()]
    found = [_file(each, at, notes) for at, each in enumerate(listed)]
    kept = [each for each in found if each is not None]
    if not kept:
        notes.assumed((FILES,), f"named nothing that can be read: `{file}` was added")
    return kept or [file]


def _paths(said: str) -> list[str]:
    """Paths in one text, where it is nothing else: `a.md, docs/b.md`."""
    parts = [each.strip() for each in re.split(r"[,;\n]", said) if each.strip()]
    return parts if all(map(is_path, parts)) else []


def is_path(said: str) -> bool:
    """Whether a text is one path, and nothing else."""
    return _IS_PATH.fullmatch(said.strip()) is not None


def _file(said: object, at: int, notes: Notes) -> Any:  # noqa: ANN401  # text or a mapping
    path: Path = (FILES, at)
    if not [*check(said, SECTION["properties"][FILES]["items"])]:
        return said
    entry: Section = {**said} if isinstance(said, dict) else {}
    if len(entry) == 1 and not {*entry} & _KNOWN:  # `- PLAN.md: the plan`
        ((where, why),) = entry.items()
        entry = {"path": where, "purpose": why}
    named = plain_values.named(entry, *_PATH)
    if not isinstance(named, str) or not named.strip():
        notes.removed(path, said)
        return None
    purpose = plain_values.named(entry, *_PURPOSE)
    priority = plain_values.number(entry.get("priority")) or _in_words(entry.get("priority"), at)
    used = {key for key in (*_PATH, *_PURPOSE) if key in entry and entry[key] in (named, purpose)}
    rest = {key: each for key, each in entry.items() if key not in {*used, "priority"}}
    if "sections" in rest:
        rest["sections"] = _texts(rest["sections"])
    made = {"path": named, "priority": priority, "purpose": spoken(purpose), **rest}
    notes.read(path, said, made)
    return made


def _in_words(value: object, at: int) -> int:
    words = {"critical": 1, "high": 1, "must": 1, "medium": 2, "normal": 2, "low": 3}
    found = re.search(r"\d", spoken(value))
    return words.get(spoken(value).lower()) or (int(found[0]) if found else 0) or at + 1


def _texts(value: object) -> list[str]:
    listed = value if isinstance(value, list) else spoken(value).split(",")
    return [spoken(each) for each in listed if spoken(each)]

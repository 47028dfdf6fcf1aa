"""The `recovery_state` of a section, as a person reads it in v1.0 or in what is nearly v2.0. Pure.

A field that says nothing is told by what stands around the section, else by prose; what nobody says
is unknown, and never made up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.formats.json_schema import check
from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.migration.phase_prose import name_in, phase_in
from standfast.protocols.resumption.rules.migration.status_prose import COMPLETE, status_in
from standfast.protocols.resumption.rules.plain_values import spoken
from standfast.protocols.resumption.rules.section_schema import SECTION
from standfast.protocols.resumption.rules.staleness import UNKNOWN, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from standfast.formats.json_schema import Schema
    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.migration.migration_notes import Notes
    from standfast.protocols.resumption.rules.migration.section_migration import Around
    from standfast.protocols.resumption.rules.section_schema import Section

STATE, PROSE = "recovery_state", "current_state"
# Each field, and what it is called elsewhere: the first of these that can be read is it.
CALLED: Mapping[str, tuple[str, ...]] = {
    "last_checkpoint": ("latest_checkpoint", "checkpoint_id", "checkpoint"),
    "current_phase": ("phase", "phase_number"),
    "current_phase_name": ("phase_name",),
    "workflow_status": ("status", "state"),
    "current_activity": (PROSE, "activity"),
    "next_step": ("next_action", "next_steps", "next_actions", "next"),
    "context_fill_at_update": ("context_fill", "context_usage"),
    "updated_at": ("last_updated", "last_updated_at", "updated", "timestamp", "date"),
}
# What a field says that nobody wrote: work that is over has another phase than its words name.
_FIRST_STATUS = ("workflow_status", *(name for name in CALLED if name != "workflow_status"))
OPTIONAL = ("cross_session_portable", "ephemeral_references")
_FIELDS: Schema = SECTION["properties"][STATE]["properties"]
_EMPTY: tuple[object, ...] = (None, "", [], {})
_ALL_PHASES = re.compile(r"\b(?:all|every)\b(?: \w{1,12}){0,2} phases?\b", re.IGNORECASE)
_LONGEST = 20_000  # characters of prose that are looked at


class _Source(NamedTuple):
    """Where fields of the state stand: in it, beside it as in v1.0, or in a `current_state`."""

    at: Path
    value: Mapping[str, Any]


class _Told(NamedTuple):
    """What a field says, and where it does."""

    path: Path
    value: Any  # as it stands there
    read: Any


def recovery_state(
    whole: Mapping[str, Any], around: Around, notes: Notes
) -> tuple[Section, set[str]]:
    """The state of a section, and which of the section's own keys went into it."""
    sources = _sources(whole)
    if not isinstance(whole.get(STATE, {}), (dict, str, list, type(None))):
        notes.removed((STATE,), whole[STATE])
    own = dict(sources[0].value)
    told = {name: _told(name, sources) for name in CALLED}
    made: Section = {name: _taken(name, each, notes) for name, each in told.items()}
    said = (own.get(key) or whole.get(key) for key in ("current_activity", PROSE))
    prose = "\n".join(filter(None, map(_prose, said)))
    for name in _FIRST_STATUS:
        each = told[name]
        if made[name] is None and (each is None or each.read is not each.value):
            made[name] = _unsaid(name, made, prose, around, notes)
    _agree(made, told["current_phase"], prose, notes)
    made |= _optional(sources, notes)
    used = {each.path for each in told.values() if each is not None}
    kept = {key: each for key, each in own.items() if (STATE, key) not in used}
    return _in_order(own, made, kept), {str(path[0]) for path in used if path[0] != STATE}


def _prose(said: object) -> str:
    return said.strip() if isinstance(said, str) else spoken(said)


def _sources(whole: Mapping[str, Any]) -> list[_Source]:
    """A state in whole sentences is what v1.0 has beside it."""
    state, prose = whole.get(STATE), whole.get(PROSE)
    said = {PROSE: state} if isinstance(state, (str, list)) else {}
    return [
        _Source((STATE,), state if isinstance(state, dict) else said),
        _Source((), {key: each for key, each in whole.items() if key != STATE}),
        _Source((PROSE,), prose if isinstance(prose, dict) else {}),
    ]


def _told(name: str, sources: list[_Source]) -> _Told | None:
    """Where a field is said; by its own name also where it cannot be read.

    One that is right stays, an empty one too: it may have been left so.
    """
    own = sources[0].value
    if name in own and _is_good(name, own[name]):
        return _Told((STATE, name), own[name], own[name])
    for source in sources:
        for key in (name, *CALLED[name]):
            value = source.value.get(key)
            value = value.strip() if isinstance(value, str) else value
            if value in _EMPTY:
                continue
            read = value if _is_good(name, value) else _READERS[name](value)
            if read is not None or key == name:
                return _Told((*source.at, key), value, read)
    return None


def _is_good(name: str, value: object) -> bool:
    if name == "updated_at" and seconds(value) is None:
        return False
    return not [*check(value, _FIELDS[name])]


def _taken(name: str, told: _Told | None, notes: Notes) -> Any:  # noqa: ANN401  # by its schema
    if told is None:
        return None
    if name == "current_phase" and told.read is None and isinstance(told.value, str):
        notes.read(told.path, told.value, "unknown")  # its words are the phase's name
        return None
    if told.read is None and plain_values.is_none(told.value):
        return None
    if not _is_good(name, told.read) or (told.read is None and told.value is not None):
        notes.removed(told.path, told.value)
        return None
    if told.path != (STATE, name):
        notes.moved(told.path, f"{STATE}.{name}")
    if not (told.read == told.value and type(told.read) is type(told.value)):
        notes.read(told.path, told.value, told.read)
    return told.read


def _checkpoint(value: object) -> str | None:
    if isinstance(value, list):
        return _checkpoint(value[-1]) if value else None
    named = plain_values.named(value, "id", "name", "label") if isinstance(value, dict) else None
    return spoken(value if named is None else named) or None


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "last_checkpoint": _checkpoint,
    "current_phase": lambda value: plain_values.phase(value).number,
    "current_phase_name": spoken,
    "workflow_status": plain_values.status,
    "current_activity": spoken,
    "next_step": spoken,
    "context_fill_at_update": plain_values.share,
    "updated_at": plain_values.time,
}


def _unsaid(name: str, made: Section, prose: str, around: Around, notes: Notes) -> Any:  # noqa: ANN401
    """What a field is that nobody says in it."""
    path = (STATE, name)
    if name == "updated_at":
        notes.unsaid(path, _time_words(around))
        return around.updated_at
    if name == "workflow_status":
        status = _status(made, prose, around)
        notes.unsaid(path, f"taken as {status}")
        return status
    if name == "current_phase":
        words = phase_in(prose, is_over=made["workflow_status"] == COMPLETE)
        number = around.current_phase or words  # a 0 is often what nobody counted
        number = around.current_phase if number is None else number
        notes.unsaid(path, "unknown" if number is None else f"taken as {number}")
        return number
    if name == "current_phase_name":
        is_same = made["current_phase"] == around.current_phase
        return around.current_phase_name if is_same else ""  # else see _agree
    unsaid = {"last_checkpoint": around.last_checkpoint, "context_fill_at_update": None}
    return unsaid.get(name, "")


def _time_words(around: Around) -> str:
    taken = "unknown, written as" if around.updated_at == UNKNOWN else "taken as"
    return f"{taken} {around.updated_at}, {around.updated_by}"


def _status(made: Section, prose: str, around: Around) -> str:
    """Words that say that it stopped are newer than an `active` that stands around them."""
    is_over = status_in(spoken(made["last_checkpoint"])) == COMPLETE
    words = status_in(prose) or (COMPLETE if is_over else None)
    beside = around.workflow_status
    return (words if beside in {None, "ACTIVE"} else None) or beside or "ACTIVE"


def _agree(made: Section, told: _Told | None, prose: str, notes: Notes) -> None:
    """Take the name from what the number was read from; say where words name another phase."""
    number = made["current_phase"]
    said = _said_instead(made, prose)
    if said:
        path = (STATE, "current_phase") if told is None else told.path
        problem = f"is {number}, and the prose speaks of {said}: look which of them is right"
        notes.assumed(path, problem)
        if number == 0:  # often what nobody counted: unknown is nearer to the truth
            made["current_phase"] = None
            notes.read(path, number, "unknown")
    _name_phase(made, told, prose, notes)


def _said_instead(made: Section, prose: str) -> str:
    """What the words name instead of the phase that is told by its number."""
    number, is_over = made["current_phase"], made["workflow_status"] == COMPLETE
    words = phase_in(prose, is_over=is_over)
    if number is None or words == number:
        return ""
    if words is not None:
        return f"phase {words}"
    return "all phases" if number == 0 and is_over and _ALL_PHASES.search(prose[:_LONGEST]) else ""


def _name_phase(made: Section, told: _Told | None, prose: str, notes: Notes) -> None:
    path = (STATE, "current_phase_name")
    if told is not None and not made[path[1]] and isinstance(told.value, (str, dict)):
        made[path[1]] = plain_values.phase(told.value).name
    if not made[path[1]] and (name := name_in(prose, made["current_phase"])):
        made[path[1]] = name
        notes.unsaid(path, f"taken as {name}")


def _optional(sources: list[_Source], notes: Notes) -> Section:
    found: Section = {}
    for name in OPTIONAL:
        for source in sources[:2]:
            value = source.value.get(name)
            read = plain_values.flag(value)
            if read is not None and name not in found:
                found[name] = read
                if not source.at:
                    notes.moved((name,), f"{STATE}.{name}")
            elif name in source.value and read is None:
                notes.removed((*source.at, name), value)
    return found


def _in_order(own: Section, made: Section, kept: Section) -> Section:
    """In the file's order, the project's own keys among them; what is new comes behind."""
    kept = {key: each for key, each in kept.items() if key not in OPTIONAL}
    known = {**kept, **made}
    first = {key: known[key] for key in own if key in known}
    return {**first, **{key: each for key, each in made.items() if key not in first}} | {
        key: each for key, each in kept.items() if key not in made
    }

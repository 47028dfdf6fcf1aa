"""A resumption section of v1.0 brought to v2.0. What cannot be carried over is named, not guessed.

The prose of `current_state` becomes `current_activity`; phase and status, which it hides, are
taken from what the rest of the file says. The original is handed back, to be journalled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.protocol.json_schema import check
from standfast.protocol.resumption import blank
from standfast.protocol.resumption_schema import LONGEST_LINE, SECTION, SUB_SECTIONS, VERSION
from standfast.protocol.resumption_triggers import Recovery
from standfast.protocol.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocol.resumption_schema import Section

FIRST_VERSION = "1.0"
V1_FIELDS = (
    *("last_checkpoint", "current_state", "next_step"),
    *("files_to_read", "cross_session_portable", "ephemeral_references"),
)
_OPTIONAL = ("cross_session_portable", "ephemeral_references")
_STATE = SECTION["properties"]["recovery_state"]["properties"]
_ENTRY = SECTION["properties"]["files_to_read"]["items"]


class Around(NamedTuple):
    """What v1.0 does not say: when it was last written, and what stands around it in the file."""

    updated_at: str  # of the section as it is, not of its migration: else what is old looks fresh
    file: str  # what to read if it names nothing
    current_phase: int = 0
    current_phase_name: str = ""
    workflow_status: str = "ACTIVE"
    last_checkpoint: str | None = None
    gates: tuple[str, ...] = ()


class Migrated(NamedTuple):
    """The section, what it was, and what of it could not be carried over, in words."""

    section: Section
    original: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def version_of(value: object) -> str | None:
    """The version of a section; one that has both halves is still to be migrated."""
    if not isinstance(value, dict) or not value:
        return None
    if "recovery_state" in value and not set(value) & set(V1_FIELDS) - {"files_to_read"}:
        return VERSION
    return FIRST_VERSION if set(value) & set(V1_FIELDS + SUB_SECTIONS) else None


def migrate(value: Mapping[str, Any], around: Around) -> Migrated:
    """The section as v2.0; what it has of v2.0 already is kept and counts for more."""
    notes: list[str] = []
    section = blank(_recovery(value, around, notes), (), around.gates)
    section |= {name: value[name] for name in SUB_SECTIONS[2:] if name in value}
    had = value.get("recovery_state")
    section["recovery_state"] |= _optional(value, notes) | (had if isinstance(had, dict) else {})
    section["files_to_read"] = _files(value.get("files_to_read"), around, notes)
    unknown = [key for key in value if key not in {*V1_FIELDS, *SUB_SECTIONS}]
    notes += [f"`{one_line(key, 60)}` is no field of v1.0 or v2.0" for key in unknown]
    return Migrated(section, value, tuple(notes))


def _recovery(value: Mapping[str, Any], around: Around, notes: list[str]) -> Recovery:
    checkpoint = value.get("last_checkpoint")
    if [*check(checkpoint, _STATE["last_checkpoint"])]:
        notes.append(f"`last_checkpoint` was `{_prose(checkpoint)}`, which is no `CP-NNN`")
        checkpoint = None
    return Recovery(
        last_checkpoint=checkpoint or around.last_checkpoint,
        current_phase=around.current_phase,
        current_phase_name=around.current_phase_name,
        workflow_status=around.workflow_status,
        current_activity=_prose(value.get("current_state")),
        next_step=_prose(value.get("next_step")),
        context_fill_at_update=None,
        updated_at=around.updated_at,
    )


def _prose(value: object) -> str:
    """Prose as one line, whatever it was written as."""
    if value is None:
        return ""
    texts = value if isinstance(value, list) else [value]
    return one_line("; ".join(map(_words, texts)), LONGEST_LINE)


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(each)}" for key, each in value.items())
    return str(value)


def _optional(value: Mapping[str, Any], notes: list[str]) -> Section:
    found = {key: value[key] for key in _OPTIONAL if value.get(key) is not None}
    wrong = [key for key, each in found.items() if not isinstance(each, bool)]
    notes += [f"`{key}` was `{_prose(found[key])}`, not true or false" for key in wrong]
    return {key: each for key, each in found.items() if key not in wrong}


def _files(value: object, around: Around, notes: list[str]) -> list[Any]:
    """Strings and structured entries, as they are; a section that names none names its file."""
    entries = [value] if isinstance(value, str) else value
    kept = list(_entries(entries if isinstance(entries, list) else [], notes))
    if not kept:
        notes.append(f"`files_to_read` named nothing that can be read; `{around.file}` was added")
    return kept or [around.file]


def _entries(entries: list[Any], notes: list[str]) -> Iterator[Any]:
    for entry in entries:
        fault = next(check(entry, _ENTRY), None)
        path = entry.get("path") if isinstance(entry, dict) else None
        if fault is None:
            yield entry
        elif isinstance(path, str) and path.strip():
            notes.append(f"an entry of `files_to_read` {fault.problem}: its path was kept")
            yield path
        else:
            notes.append(f"an entry of `files_to_read` {fault.problem}: `{_prose(entry)}`")

"""A resumption section of v1.0, or nearly of v2.0, read as a person reads it. Pure.

What is right stays as it stands, and so do keys of the project's own, where they are. Everything
that was read otherwise, moved, assumed or has no place is named with its path in the original; the
original itself is for the caller to keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.migration import (
    entries,
    gates_and_defects,
    key_case,
    last_resort,
    other_names,
    recovery_state,
    sub_section_names,
)
from standfast.protocols.resumption.rules.migration.migration_notes import Note, Notes
from standfast.protocols.resumption.rules.migration.recovery_state import STATE
from standfast.protocols.resumption.rules.section_check import faults_in, validate
from standfast.protocols.resumption.rules.section_schema import SUB_SECTIONS, V1_FIELDS, VERSION
from standfast.protocols.resumption.rules.triggers import Recovery
from standfast.protocols.resumption.rules.update_matrix import blank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.section_schema import Section

__all__ = ["FIRST_VERSION", "V1_FIELDS", "Around", "Migrated", "Note", "migrate", "version_of"]

FIRST_VERSION = "1.0"
OVER = ("COMPLETE", "CANCELLED")
_FIELDS = (STATE, gates_and_defects.TRAJECTORY, gates_and_defects.DEFECTS)  # parts by their fields
_NOTHING: tuple[object, ...] = (None, "", 0, [], {})


class Around(NamedTuple):
    """What a section may not say: when it was last written, and what stands around it."""

    updated_at: str  # as the file states it, else unknown: what the disk tells makes a clone fresh
    file: str  # what to read if it names nothing
    current_phase: int | None = None
    current_phase_name: str = ""
    workflow_status: str | None = None
    last_checkpoint: str | None = None
    gates: tuple[str, ...] = ()
    updated_by: str = "which is never fresh: the file does not say when"


class Migrated(NamedTuple):
    """The section as v2.0, what it was, and what became of each thing that is otherwise now."""

    section: Section
    original: Any
    notes: tuple[Note, ...] = ()

    def says(self, path: Path) -> bool:
        """Whether a record of the section was said by the original, and not only filled in."""
        name, *field = path
        part = self.original.get(name) if isinstance(self.original, dict) else None
        if name == entries.FILES:
            return part is not None
        if not field or name not in _FIELDS or (isinstance(part, dict) and field[0] in part):
            return True
        is_unsaid = any(note.path == path and note.is_unsaid for note in self.notes)
        return not is_unsaid and self.section[name][field[0]] not in _NOTHING

    @property
    def removed(self) -> tuple[Note, ...]:
        """What has no place in it."""
        return tuple(note for note in self.notes if note.is_removed)


def version_of(value: object) -> str | None:
    """The version of a section; one that has both halves is still to be migrated."""
    if not isinstance(value, dict) or not value:
        return FIRST_VERSION if isinstance(value, (str, list)) and value else None
    if STATE in value and not set(value) & set(V1_FIELDS) - {entries.FILES}:
        return VERSION
    return VERSION if len(set(value) & set(SUB_SECTIONS)) > 1 else FIRST_VERSION


def migrate(value: object, around: Around) -> Migrated:
    """The section as v2.0: one that is valid is itself."""
    whole: Mapping[str, Any] = value if isinstance(value, dict) else {"current_state": value}
    if value == whole and not validate(value):
        return Migrated(dict(whole), value)
    notes = Notes()
    whole = key_case.in_ours(whole, notes)
    state, used = recovery_state.recovery_state(whole, around, notes)
    made: Section = {STATE: state}
    whole, taken = sub_section_names.by_their_names(whole, notes)
    used |= taken
    whole = other_names.by_their_names(whole, notes)
    made |= {name: _read(name, whole, state, around, notes) for name in SUB_SECTIONS[1:]}
    lacking = [name for name in SUB_SECTIONS if whole.get(name) is None]
    if lacking:
        notes.assumed((), f"missing, now there: {', '.join(f'`{name}`' for name in lacking)}")
    for name, part in made.items():
        _tell_filled(name, whole.get(name), part, notes)
    empty = blank(Recovery(**{name: state[name] for name in Recovery._fields}), [around.file], ())
    last_resort.mend(made, empty, SUB_SECTIONS[1:], notes)
    _tell_left(made, notes)
    _drop(whole, used, notes)
    return Migrated(_in_order(whole, made, used), value, tuple(notes))


LOG = entries.LOG


def _read(name: str, whole: Mapping[str, Any], state: Section, around: Around, notes: Notes) -> Any:  # noqa: ANN401  # a sub-section
    value = whole.get(name)
    if value is not None and not [*faults_in({name: value}, (name,))]:
        return value
    if value is not None and all(map(plain_values.is_none, _each(value))):
        notes.read((name,), value, None)
        value = None
    is_over = state["workflow_status"] in OVER
    gates = () if is_over else around.gates
    read: Mapping[str, Callable[[], Any]] = {
        entries.FILES: lambda: entries.files_to_read(value, around.file, notes),
        gates_and_defects.TRAJECTORY: lambda: gates_and_defects.quality_trajectory(
            _mapping(name, value, notes), gates, notes, is_over=is_over
        ),
        gates_and_defects.DEFECTS: lambda: gates_and_defects.defect_summary(
            _mapping(name, value, notes), notes
        ),
        LOG: lambda: entries.decision_log(value, notes),
        entries.AGENTS: lambda: entries.agent_summaries(value, notes),
        entries.COMPACTIONS: lambda: entries.compaction_events(value, state["updated_at"], notes),
    }
    return read[name]()


def _each(value: object) -> list[object]:
    """What says something: the entries of a list, else the thing itself."""
    return value if isinstance(value, list) and value else [value]


def _tell_filled(name: str, said: object, part: Any, notes: Notes) -> None:  # noqa: ANN401
    """Fields of a part that were not there: each that is not told of by itself."""
    told = {note.path for note in notes}
    moved = {note.words for note in notes}
    if not isinstance(said, dict) or name not in {*_FIELDS, entries.COMPACTIONS}:
        return
    new = [key for key in part if key not in said and (name, key) not in told
           and f"is now `{name}.{key}`" not in moved]  # fmt: skip
    for key in part:
        if key in said and said[key] is None is not part[key] and (name, key) not in told:
            notes.read((name, key), None, part[key])
    if new:
        notes.assumed((name,), f"now has {', '.join(f'`{key}`' for key in new)}")


def _tell_left(made: Section, notes: Notes) -> None:
    """Work that is over has no gates left: where a file says both, one of them is wrong."""
    left = gates_and_defects.gates_left(made)
    if left:
        problem = f"names {', '.join(left)}, and the work is COMPLETE: look which of them is right"
        notes.assumed((gates_and_defects.TRAJECTORY, "gates_remaining"), problem)


def _mapping(name: str, value: object, notes: Notes) -> Mapping[str, Any]:
    if not plain_values.is_none(value) and not isinstance(value, dict):
        notes.removed((name,), value)
    return value if isinstance(value, dict) else {}


def _drop(whole: Mapping[str, Any], used: set[str], notes: Notes) -> None:
    """Fields of v1.0 whose place was taken by v2.0's own, or that nobody can read."""
    told = {note.path for note in notes}
    for key in V1_FIELDS:
        is_left = key not in {*SUB_SECTIONS, *used, *recovery_state.OPTIONAL}
        if is_left and whole.get(key) not in (None, "") and (key,) not in told:
            notes.removed((key,), whole[key])


def _in_order(whole: Mapping[str, Any], made: Section, used: set[str]) -> Section:
    """As it stood, with the project's own keys in their places; what is new comes behind.

    The state, by which one resumes, comes first where it is new.
    """
    gone = {*used, *V1_FIELDS} - {*SUB_SECTIONS}
    kept = {key: made.get(key, each) for key, each in whole.items() if key not in gone}
    first = {} if STATE in kept else {STATE: made[STATE]}
    return {**first, **kept, **{name: made[name] for name in SUB_SECTIONS if name not in kept}}

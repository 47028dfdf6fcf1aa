"""What still breaks a rule in a section goes, and no more than that. Pure.

A form that somebody writes may stand in the way of nothing else: of an entry that fails a check the
field goes, else the entry, and never its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules.section_check import faults_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.migration.migration_notes import Notes
    from standfast.protocols.resumption.rules.section_schema import Section

_MOST = 8  # rounds: each takes at least one level of what is wrong
_OWN = 2  # a sub-section's name, and one of its fields


def mend(made: Section, empty: Section, names: Iterable[str], notes: Notes) -> None:
    """Take what breaks a rule out of these sub-sections, until nothing does."""
    for name in names:
        for _ in range(_MOST):
            places = dict.fromkeys(_place(made, each.path) for each in faults_in(made, (name,)))
            if not places:
                break
            for place in reversed([*places]):  # an entry that goes moves only those behind it
                _take(made, empty, place, notes)
            _recount(made)
        else:
            notes.removed((name,), made[name])
            made[name] = empty[name]


def _place(made: Section, path: Path) -> Path:
    """Where it can be taken out: an entry that lacks a field goes as a whole."""
    while len(path) > _OWN and not _is_there(made, path):
        path = path[:-1]
    return path


def _take(made: Section, empty: Section, place: Path, notes: Notes) -> None:
    """A field that the section must have is emptied."""
    if _is_there(made, place):
        notes.removed(place, _at(made, place))
    holder = _at(made, place[:-1])
    if isinstance(holder, dict) and _is_there(empty, place):
        holder[place[-1]] = _at(empty, place)
    elif _is_there(made, place):
        del holder[place[-1]]


def _recount(made: Section) -> None:
    compactions = made["compaction_events"]
    if isinstance(compactions, dict) and isinstance(compactions.get("events"), list):
        compactions["count"] = len(compactions["events"])


def _at(value: Any, path: Path) -> Any:  # noqa: ANN401  # whatever is there
    for part in path:
        value = value[part]
    return value


def _is_there(value: Any, path: Path) -> bool:  # noqa: ANN401  # as above
    try:
        _at(value, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True

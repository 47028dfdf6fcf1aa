"""Keys of a section in another case: `nextStep`, `Recovery-State`, `DECISION LOG`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules.section_schema import SECTION, SUB_SECTIONS, V1_FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.migration.migration_notes import Notes

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 60
_PARTS: Mapping[str, Any] = SECTION["properties"]
_TOP = {*SUB_SECTIONS, *V1_FIELDS, *_PARTS["recovery_state"]["properties"]}


def folded(key: str) -> str:
    """A key as the schema writes its own."""
    return re.sub(r"[\s_-]+", "_", _HUMP.sub("_", key.strip()[:_LONGEST])).lower()


def in_ours(whole: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    """The section with the schema's own keys in the schema's case; others stay as they are."""
    found = _renamed(dict(whole), _TOP, (), notes)
    for name, part in found.items():
        shape = _PARTS.get(name, {})
        if isinstance(part, dict):
            found[name] = _renamed(part, shape.get("properties", ()), (name,), notes)
        elif isinstance(part, list):
            known = shape.get("items", {}).get("properties", ())
            found[name] = [_renamed(each, known, (name, at), notes) if isinstance(each, dict)
                           else each for at, each in enumerate(part)]  # fmt: skip
    return found


def _renamed(
    part: dict[str, Any], known: Collection[str], path: Path, notes: Notes
) -> dict[str, Any]:
    names = {key: key for key in part}
    for key in part:
        ours = folded(key)
        if ours != key and ours in known and ours not in names.values():
            names[key] = ours
            notes.moved((*path, key), ".".join(map(str, (*path, ours))))
    return {names[key]: each for key, each in part.items()}

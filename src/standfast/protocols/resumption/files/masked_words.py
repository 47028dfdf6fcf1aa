"""A file's own words in the place of masks.

The journal keeps no secret, nor what looks like one. The file of a person keeps what it says: where
a value of ours is the mask of one that stands there, theirs stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.redaction.redactor import MASK, redact_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.formats.document_limits import Value

    Path = tuple[str | int, ...]


def unmasked(value: Value, theirs: Value) -> Value:
    """*value* with what *theirs* says behind each mask, at the same place or anywhere once."""
    if not any(MASK in said for _, said in _strings(value, ())):
        return value
    behind = dict(_strings(theirs, ()))
    masks: dict[str, dict[Path, str]] = {}
    for path, mask in _strings(redact_value(theirs), ()):  # type: ignore[arg-type]  # as it came
        if MASK in mask and path in behind:
            masks.setdefault(mask, {})[path] = behind[path]
    return _put(value, (), masks)


def _put(value: Value, path: Path, masks: dict[str, dict[Path, str]]) -> Value:
    if isinstance(value, dict):
        return {key: _put(each, (*path, key), masks) for key, each in value.items()}
    if isinstance(value, list):
        return [_put(each, (*path, at), masks) for at, each in enumerate(value)]
    found = masks.get(value, {}) if isinstance(value, str) else {}
    words = {*found.values()}
    return found.get(path, words.pop() if len(words) == 1 else value)


def _strings(value: Value, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _strings(each, (*path, key))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _strings(each, (*path, at))
    elif isinstance(value, str):
        yield path, value

"""Checkpoint files of the pre-compact hook, in order, and the compactions nobody was told of.

The hook writes only such files, `cx-NNN…`, and their order is that of the numbers: 999 before
1000. `records/compactions.py` makes events of the section of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.protocols.resumption.rules.update_matrix import Resumption

_PREFIX = "cx-"
_LONGEST_NUMBER = 9


def number_of(file: str) -> int | None:
    """The number in the name of a checkpoint file; None if it is no such name."""
    name = file.rpartition("/")[2].lower()
    digits = name.removeprefix(_PREFIX).partition(".")[0].partition("-")[0]
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
    return int(digits) if name.startswith(_PREFIX) and is_number else None


def in_order(files: Iterable[str]) -> list[str]:
    """By number; what has none is no checkpoint of ours and is left out."""
    numbered = [(number_of(each), each) for each in files]
    known = [(number, each) for number, each in numbered if number is not None]
    return [each for _, each in sorted(known, key=lambda pair: pair[0])]


def unacknowledged(document: Resumption) -> list[str]:
    """The ids of the compactions that no model has been told of."""
    events = document.section["compaction_events"]["events"]
    return [event["id"] for event in events if not event.get("acknowledged", False)]

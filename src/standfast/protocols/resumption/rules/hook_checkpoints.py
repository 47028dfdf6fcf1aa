"""What the pre-compact hook left behind, merged into the section by the one who may write it.

The hook writes only its checkpoint file, `cx-NNN…`. Each file becomes one compaction event, in
the order of the numbers (999 before 1000), once; the newest tells where the work was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.protocols.resumption.rules.triggers import (
    Acknowledged,
    Compaction,
    CompactionEvent,
    Recovery,
)
from standfast.protocols.resumption.rules.update_matrix import Resumption, apply

if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIX = "cx-"
_LONGEST_NUMBER = 9


class Checkpoint(NamedTuple):
    """One checkpoint file: its name within its folder, and the compaction that it tells of."""

    file: str
    compaction: Compaction


class Merged(NamedTuple):
    """The section with every compaction in it, and the checkpoint that says how to go on."""

    after: Resumption
    newest: Checkpoint | None


def number_of(file: str) -> int | None:
    """The number in the name of a checkpoint file; None if it is no such name."""
    name = file.rpartition("/")[2].lower()
    digits = name.removeprefix(_PREFIX).partition(".")[0].partition("-")[0]
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
    return int(digits) if name.startswith(_PREFIX) and is_number else None


def in_order(found: Iterable[Checkpoint]) -> list[Checkpoint]:
    """By number; what has none is no checkpoint of ours and is left out."""
    numbered = [(number_of(each.file), each) for each in found]
    known = [(number, each) for number, each in numbered if number is not None]
    return [each for _, each in sorted(known, key=lambda pair: pair[0])]


def merge(before: Resumption, found: Iterable[Checkpoint], now: Recovery) -> Merged:
    """Append the compactions that the section does not have yet, each unacknowledged."""
    ordered = in_order(found)
    after = before
    for checkpoint in ordered:
        if checkpoint.file not in _merged(after):
            told = checkpoint.compaction._replace(checkpoint_file=checkpoint.file)
            after = apply(after, CompactionEvent(now, told))
    return Merged(after, ordered[-1] if ordered else None)


def unacknowledged(document: Resumption) -> list[str]:
    """The ids of the compactions that no model has been told of."""
    events = document.section["compaction_events"]["events"]
    return [event["id"] for event in events if not event.get("acknowledged", False)]


def acknowledge(before: Resumption, now: Recovery) -> Resumption:
    """After the newest was delivered: all of them are acknowledged, for it speaks for all."""
    return apply(before, CompactionEvent(now, Acknowledged(tuple(unacknowledged(before)))))


def _merged(document: Resumption) -> set[str | None]:
    events = document.section["compaction_events"]["events"]
    return {event.get("checkpoint_file") for event in events}

"""How checkpoints are shown: a table of records, one record with all that belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import clock
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.protocols.resumption.rules.staleness import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.journal.store import Journal
    from standfast.protocols.checkpoints.records.checkpoint_records import Kept
    from standfast.protocols.checkpoints.rules.checkpoint import Record
    from standfast.runs.records.run_log import Tail
    from standfast.surfaces.cli.screen import Screen

_KNOWN = 8
FOREIGN = "From the repository: nobody here wrote this, and nothing is moved by it unasked."
_MARK = "from the repository: "


def foreign(found: Iterable[Kept]) -> list[str]:
    """Which of them the repository says, by their numbers."""
    return [kept.id for kept in found if kept.is_foreign]


def rows(screen: Screen, found: Iterable[Kept]) -> str:
    """A table, one record a row."""
    return screen.table(
        [
            (kept.id, kept.key.run_id, kept.key.phase, kept.key.lane, kept.key.stage,
             kept.status, _written(kept), _notes(kept))
            for kept in found
        ],
        ("strong", "", "", "", "", "strong", "dim"),
    )  # fmt: skip


def _written(kept: Kept) -> str:
    """When it was written, as it says itself: a file may be older than what we know of it."""
    second = seconds(kept.record.get("timestamp"))
    return clock.local_minute(kept.at if second is None else second * clock.MICROSECONDS)


def _notes(kept: Kept) -> str:
    return (_MARK if kept.is_foreign else "") + str(kept.record.get("notes") or "")


def whole(
    screen: Screen, record: Record, before: Sequence[Kept], log: Tail, *, is_foreign: bool = False
) -> str:
    """Every field; every write of this record so far; the end of the run log."""
    parts = [FOREIGN] if is_foreign else []
    parts += [screen.table([(name, _text(value)) for name, value in record.items()
                           if name not in rules.HINTS], ("dim",))]  # fmt: skip
    for title, some in (
        ("HISTORY", [(kept.id, kept.status, _written(kept), kept.actor,
                      str(kept.record.get("notes") or "")) for kept in before]),
        ("LOG", [tuple(_text(entry.get(name, "-")) for name in ("ts", "event", "status", "notes"))
                 for entry in log.entries]),
    ):  # fmt: skip
        if some:
            parts += ["", title, screen.table(some, ("strong",))]
    if log.foreign:
        parts.append(f"(lines that are not Standfast's were passed over: {log.foreign})")
    if log.torn:
        parts.append(f"(torn lines that were passed over: {log.torn})")
    return "\n".join(parts)


def _text(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(str(each) for each in value)
    return str(value)


def known(journal: Journal) -> str:
    """Which lanes there are, for an error that found none."""
    lanes = dict.fromkeys("/".join(kept.key[:3]) for kept in recorded.current(journal))
    if not lanes:
        return ": none was written yet"
    more = f" and {len(lanes) - _KNOWN} more" if len(lanes) > _KNOWN else ""
    return f"; known are {', '.join([*lanes][-_KNOWN:])}{more}"

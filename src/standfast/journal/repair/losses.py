"""What a repair told of: the events that are lost for good, and those that lost their link.

A gap that was told is no problem any more, only a loss. An event whose chain before it is gone
was sealed when it was taken over: from then on nobody can change it unseen either.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING

from standfast.journal.repair import verdicts

if TYPE_CHECKING:
    import apsw

    from standfast.journal.repair.verdicts import Range
    from standfast.journal.tables.folds import Row

KIND = "journal.repaired"


class Losses:
    """The losses that a journal's own events tell of."""

    def __init__(self, missing: list[Range], seals: dict[int, str]) -> None:
        self._missing = _joined(missing)
        self._seals = seals
        self.forked: list[Range] = []  # numbers for which a mirror told of other events
        self.is_unsure = False  # whether more may be lost than any repair could tell

    @classmethod
    def told(cls, connection: apsw.Connection) -> Losses:
        """Read every event of a repair; what is not shaped as one tells nothing."""
        missing: list[Range] = []
        seals: dict[int, str] = {}
        forked: list[Range] = []
        is_unsure = False
        sql = "SELECT payload FROM events WHERE kind = ? AND stream = 'repo' AND origin IS NULL"
        for (payload,) in connection.execute(sql, (KIND,)):
            try:
                told = json.loads(str(payload))
                missing += [(int(first), int(last)) for first, last in told["missing"]]
                seals.update((int(seq), str(seal)) for seq, seal in told["sealed"])
                forked += [(int(first), int(last)) for first, last in told.get("forked", ())]
                is_unsure |= told.get("unsure") is True
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
        losses = cls(missing, seals)
        losses.forked, losses.is_unsure = _joined(forked), is_unsure
        return losses

    def covers(self, first: int, last: int) -> bool:
        """Whether a repair told of all of these."""
        at = bisect_right(self._missing, (first, last)) - 1
        nearest = self._missing[max(at, 0) : at + 2]
        return any(start <= first and last <= end for start, end in nearest)

    def count_new(self, missing: list[Range]) -> int:
        """How many of these no repair has told of."""
        new = 0
        for first, last in missing:
            if not self.covers(first, last):
                told = (min(last, end) - max(first, start) + 1 for start, end in self._missing)
                new += last - first + 1 - sum(count for count in told if count > 0)
        return new

    def is_sealed(self, event: Row) -> bool:
        """Whether a repair took this event over as it stands."""
        return self._seals.get(event[0]) == verdicts.seal(event)


def _joined(ranges: list[Range]) -> list[Range]:
    """Ranges that touch made one: a second repair may find more lost beside the first's."""
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


NONE = Losses([], {})

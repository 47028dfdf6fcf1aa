"""What a run or a lane cost so far, from the records of its commands: rolled back or not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from standfast.errors.base import NothingFound
from standfast.runs.rules import spending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.store import Journal
    from standfast.runs.rules.spending import Spent

_KINDS = ("effect.ended", "effect.settled")
# Only what counts: a record also holds the last words of its command, and there may be thousands.
_BETWEEN = """
SELECT json_object('seconds', value -> 'seconds', 'report', value -> 'report') FROM cells
WHERE (key >= ? AND key < ?) OR (key >= ? AND key < ?) ORDER BY seq
"""


def spent(journal: Journal, *names: str) -> Spent:
    """By run, or by run, phase and lane."""
    return spending.total(_records(journal, f"lane/{'/'.join(names)}"))


def _records(journal: Journal, prefix: str) -> Iterator[dict[str, object]]:
    """Those that ended, and those that nobody saw end, as far as they told; the oldest first."""
    between = [f"{kind}:{prefix}{end}" for kind in _KINDS for end in ("/", "0")]  # `0` follows `/`
    try:
        rows = journal.query(_BETWEEN, tuple(between))
    except NothingFound:
        return
    yield from (json.loads(str(row[0])) for row in rows)

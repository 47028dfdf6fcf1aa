"""Edits of a section that a hook put back: told once to the session, and to people for an hour.

A command prints what it did not take over. A hook does that when nobody listens any more, so it
leaves a note for the next call of its session, in the cell `passed:<session>`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from standfast.journal.store import Journal

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]

RECENT_US = 3_600_000_000
_MOST = 5  # of one session

_LEFT = """
    SELECT DISTINCT each.value ->> 'file', each.value ->> 'at', each.value ->> 'problem'
    FROM cells, json_each(cells.value, '$.left') AS each WHERE """
_UNSAID = _LEFT + "cells.key = 'passed:' || ? AND NOT cells.value ->> 'said'"
_RECENT = _LEFT + "cells.key >= 'passed:' AND cells.key < 'passed;' AND cells.at > ?"
_SINCE = """
    SELECT events.payload ->> 'file', each.value ->> 'at', each.value ->> 'problem'
    FROM events, json_each(events.payload, '$.left') AS each
    WHERE events.seq > ? AND events.kind = 'resumption.passed' LIMIT ?"""


def last(ask: Ask) -> int:
    """Where the journal ends before something is kept."""
    ((seq,),) = ask("SELECT ifnull(max(seq), 0) FROM events", ())
    return int(str(seq))


def note(journal: Journal, session: str, before: int) -> None:
    """Remember what was passed over since, beside what the session was not told yet."""
    tell(journal, session, journal.query(_SINCE, (before, _MOST)))


def tell(journal: Journal, session: str, new: Sequence[tuple[object, ...]]) -> None:
    """The same of what will be passed over: file, place in the section, what is wrong with it."""
    if new:
        left = [*unsaid(journal.query, session), *new][-_MOST:]
        _keep(journal, session, left, said=False)


def settle(journal: Journal, session: str) -> None:
    """The session was told; people still are, for a while."""
    left = unsaid(journal.query, session)
    if left:
        _keep(journal, session, left, said=True)


def _keep(journal: Journal, session: str, left: list[tuple[object, ...]], *, said: bool) -> None:
    told = [dict(zip(("file", "at", "problem"), each, strict=True)) for each in left]
    with journal.writing() as tx:
        tx.set(f"passed:{session}", {"said": said, "left": told})


def unsaid(ask: Ask, session: str) -> list[tuple[object, ...]]:
    """What a session was not told yet: file, place in the section, what is wrong with it."""
    return ask(_UNSAID, (session,))


def recent(ask: Ask, now: int) -> list[tuple[object, ...]]:
    """What hooks put back within the hour."""
    return ask(_RECENT, (now - RECENT_US,))

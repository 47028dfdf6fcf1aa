"""How long events are kept: an age and a size, looked at cheaply, enforced in bounded steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import apsw

from standfast import clock
from standfast.journal import database, mirror, questions
from standfast.journal.tables.folds import DROPPED

if TYPE_CHECKING:
    from standfast.journal.store import Journal

STEP = 2_000  # events in one transaction: whoever waits for it waits for a moment
STEPS_BY_THE_WAY = 2  # that a command takes which was called for something else
_KEPT_BY_SIZE = 1_000  # the newest: a session at work asks for them
_WORTH_A_STEP = 100  # events; where the state alone is too much, dropping one by one helps nobody
_LOOKED_AT = 100  # of the oldest: some may have come late, or under a wrong clock
_DAY_US = 24 * 3_600 * clock.MICROSECONDS
_MB = 1_000_000
_ENOUGH = 0.8  # of the size: then it takes a while until the next drop


class Limits(NamedTuple):
    """What `keep_days` and `keep_mb` say; 0 is for ever."""

    days: int
    mb: int


class Trimmed(NamedTuple):
    """What one trim did and left."""

    events: int = 0
    through: int = 0
    size: int = 0
    is_done: bool = True


def size(journal: Journal) -> int:
    """Bytes in use: the database without its free pages, and the mirror."""
    ((pages,),) = journal.query(
        "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count,"
        " pragma_freelist_count, pragma_page_size"
    )
    return int(pages) + mirror.size(journal.folder)


def is_due(journal: Journal, limits: Limits) -> bool:
    """Whether a command should drop something by the way: a few rows and sizes are looked at.

    By age once a day, so that not every command seals a few events.
    """
    if limits.mb and size(journal) > limits.mb * _MB:
        return True
    now = clock.now_us()
    rows = journal.query("SELECT seq, at, kind FROM events ORDER BY seq LIMIT ?", (_LOOKED_AT,))
    is_old = bool(limits.days) and _aged(rows, limits.days + 1, now) > 0
    return is_old and _has_stood(journal, limits, now)


def _has_stood(journal: Journal, limits: Limits, now: int) -> bool:
    """Whether the clock has been about here for a while, as the newest event from before it says.

    Set wrong by years it makes everything old, and the next event young. A journal in which
    nothing else is young was left alone for long, or that has happened: a day will tell.
    """
    while_us = min(_DAY_US, limits.days * _DAY_US // 2)
    rows = journal.query(
        "SELECT at FROM events WHERE at <= ? ORDER BY seq DESC LIMIT 1", (now - while_us,)
    )
    return any(at >= now - limits.days * _DAY_US for (at,) in rows)


def trim(journal: Journal, limits: Limits, *, steps: int | None = None) -> Trimmed:
    """Drop what is over the limits, at most so many *steps*; nothing if another is at it."""
    try:
        with mirror.alone(journal.folder) as is_mine:
            if not is_mine:
                return Trimmed(size=size(journal), is_done=False)
            return _trim(journal, limits, steps)
    except apsw.Error as error:
        raise database.translate(error, journal.path) from error


def _trim(journal: Journal, limits: Limits, steps: int | None) -> Trimmed:
    from standfast.journal.retention import (
        dropped_events as bases,  # most commands find nothing to drop
    )
    from standfast.journal.retention import event_drop

    mirror.append(journal)
    event_drop.settle(journal)
    base = bases.load(journal.connection)
    done = Trimmed(through=base.through, size=size(journal))
    is_over = bool(limits.mb) and done.size > limits.mb * _MB
    while upto := boundary(journal, limits, is_over=is_over):
        dropped = 0 if steps == 0 else event_drop.drop(journal, base, upto)
        if not dropped:
            return done._replace(is_done=False)
        mirror.append(journal)
        event_drop.settle(journal)
        done = Trimmed(done.events + dropped, upto, size(journal))
        is_over = is_over and done.size > limits.mb * _MB * _ENOUGH
        steps = None if steps is None else steps - 1
    return done


def boundary(journal: Journal, limits: Limits, *, is_over: bool) -> int:
    """The last event of the next step, 0 for none; never one that the mirror lacks."""
    rows = journal.query("SELECT seq, at, kind FROM events ORDER BY seq LIMIT ?", (STEP,))
    upto = _aged(rows, limits.days, clock.now_us()) if limits.days else 0
    spare = questions.last_seq(journal) - _KEPT_BY_SIZE
    if is_over and spare - rows[0][0] >= _WORTH_A_STEP:
        upto = max(upto, min(rows[-1][0], spare))
    return min(upto, mirror.last_seq(journal.folder))


def _aged(rows: list[tuple[int, int, str]], days: int, now: int) -> int:
    """The last that is too old before the first that is young.

    What a wrong clock dated into the future is neither, and goes with its neighbours.
    """
    upto = 0
    since = now - days * _DAY_US
    for seq, at, _ in rows:
        if since <= at <= now:
            break
        if at < since:
            upto = seq
    # What tells of earlier drops is no reason for another one.
    return upto if any(seq <= upto and kind != DROPPED for seq, _, kind in rows) else 0

"""The days and times that a text states, in the forms that people and models write. Pure.

Read are `2026-02-11`, with `/` or `.` for the dashes, `11.2.2026`, `11 Feb 2026` and
`February 11, 2026`, each with a time behind it or without. Days like 02/11/2026 are not: nobody
can tell which is the month. A time without a zone is taken as UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_DAYS = (
    re.compile(r"(?<![\d.-])(?P<y>\d{4})([-/.])(?P<m>\d{2})\2(?P<d>\d{2})(?!\d)", re.ASCII),
    re.compile(r"(?<![\d.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?![\d.]*\d)", re.ASCII),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[ -](?P<m>{_MONTH}),?[ -](?P<y>\d{{4}})(?!\d)",
        re.ASCII | re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<m>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}})(?!\d)",
        re.ASCII | re.IGNORECASE,
    ),
)
_CLOCK = re.compile(
    r"(?:[T_]|,? {1,2}(?:at |@ ?|~ ?)?|@)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?!\d)"
    r"( ?[ap]m\b)?(?: ?(Z\b|UTC\b|GMT\b)?([+-]\d{2}:?\d{2}(?!\d))?)",
    re.ASCII | re.IGNORECASE,
)
_NOON = 12
_BEFORE = 60  # characters before a day that say what it is
# A day on which something was written or done: `Last updated: …`, `updated_at: …`, `- …: done`.
_WRITTEN = re.compile(
    r"(?:\b(?:updated?|saved|modified|written|edited|refreshed|revised|changed|as of|stand)\b"
    r"|\b(?:done|shipped|finished|completed|released|merged|closed|passed|began|begun|created)\b"
    r"|_at\b|\btimestamp\b)[^\n\d.;]{0,30}$|^[\s>*+|#\"'\[-]{0,12}$",
    re.IGNORECASE,
)
# And one by which something is to be done.
_TO_COME = re.compile(
    r"\b(?:until|till|due|by|before|deadline|scheduled|planned|target|eta|demo|release|starts?"
    r"|not|will|be|next)\b[^\n\d.;]{0,20}$",
    re.IGNORECASE,
)
_BY_WHOM = re.compile(r"\bby (?!the\b)\w+[^\w\n]{1,3}(?:on |at )?$", re.IGNORECASE)


class Stated(NamedTuple):
    """A day or a time in a text, and where it stands there."""

    when: datetime  # in UTC
    is_day: bool
    has_zone: bool
    start: int
    end: int


def stated(text: str) -> Iterator[Stated]:
    """Every day and time that there is, in the order of the text."""
    found = [each for form in _DAYS for each in form.finditer(text)]
    for day in sorted(found, key=lambda each: each.start()):
        clock = _CLOCK.match(text, day.end())
        read = _read(day, clock) if clock else None
        if clock is not None and read is not None:
            has_zone = bool(clock[5] or clock[6])
            yield Stated(read, is_day=False, has_zone=has_zone, start=day.start(), end=clock.end())
        elif (read := _read(day, None)) is not None:
            yield Stated(read, is_day=True, has_zone=False, start=day.start(), end=day.end())


def first(text: str) -> Stated | None:
    """The first of them."""
    return next(stated(text), None)


def newest(text: str, latest: datetime | None) -> Stated | None:
    """When a text was last written, by its own words, and not after *latest*.

    The newest day that is said to be that; else the newest that nothing is due on.
    """
    found = [each for each in stated(text) if latest is None or each.when <= latest]
    past = [each for each in found if not _is_to_come(text, each)]
    written = [each for each in past if _WRITTEN.search(_before(text, each))]
    return max(written or past, key=lambda each: (each.when, not each.is_day), default=None)


def _is_to_come(text: str, day: Stated) -> bool:
    before = _before(text, day)
    return _TO_COME.search(before) is not None and _BY_WHOM.search(before) is None


def _before(text: str, day: Stated) -> str:
    """What stands before a day in its line."""
    begun = max(0, day.start - _BEFORE)
    line = text.rfind("\n", begun, day.start) + 1
    is_whole = line > 0 or begun == 0
    return ("" if is_whole else "x") + text[line or begun : day.start]


def rfc3339(when: datetime) -> str:
    """A time as sections write it."""
    return f"{when.replace(tzinfo=None, microsecond=0).isoformat()}Z"


def _read(day: re.Match[str], clock: re.Match[str] | None) -> datetime | None:
    """The time, if there is such a day and such an hour."""
    month = day["m"][:3].lower()
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(day["m"])
    try:
        read = datetime(int(day["y"]), number, int(day["d"]), tzinfo=UTC)
        return read if clock is None else _at(read, clock)
    except (ValueError, OverflowError):
        return None


def _at(day: datetime, clock: re.Match[str]) -> datetime:
    hour, half = int(clock[1]), (clock[4] or "").strip().lower()
    if half:
        hour = hour % _NOON + (_NOON if half == "pm" else 0)
    local = day.replace(hour=hour, minute=int(clock[2]), second=int(clock[3] or 0))
    zone = (clock[6] or "").replace(":", "")
    east = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) if zone else timedelta()
    return local + east if zone.startswith("-") else local - east

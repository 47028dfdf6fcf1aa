"""How old a resumption section is: FRESH, STALE or CRITICAL, from times that are all passed in.

A time that cannot be read is never taken for a fresh one: nobody could say that it belongs to
this session, so it is CRITICAL. Hook path.
"""

from __future__ import annotations

FRESH, STALE, CRITICAL = "FRESH", "STALE", "CRITICAL"
LEVELS = (CRITICAL, STALE, FRESH)  # the first whose condition holds
OLD_S = 30 * 60
AHEAD_S = 5 * 60  # what two machines' clocks may differ by
SECOND_US = 1_000_000
UNKNOWN = "1970-01-01T00:00:00Z"  # written where nobody knows the time: it is never a fresh one
UNDATED = "it does not say when it was updated"

_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SHAPE = "dddd-dd-ddTdd:dd:dd"
_EPOCH_DAY = 719_468  # days from 0000-03-01 to 1970-01-01


class Staleness:
    """The level, and the reason in words that may be shown."""

    __slots__ = ("level", "reason")

    def __init__(self, level: str, reason: str) -> None:
        self.level = level
        self.reason = reason

    @property
    def warns(self) -> bool:
        """Whether anything is to be said of it."""
        return self.level != FRESH

    def __str__(self) -> str:
        return f"{self.level} ({self.reason})"


def judge(
    updated_at: object,
    *,
    now_us: int,
    session_started_us: int | None = None,
    phase_started_us: int | None = None,
) -> Staleness:
    """CRITICAL before STALE before FRESH; a start that is None is not known and judges nothing.

    The section tells whole seconds, so the other times are cut to theirs before they are
    compared: an update in the very second that a session began is not from before it.
    """
    updated = seconds(updated_at)
    if not updated:
        return _untold(updated, session_started_us)
    if session_started_us is not None and updated < session_started_us // SECOND_US:
        return Staleness(CRITICAL, "last updated before this session began")
    if phase_started_us is not None and updated < phase_started_us // SECOND_US:
        return Staleness(STALE, "not updated since the current phase began")
    age = now_us // SECOND_US - updated
    if age > OLD_S:
        return Staleness(STALE, f"last updated {age // 60} minutes ago")
    if age < -AHEAD_S:
        return Staleness(STALE, "`updated_at` lies in the future")
    return Staleness(FRESH, "updated in this phase")


def _untold(updated: int | None, session_started_us: int | None) -> Staleness:
    """A time that nobody can tell, or that nobody told: of this session it is not."""
    if updated is None:
        return Staleness(CRITICAL, "`updated_at` is not a time that can be read")
    return Staleness(STALE if session_started_us is None else CRITICAL, UNDATED)


def seconds(text: object) -> int | None:
    """The second since 1970 that an RFC 3339 time with whole seconds names; None if it is none."""
    if not isinstance(text, str) or not _has_shape(text[:19]):
        return None
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
    hour, minute, second = int(text[11:13]), int(text[14:16]), int(text[17:19])
    offset = _offset(text[19:])
    if offset is None or not _is_day(year, month, day) or hour > 23 or minute > 59 or second > 59:  # noqa: PLR2004  # a clock's own bounds
        return None
    return _days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset


def _has_shape(text: str) -> bool:
    return len(text) == len(_SHAPE) and all(
        "0" <= seen <= "9" if wanted == "d" else seen == wanted
        for seen, wanted in zip(text, _SHAPE, strict=True)
    )


def _offset(text: str) -> int | None:
    """Seconds east of Greenwich: `Z`, or a sign with hours and minutes."""
    if text == "Z":
        return 0
    digits = text[1:3] + text[4:]
    is_offset = text[:1] in {"+", "-"} and text[3:4] == ":" and len(text) == len("+00:00")
    if not is_offset or not (digits.isascii() and digits.isdigit()):
        return None
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:  # noqa: PLR2004  # a clock's own bounds
        return None
    return (1 if text[0] == "+" else -1) * (hours * 3600 + minutes * 60)


def _is_day(year: int, month: int, day: int) -> bool:
    if not 1 <= month <= len(_MONTHS) or not 1 <= day <= _MONTHS[month - 1]:
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return is_leap or (month, day) != (2, 29)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; the year is taken to begin in March, so that a leap day ends it."""
    if month <= 2:  # noqa: PLR2004  # January and February belong to the year before
        year -= 1
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + of_year - _EPOCH_DAY

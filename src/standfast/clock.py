"""The one door to time. Order in the journal is a sequence number; time is only told."""

from __future__ import annotations

import time

MICROSECONDS = 1_000_000
_newest = (0, "1970-01-01T00:00:00Z")


def now_us() -> int:
    """Microseconds since 1970, UTC, as the machine believes; it may jump."""
    return time.time_ns() // 1000


def monotonic_ns() -> int:
    """Nanoseconds since this boot, sleep included where the system can say: it never jumps."""
    clock_id = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock_id)


def pause(seconds: float) -> None:
    """Wait between two looks at something that tells nobody when it changes."""
    time.sleep(seconds)


def rfc3339(at_us: int) -> str:
    """UTC with whole seconds, as files and `--json` carry it; a time out of range is `unknown`."""
    global _newest  # noqa: PLW0603  # events come many to a second: the last answer is kept
    second = at_us // MICROSECONDS
    if second != _newest[0]:
        _newest = (second, _rfc3339_of_second(second))
    return _newest[1]


def _rfc3339_of_second(second: int) -> str:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
    except (OverflowError, ValueError, OSError):
        return "unknown"


def local_minute(at_us: int) -> str:
    """What a person reads in a table: local date and minute."""
    return _local(at_us, "%Y-%m-%d %H:%M")


def local_second(at_us: int) -> str:
    """The time of day to the second, local."""
    return _local(at_us, "%H:%M:%S")


def local_clock(at_us: int) -> str:
    """The time of day to the minute, local."""
    return _local(at_us, "%H:%M")


def _local(at_us: int, how: str) -> str:
    try:
        return time.strftime(how, time.localtime(at_us // MICROSECONDS))
    except (OverflowError, ValueError, OSError):
        return "unknown"

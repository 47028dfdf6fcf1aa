"""The one door to time. Order in the journal is a sequence number; time is only told."""

from __future__ import annotations

import time
from functools import lru_cache

MICROSECONDS = 1_000_000


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
    return _rfc3339_of_second(at_us // MICROSECONDS)


@lru_cache(maxsize=16)  # events come many to a second
def _rfc3339_of_second(second: int) -> str:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
    except (OverflowError, ValueError, OSError):
        return "unknown"


def local_minute(at_us: int) -> str:
    """What a person reads in a table: local date and minute."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_us // MICROSECONDS))
    except (OverflowError, ValueError, OSError):
        return "unknown"

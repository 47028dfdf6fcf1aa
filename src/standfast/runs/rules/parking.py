"""Waiting for a usage limit to end: until when, and whether that time has come. Pure.

The time is on the wall: it outlives a reboot. A clock may jump: set forward, the next run meets the
limit again and waits anew; set back, nobody waits longer than was meant when the waiting began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECOND = 1_000_000
LONGEST_US = 7 * 24 * 3600 * _SECOND
SLACK_US = 300 * _SECOND  # what a clock that is only set right may be off
_TOLD, _UNTOLD, _MOST = 10 * _SECOND, 300 * _SECOND, 3600 * _SECOND
MOST_PARKS = 20  # in a row without an end that is told: seventeen hours


def facts(
    report: Mapping[str, object], now_us: int, before: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What is told of a step that waits; *before* is what was told of it the last time."""
    parks = min(number(before or {}, "parks"), MOST_PARKS)
    told = _told(report)
    # An end that is past is believed once: whoever writes it down may have been dead until now.
    is_believed = told > now_us or (told > 0 and not parks)
    least = min((_TOLD if is_believed else _UNTOLD) * 2**parks, _MOST)
    until = min(max(told, now_us + least), now_us + LONGEST_US)
    times = {"at": str(now_us), "until": str(until), "parks": str(parks + 1)}
    session = str(report.get("session") or (before or {}).get("session", ""))
    return {
        **times,
        "why": str(report.get("limit")),
        **({"session": session} if session else {}),
    }


def _told(report: Mapping[str, object]) -> int:
    said = report.get("limit_until_s")
    return said * _SECOND if isinstance(said, int) else 0


def is_in_vain(report: Mapping[str, object], now_us: int, before: Mapping[str, str]) -> bool:
    """Whether waiting once more is: so often in a row, and nobody says when it would end."""
    return number(before, "parks") >= MOST_PARKS and _told(report) <= now_us


def is_due(said: Mapping[str, str], now_us: int) -> bool:
    """Whether the time has come for a step of which this was told."""
    return has_come(number(said, "at"), number(said, "until"), now_us)


def has_come(began_us: int, until_us: int, now_us: int) -> bool:
    """Whether the time has come; also where the clock was set back behind the beginning."""
    return now_us >= min(until_us, began_us + LONGEST_US) or now_us < began_us - SLACK_US


def carried(said: Mapping[str, str]) -> dict[str, str]:
    """What the next run is told of those that had to wait before it."""
    return {name: said[name] for name in ("parks", "session") if name in said}


def number(said: Mapping[str, str], name: str) -> int:
    """A number among the facts of a step; 0 where there is none."""
    text = said.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else 0

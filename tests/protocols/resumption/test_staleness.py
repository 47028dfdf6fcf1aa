"""CRITICAL before STALE before FRESH, from times passed in; what cannot be read is never fresh."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.protocols.resumption.rules.staleness import (
    CRITICAL,
    FRESH,
    LEVELS,
    STALE,
    judge,
    seconds,
)

NOON = 1_771_588_800  # 2026-02-20T12:00:00Z
US = 1_000_000


def at(text: str) -> int:
    """Microseconds of a time on that day."""
    found = seconds(f"2026-02-20T{text}Z")
    assert found is not None
    return found * US


@pytest.mark.req("RES-10")
@pytest.mark.parametrize(
    ("updated", "session", "phase", "level"),
    [
        ("11:59:00", "11:00:00", "11:30:00", FRESH),
        ("11:30:00", "11:00:00", "11:20:00", FRESH),  # exactly thirty minutes
        ("11:29:59", "11:00:00", "11:20:00", STALE),  # older, in the same phase
        ("11:39:59", "11:00:00", "11:40:00", STALE),  # young, from an earlier phase
        ("11:40:00", "11:00:00", "11:40:00", FRESH),  # in the second that the phase began
        ("10:59:59", "11:00:00", "11:40:00", CRITICAL),  # both: the graver one is told
        ("11:58:59", "11:59:00", "11:40:00", CRITICAL),  # a minute old, from another session
        ("11:59:00", "11:59:00", None, FRESH),
        ("11:59:00", None, None, FRESH),
        ("11:00:00", None, None, STALE),
        ("12:04:00", "11:00:00", None, FRESH),  # two clocks
        ("12:06:00", "11:00:00", None, STALE),  # for ever fresh, if it were believed
    ],
)
def test_order_of_precedence(
    updated: str, session: str | None, phase: str | None, level: str
) -> None:
    judged = judge(
        f"2026-02-20T{updated}Z",
        now_us=NOON * US,
        session_started_us=at(session) if session else None,
        phase_started_us=at(phase) if phase else None,
    )

    assert judged.level == level
    assert judged.warns == (level != FRESH)
    assert str(judged).startswith(f"{level} (")


@pytest.mark.req("RES-10")
def test_update_in_the_second_that_a_session_began_is_from_this_session() -> None:
    judged = judge(
        "2026-02-20T12:00:00Z",
        now_us=NOON * US + 900_000,
        session_started_us=NOON * US + 500_000,
        phase_started_us=NOON * US + 700_000,
    )

    assert judged.level == FRESH


@pytest.mark.req("RES-10")
@pytest.mark.parametrize(
    "updated",
    [
        *(None, 2026, 20260220, 1.5, True, [], datetime(2026, 2, 20, 12, 0, tzinfo=UTC)),
        datetime(2026, 2, 20, tzinfo=UTC).date(),
        *("", "now", "2026-02-20", "2026-02-20 12:00:00Z", "2026-02-20T12:00:00"),
        *("2026-02-20T12:00:00.5Z", "2026-02-20T12:00:00z", "2026-02-20T12:00:00Z\n"),
        *("2026-02-30T12:00:00Z", "2025-02-29T12:00:00Z", "2026-13-01T12:00:00Z"),
        *("2026-02-20T24:00:00Z", "2026-02-20T12:60:00Z", "2026-02-20T12:00:60Z"),
        *("2026-02-20T12:00:00+24:00", "2026-02-20T12:00:00+1:00", "2026-02-20T12:00:00+01:60"),
        *(
            "\u0968\u0966\u0968\u096c-02-20T12:00:00Z",
            "2026-02-20T12:00:00+\u0660\u0661:00",
            "+026-02-20T12:00:00Z",
        ),
    ],
    ids=repr,
)
def test_time_that_cannot_be_read_is_critical(updated: object) -> None:
    assert seconds(updated) is None
    assert judge(updated, now_us=NOON * US).level == CRITICAL


@given(
    st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 28)),  # noqa: DTZ001
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
def test_seconds_are_those_of_the_calendar(moment: datetime, offset: int) -> None:
    zone = timezone(timedelta(minutes=offset))
    there = moment.replace(microsecond=0, tzinfo=UTC).astimezone(zone)
    sign, minutes = "+-"[offset < 0], abs(offset)
    text = f"{there.year:04d}{there:-%m-%dT%H:%M:%S}{sign}{minutes // 60:02d}:{minutes % 60:02d}"

    expected = (there - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    assert seconds(text) == expected


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_none(text: str) -> None:
    assert judge(text, now_us=0).level in LEVELS

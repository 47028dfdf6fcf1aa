"""Tiers from whole numbers, a tag that says what is known, and one T7 for each transition."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.protocols.resumption.rules.context_monitor import (
    CRITICAL,
    EMERGENCY,
    LOW,
    NOMINAL,
    THRESHOLDS,
    TIERS,
    UNKNOWN,
    WARNING,
    Fill,
    check_thresholds,
    crossing,
    is_shown,
    tag,
    tokens_of,
    was_compacted,
    window_of,
)
from standfast.protocols.resumption.rules.staleness import CRITICAL as OLD
from standfast.protocols.resumption.rules.staleness import FRESH, STALE, Staleness


@pytest.mark.req("RES-14")
@pytest.mark.parametrize(
    ("tokens", "tier"),
    [
        (0, NOMINAL),
        (109_999, NOMINAL),
        (110_000, LOW),
        (139_999, LOW),
        (140_000, WARNING),
        (159_999, WARNING),
        (160_000, CRITICAL),
        (175_999, CRITICAL),
        (176_000, EMERGENCY),
        (250_000, EMERGENCY),
        (None, UNKNOWN),
    ],
)
def test_tiers_begin_exactly_where_they_are_said_to(tokens: int | None, tier: str) -> None:
    assert Fill(tokens, 200_000).tier() == tier


@pytest.mark.req("RES-14")
def test_thresholds_can_be_set() -> None:
    thresholds = check_thresholds([0.1, 0.2, 0.3, 0.4])

    assert [Fill(n, 10).tier(thresholds) for n in range(6)] == [*TIERS, EMERGENCY]


@pytest.mark.parametrize(
    "value",
    [
        *(None, [], "abcd", [0.1, 0.2, 0.3], [0.1, 0.1, 0.3, 0.4], [0, 0.2, 0.3, 0.4]),
        *([0.5, 0.6, 0.7, 1], [0.4, 0.3, 0.2, 0.1], ["a", 0.2, 0.3, 0.4], [True, 0.2, 0.3, 0.4]),
    ],
)
def test_thresholds_that_do_not_rise_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"share|rise"):
        check_thresholds(value)


@pytest.mark.req("RES-14")
@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 5}, 5),
        ({"input_tokens": 5, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 9}, 21),
        ({"input_tokens": 0, "output_tokens": 99}, 0),
        (None, None),
        ({}, None),
        ({"cache_read_input_tokens": 9}, None),
        ({"input_tokens": "5"}, None),
        ({"input_tokens": True}, None),
        ({"input_tokens": -1}, None),
        ({"input_tokens": 5, "cache_read_input_tokens": None}, None),
    ],
)
def test_fill_is_the_clients_own_figures_or_unknown(
    usage: dict[str, object] | None, tokens: int | None
) -> None:
    assert tokens_of(usage) == tokens


def test_window_is_set_by_hand_or_by_the_model() -> None:
    assert window_of("some-model") == 200_000
    assert window_of("some-model[1m]") == 1_000_000
    assert window_of("some-model[1m]", 50_000) == 50_000


@pytest.mark.parametrize(
    ("before", "after", "was"),
    [
        (150_000, 30_000, True),
        (150_000, 119_999, True),
        (150_000, 120_000, False),  # not under 80 of a hundred
        (20_000, 10_000, False),  # not more than 10,000 fewer
        (20_001, 10_000, True),
        (10_000, 150_000, False),
        (None, 5, False),
        (5, None, False),
    ],
)
def test_compaction_is_seen_by_its_drop(
    before: int | None, after: int | None, *, was: bool
) -> None:
    assert was_compacted(before, after) == was


@pytest.mark.req("RES-23")
@given(st.lists(st.sampled_from([*TIERS, UNKNOWN])))
def test_one_crossing_for_each_transition(seen: list[str]) -> None:
    kept, fired = "", 0
    for tier in seen:
        kept, fires = crossing(kept, tier)
        fired += fires
        assert crossing(kept, tier) == (kept, False)  # the same again is none

    known = [NOMINAL, *(tier for tier in seen if tier != UNKNOWN)]
    assert fired == sum(before != after for before, after in pairwise(known))
    assert kept in {"", known[-1]}


@pytest.mark.req("RES-21")
@pytest.mark.parametrize("tier", [*TIERS, UNKNOWN])
@pytest.mark.parametrize("level", [FRESH, STALE, OLD])
def test_tag_is_shown_unless_all_is_well(tier: str, level: str) -> None:
    expected = level != FRESH or tier in {LOW, WARNING, CRITICAL, EMERGENCY}

    assert is_shown(tier, Staleness(level, "why")) == expected


@pytest.mark.req("RES-11", "RES-21")
def test_tag_tells_fill_and_staleness() -> None:
    assert tag(Fill(144_999, 200_000), Staleness(STALE, "last updated 31 minutes ago")) == (
        "<context-monitor>\n"
        "  <fill-percentage>72.4%</fill-percentage>\n"
        "  <tier>WARNING</tier>\n"
        "  <token-count>144999</token-count>\n"
        "  <context-window>200000</context-window>\n"
        "  <monitoring-ok>true</monitoring-ok>\n"
        "  <action>Update the resumption section now; finish what is begun before starting more."
        "</action>\n"
        "  Resumption staleness: STALE (last updated 31 minutes ago)\n"
        "</context-monitor>\n"
    )


@pytest.mark.req("RES-14")
def test_unknown_fill_is_told_as_unknown_and_never_as_none() -> None:
    told = tag(Fill(None, 200_000), Staleness(STALE, "old"))

    assert "<fill-percentage>unknown</fill-percentage>" in told
    assert "<token-count>unknown</token-count>" in told
    assert "<monitoring-ok>false</monitoring-ok>" in told
    assert Fill(None, 200_000).share is None
    assert Fill(0, 200_000).share == 0.0


@given(st.integers(0, 2_000_000), st.integers(1, 1_000_000))
def test_share_never_looks_as_if_it_had_crossed(tokens: int, window: int) -> None:
    fill = Fill(tokens, window)
    share = fill.share

    assert share is not None
    assert 0 <= share <= 1
    assert fill.tier() == TIERS[sum(share >= at for at in THRESHOLDS)]

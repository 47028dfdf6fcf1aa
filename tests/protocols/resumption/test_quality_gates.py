"""A score is weighed exactly and judged before any rounding; three failures ask a person."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumption_samples import scores
from standfast.errors.base import BadScore
from standfast.protocols.resumption.rules.quality_gates import (
    PASS,
    REJECTED,
    REVISE,
    WEIGHTS,
    Result,
    after_compaction,
    band,
    lowest_dimension,
    missing,
    read_score,
    read_scores,
    verdict,
    verdict_of,
    weigh,
)


def test_weights_are_the_protocols_and_make_one() -> None:
    assert [str(weight) for weight in WEIGHTS.values()] == [
        *("0.20", "0.20", "0.20", "0.15", "0.15", "0.10")
    ]
    assert sum(WEIGHTS.values()) == 1


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        ("1", PASS),
        ("0.92", PASS),
        ("0.919999", REVISE),
        ("0.9199", REVISE),
        ("0.85", REVISE),
        ("0.849999", REJECTED),
        ("0", REJECTED),
    ],
)
def test_bands_meet_without_a_gap(score: str, expected: str) -> None:
    assert band(Decimal(score)) == expected
    assert band(weigh(scores(score))) == expected


def test_weighing_is_exact_where_floats_are_not() -> None:
    given_scores = dict(zip(WEIGHTS, (0.92, 0.91, 0.87, 0.99, 0.91, 0.95), strict=True))
    in_floats = sum(float(WEIGHTS[name]) * score for name, score in given_scores.items())

    assert in_floats < 0.92  # a gate that passed would fail
    assert weigh(read_scores(given_scores)) == Decimal("0.92")
    assert band(weigh(read_scores(given_scores))) == PASS


@given(st.fixed_dictionaries(dict.fromkeys(WEIGHTS, st.integers(0, 1_000_000))))
def test_weighed_score_is_the_fraction(millionths: dict[str, int]) -> None:
    given_scores = {name: Decimal(each) / 1_000_000 for name, each in millionths.items()}
    exact = sum(
        Fraction(WEIGHTS[name]) * Fraction(each, 10**6) for name, each in millionths.items()
    )

    score = weigh(read_scores(given_scores))

    assert Fraction(score) == exact
    assert (band(score) == PASS) == (exact >= Fraction(92, 100))
    assert Decimal(repr(float(score))) == score  # the file holds it without loss


@pytest.mark.parametrize(
    "value",
    [*("x", "", "nan", "Infinity", "-0.1", "1.01", "1e9", "0.1234567", "9" * 200), None, True, []],
)
def test_what_is_no_score_is_refused(value: object) -> None:
    with pytest.raises(BadScore, match="the score of evidence"):
        read_score(value, "evidence")


def test_dimensions_are_named() -> None:
    with pytest.raises(BadScore, match="no dimension `beauty`") as caught:
        read_scores({"beauty": 1})
    assert "completeness" in caught.value.remedy
    with pytest.raises(BadScore, match="no score for evidence, traceability"):
        weigh({n: s for n, s in scores("1").items() if n not in {"evidence", "traceability"}})
    assert missing({"completeness": 1})[0] == "internal_consistency"


@pytest.mark.parametrize(
    ("history", "band_now", "escalates"),
    [
        (["0.5"], REJECTED, False),
        (["0.5", "0.9"], REVISE, False),
        (["0.5", "0.9", "0.91"], REVISE, True),
        (["0.5", "0.9", "0.92"], PASS, False),
        (["0.1", "0.1", "0.1", "0.1"], REJECTED, True),
    ],
)
def test_three_failing_iterations_escalate(
    history: list[str], band_now: str, *, escalates: bool
) -> None:
    *earlier, now = map(Decimal, history)
    judged = verdict(now, earlier)

    assert (judged.band, judged.escalates) == (band_now, escalates)
    assert judged.passes == (band_now == PASS)
    assert verdict_of([float(each) for each in history]) == judged


@pytest.mark.req("RES-07")
def test_lowest_dimension_is_over_all_results() -> None:
    first = Result("qg-1", 1, {**scores("0.9"), "evidence": Decimal("0.2")})
    last = Result("qg-2", 1, {**scores("0.9"), "actionability": Decimal("0.5")})

    assert lowest_dimension([]) is None
    assert lowest_dimension([first, last]) == "evidence"
    assert lowest_dimension([last]) == "actionability"
    assert (
        lowest_dimension([Result("qg-1", 1, scores("1"))]) == "completeness"
    )  # the first of equals


@pytest.mark.parametrize("lacking", [*([name] for name in WEIGHTS), list(WEIGHTS)])
def test_cut_iteration_begins_anew_if_a_score_is_missing(lacking: list[str]) -> None:
    partial = {name: each for name, each in scores("0.9").items() if name not in lacking}

    restart = after_compaction("qg-2", 3, partial)

    assert (restart.iteration, restart.is_anew, restart.result) == (3, True, None)


def test_cut_iteration_stands_if_every_score_is_in() -> None:
    restart = after_compaction("qg-2", 3, scores("0.93"))

    assert not restart.is_anew
    assert restart.result == Result("qg-2", 3, scores("0.93"))
    assert restart.result.score == Decimal("0.93")

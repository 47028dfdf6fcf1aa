"""Scores of a quality gate: six weighed dimensions, three bands, escalation. Exact decimals.

0.9199 is REVISE and 0.92 is PASS: a score is never rounded before it is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadScore
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WEIGHTS: Mapping[str, Decimal] = {
    "completeness": Decimal("0.20"),
    "internal_consistency": Decimal("0.20"),
    "methodological_rigor": Decimal("0.20"),
    "evidence": Decimal("0.15"),
    "actionability": Decimal("0.15"),
    "traceability": Decimal("0.10"),
}
PASS, REVISE, REJECTED = "PASS", "REVISE", "REJECTED"
BANDS = ((PASS, Decimal("0.92")), (REVISE, Decimal("0.85")), (REJECTED, Decimal(0)))
FAILING_AT_MOST = 3  # then a person is asked
MOST_PLACES = 6

Scores = Mapping[str, Decimal]  # by dimension


class Result(NamedTuple):
    """One iteration of one gate, every dimension scored."""

    gate: str
    iteration: int
    scores: Scores

    @property
    def score(self) -> Decimal:
        """The weighed score, exactly."""
        return weigh(self.scores)


class Verdict(NamedTuple):
    """What follows from an iteration."""

    score: Decimal
    band: str
    escalates: bool

    @property
    def passes(self) -> bool:
        """Whether the gate is behind us."""
        return self.band == PASS


class Restart(NamedTuple):
    """How an iteration goes on that a compaction cut: anew, or as *result*, all scores being in."""

    iteration: int
    result: Result | None

    @property
    def is_anew(self) -> bool:
        """Whether the iteration is done again from its beginning."""
        return self.result is None


def read_scores(given: Mapping[str, object]) -> dict[str, Decimal]:
    """The scores of some dimensions, each from 0 to 1; text and numbers are taken as written."""
    for name in given:
        if name not in WEIGHTS:
            problem = f"there is no dimension `{one_line(name, 60)}`"
            alone = " The composite is weighed from them." if "composite" in name.lower() else ""
            raise BadScore(problem, remedy=f"There are {', '.join(WEIGHTS)}.{alone}")
    return {name: read_score(given[name], name) for name in WEIGHTS if name in given}


def read_score(value: object, what: str) -> Decimal:
    """One score, exactly as it was written: 0.1 is a tenth, whatever a float makes of it."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        raise BadScore(f"the score of {what} is not a number")
    shown = one_line(str(value), 40)
    try:
        score = Decimal(str(value)) if len(str(value)) <= len(shown) else Decimal("NaN")
    except InvalidOperation:
        score = Decimal("NaN")
    if not score.is_finite() or not 0 <= score <= 1:
        raise BadScore(f"the score of {what} is `{shown}`, not a number from 0 to 1")
    if -int(score.as_tuple().exponent) > MOST_PLACES:
        raise BadScore(f"the score of {what} has more than {MOST_PLACES} decimal places")
    return score


def weigh(scores: Scores) -> Decimal:
    """The weighed score; a dimension without a score is named, never taken for 0."""
    lacking = missing(scores)
    if lacking:
        raise BadScore(f"no score for {', '.join(lacking)}")
    return sum((WEIGHTS[name] * scores[name] for name in WEIGHTS), Decimal(0))


def missing(scores: Mapping[str, object]) -> list[str]:
    """The dimensions that are not scored yet."""
    return [name for name in WEIGHTS if name not in scores]


def band(score: Decimal) -> str:
    """PASS, REVISE or REJECTED."""
    return next(name for name, least in BANDS if score >= least)


def verdict(score: Decimal, earlier: Iterable[Decimal] = ()) -> Verdict:
    """Judge an iteration after the scores of the same gate's earlier ones."""
    now = band(score)
    failing = sum(band(each) != PASS for each in (*earlier, score))
    return Verdict(score, now, escalates=now != PASS and failing >= FAILING_AT_MOST)


def verdict_of(history: Sequence[float]) -> Verdict:
    """The verdict on the last of a gate's scores, as `score_history` holds them."""
    *earlier, last = (Decimal(repr(score)) for score in history)
    return verdict(last, earlier)


def lowest_dimension(results: Sequence[Result]) -> str | None:
    """The dimension that did worst over all results of all gates; the earlier named of equals."""
    if not results:
        return None
    return min(WEIGHTS, key=lambda name: sum(each.scores[name] for each in results))


def after_compaction(gate: str, iteration: int, scores: Scores) -> Restart:
    """An iteration that was cut: done again unless every score is in; then it stands as it is."""
    if missing(scores):
        return Restart(iteration, None)
    return Restart(iteration, Result(gate, iteration, scores))

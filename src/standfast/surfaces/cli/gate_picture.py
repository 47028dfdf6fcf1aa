"""How a gate is drawn: a bar for each dimension, the weighed score, its band, its history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.protocols.resumption.rules.quality_gates import (
    BANDS,
    FAILING_AT_MOST,
    PASS,
    REJECTED,
    REVISE,
    WEIGHTS,
    missing,
    verdict_of,
)
from standfast.protocols.resumption.rules.section_logs import next_iteration
from standfast.surfaces.cli.bars import bar, curve, ruler
from standfast.text import one_line

if TYPE_CHECKING:
    from decimal import Decimal

    from standfast.journal.tables.document_folds import Document
    from standfast.protocols.resumption.rules.quality_gates import Scores
    from standfast.surfaces.cli.screen import Screen

_STYLES = {PASS: "good", REVISE: "strong", REJECTED: "bad"}
_BORDERS = tuple(least for _, least in BANDS[:-1])
_NAMES = max(len(name) for name in WEIGHTS)
_WIDEST, _NARROWEST, _AROUND = 50, 20, 46  # of bars, and what stands beside them
_LONGEST = 60


class Standing(NamedTuple):
    """Where a gate is: its newest iteration with the scores that are known of it."""

    gate: str
    iteration: int
    scores: Scores
    history: tuple[float, ...]
    passed: bool

    @property
    def missing(self) -> list[str]:
        """The dimensions that its open iteration lacks; none where it is judged."""
        return missing(self.scores) if self.is_open else []

    @property
    def is_open(self) -> bool:
        """Whether scores of this iteration are still to come."""
        return self.iteration > len(self.history)

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        verdict = None if self.is_open else verdict_of(self.history)
        return {
            "gate": self.gate,
            "iteration": self.iteration,
            "scores": {name: float(score) for name, score in self.scores.items()},
            "missing": self.missing,
            "score": None if self.is_open else self.history[-1],
            "verdict": verdict.band if verdict else None,
            "escalates": bool(self.history) and verdict_of(self.history).escalates,
            "history": list(self.history),
        }


def standing(document: Document, gate: str) -> Standing:
    """Where a gate is now."""
    trajectory = document.section["quality_trajectory"]
    history = tuple(trajectory["score_history"].get(gate, ()))
    upcoming = next_iteration(document.section, gate)
    pending, passed = document.pending, gate in trajectory["gates_completed"]
    if pending is not None and pending[:2] == (gate, upcoming):
        return Standing(gate, upcoming, pending.scores, history, passed)
    results = [each for each in document.resumption.results if each.gate == gate]
    newest = results[-1].scores if results and results[-1].iteration == len(history) else {}
    return Standing(gate, len(history) if history else upcoming, newest, history, passed)


def known(document: Document) -> list[str]:
    """Every gate that the section or an open iteration names."""
    trajectory = document.section["quality_trajectory"]
    begun = [document.pending.gate] if document.pending else []
    return list(dict.fromkeys((*trajectory["gates_completed"], *trajectory["score_history"],
                               *begun, *trajectory["gates_remaining"])))  # fmt: skip


def drawn(screen: Screen, found: Standing) -> str:
    """The chart of one gate."""
    name = screen.paint(one_line(found.gate, _LONGEST), "strong")
    if not found.history and not found.scores:
        passed = f"{PASS}, scores not known" if found.passed else "no scores yet"
        return f"{name}  {passed}"
    width = max(_NARROWEST, min(_WIDEST, screen.width - _AROUND))
    lines = [f"{name}  iteration {found.iteration}", *_dimensions(screen, found, width)]
    if not found.is_open:
        lines += _weighed(screen, found, width)
    if found.history:
        lines.append(_history(screen, found))
    return "\n".join([*lines, *_asks(screen, found)])


def _dimensions(screen: Screen, found: Standing, width: int) -> list[str]:
    lines = []
    for name, weight in WEIGHTS.items():
        score = found.scores.get(name)
        label = f"  {name.ljust(_NAMES)}  x{weight}"
        if score is not None:
            drawn = screen.paint(bar(score, width, draws=screen.draws), _style(score))
            lines.append(f"{label}  {drawn}  {score:f}")
        elif found.is_open:
            lines.append(screen.paint(f"{label}  {'missing'.ljust(width)}", "dim").rstrip())
    return lines


def _style(score: Decimal) -> str:
    return _STYLES[next(name for name, least in BANDS if score >= least)]


def _weighed(screen: Screen, found: Standing, width: int) -> list[str]:
    score, band = found.history[-1], verdict_of(found.history).band
    drawn = screen.paint(bar(score, width, draws=screen.draws), _STYLES[band])
    label, blank = "weighed".ljust(_NAMES), " " * _NAMES
    word = screen.paint(band, _STYLES[band])
    rule = ruler(_BORDERS, width, draws=screen.draws)
    return [
        f"  {label}         {drawn}  {score:g}  {word}",
        screen.paint(
            f"  {blank}         {rule}  {REVISE} {_BORDERS[1]}, {PASS} {_BORDERS[0]}", "dim"
        ),
    ]


def _history(screen: Screen, found: Standing) -> str:
    scores = ", ".join(
        f"{at}: {score:g} {verdict_of([score]).band}" for at, score in enumerate(found.history, 1)
    )
    line = curve(found.history, draws=screen.draws)
    return f"  {'history'.ljust(_NAMES)}  {line}{'  ' if line else ''}{scores}"


def _asks(screen: Screen, found: Standing) -> list[str]:
    if found.history and verdict_of(found.history).escalates:
        failed = sum(verdict_of([score]).band != PASS for score in found.history)
        words = f"{failed} iterations have failed, {FAILING_AT_MOST} are the most: ask a person."
        return [screen.paint(words, "bad")]
    return []

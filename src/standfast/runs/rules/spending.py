"""What agents cost: summed over every command of a lane or a run, however it ended. Pure."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.runners import registry
from standfast.runners.registry import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LONGEST = 30
_MOST = Decimal(10) ** 9


class Spent(NamedTuple):
    """Money, tokens and time; what a client did not say counts for nothing."""

    cost_usd: Decimal = Decimal(0)
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


def total(ended: Iterable[Mapping[str, Any]]) -> Spent:
    """The sum of the records of commands, as the journal has them, in their order."""
    every = list(ended)
    took = (each.get("seconds") for each in every)
    seconds = sum(each for each in took if isinstance(each, float))
    calls = (_call(each.get("report") or {}) for each in every)
    return Spent(*registry.spent(calls), round(seconds, 3))


def _call(report: Mapping[str, Any]) -> tuple[str, Report]:
    return str(report.get("kind")), Report(
        session=str(report.get("session") or ""),
        cost_usd=str(cost(report.get("cost_usd"))),
        tokens_in=_count(report.get("tokens_in")),
        tokens_out=_count(report.get("tokens_out")),
    )


def cost(said: object) -> Decimal:
    """An amount as a client said it; what is none is nothing."""
    if not isinstance(said, str) or len(said) > _LONGEST:
        return Decimal(0)
    try:
        found = Decimal(said)
    except InvalidOperation:
        return Decimal(0)
    return found if found.is_finite() and 0 <= found < _MOST else Decimal(0)


def _count(said: object) -> int:
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else 0


def facts(ended: Mapping[str, Any]) -> dict[str, str]:
    """What a step tells of the run that it was."""
    report = ended.get("report") or {}
    told = ("session", "cost_usd", "tokens_in", "tokens_out")
    said = {name: str(report[name]) for name in told if report.get(name)}
    return {**said, "seconds": str(ended.get("seconds"))} if said else {}

"""How sure a count is: the exact 95 % interval of a rate of rare events (Garwood's). Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_TAIL = 0.025
_STEPS = 80


def per_kill(events: int, kills: int) -> tuple[float, float]:
    """The rates between which the true one lies, with 95 % confidence."""
    if kills == 0:
        return 0.0, math.inf
    most = 4.0 * (events + 5)
    low = _where(lambda mean: 1 - _at_most(events - 1, mean) > _TAIL, most) if events else 0.0
    high = _where(lambda mean: _at_most(events, mean) < _TAIL, most)
    return low / kills, high / kills


def _at_most(events: int, mean: float) -> float:
    """The chance of so few events, or fewer, where *mean* are expected (Poisson)."""
    if mean <= 0:
        return 1.0
    logs = (n * math.log(mean) - mean - math.lgamma(n + 1) for n in range(events + 1))
    return math.fsum(map(math.exp, logs))


def _where(is_beyond: Callable[[float], bool], most: float) -> float:
    """The mean at which this becomes true, by halving."""
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return high

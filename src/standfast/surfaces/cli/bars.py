"""Bars and curves of shares from 0 to 1: blocks in a terminal, ASCII in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_STEPS = "▁▂▃▄▅▆▇█"
_LOW = 0.5  # of a curve: gates live in the upper half, and below it all is as bad


def bar(share: Decimal | float, width: int, *, draws: bool) -> str:
    """A bar of *width* characters."""
    filled = float(share) * width
    if not draws:
        return ("#" * round(filled)).ljust(width, ".")
    eighths = int(filled * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).ljust(width)


def ruler(marks: Sequence[Decimal], width: int, *, draws: bool) -> str:
    """A line under bars, with a mark at each border."""
    at = {int(float(mark) * width) for mark in marks}
    dash, mark = ("─", "┴") if draws else ("-", "^")
    return "".join(mark if place in at else dash for place in range(width))


def curve(shares: Sequence[float], *, draws: bool) -> str:
    """How shares went up and down, a character each; nothing where it cannot be drawn."""
    if not draws:
        return ""
    return "".join(_STEPS[_step(share)] for share in shares)


def _step(share: float) -> int:
    above = max(0.0, (share - _LOW) / (1 - _LOW))
    return min(len(_STEPS) - 1, int(above * len(_STEPS)))

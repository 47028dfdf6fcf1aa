"""Times as people write them in plans: `90s`, `45m`, `2h`, or plain seconds. Pure."""

from __future__ import annotations

import re

LONGEST_S = 7 * 24 * 3600.0
PATTERN = r"[0-9]{1,6}(?:\.[0-9]{1,3})?[smh]?"
_TIME = re.compile(PATTERN)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(said: object) -> float | None:
    """How long that is; None if it is no time, or longer than a week."""
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    text = str(said)
    if len(text) > 12 or _TIME.fullmatch(text) is None:  # noqa: PLR2004  # the longest that fits
        return None
    unit = _UNITS.get(text[-1])
    found = float(text[:-1]) * unit if unit else float(text)
    return found if 0 < found <= LONGEST_S else None


def shown(length_s: float) -> str:
    """The same as text, in the largest unit that leaves no rest."""
    for unit, size in (("h", 3600), ("m", 60)):
        if length_s >= size and length_s % size == 0:
            return f"{int(length_s // size)}{unit}"
    return f"{length_s:.3f}".rstrip("0").rstrip(".") + "s"

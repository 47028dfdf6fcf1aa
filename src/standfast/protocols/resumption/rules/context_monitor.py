"""How full the context is: tiers, the crossing of one, and the tag that tells a model. Hook path.

Parts of ten thousand, in whole numbers: 110,000 of 200,000 is .55 exactly, where floats say that
it is a little less. What is not known is unknown, never 0.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.protocols.resumption.rules.staleness import Staleness

NOMINAL, LOW, WARNING = "NOMINAL", "LOW", "WARNING"
CRITICAL, EMERGENCY = "CRITICAL", "EMERGENCY"
UNKNOWN = "UNKNOWN"
TIERS = (NOMINAL, LOW, WARNING, CRITICAL, EMERGENCY)
THRESHOLDS = (0.55, 0.70, 0.80, 0.88)  # where each tier but the first begins
WINDOW = 200_000
LARGE_WINDOW = 1_000_000
LARGE_MODEL = "[1m]"
DROP_TOKENS, DROP_TO = 10_000, 80  # a compaction: this many fewer, to under this many of a hundred

_WHOLE = 10_000
_FIGURES = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_ACTIONS = {
    NOMINAL: "None.",
    LOW: "Keep the resumption section current.",
    WARNING: "Update the resumption section now; finish what is begun before starting more.",
    CRITICAL: "Write a checkpoint and update the resumption section before anything else.",
    EMERGENCY: "Compaction is imminent: write a checkpoint at once and start nothing new.",
    UNKNOWN: "The fill is not known: keep the resumption section current.",
}


class Fill:
    """Tokens in a window; tokens that are None are not known."""

    __slots__ = ("tokens", "window")

    def __init__(self, tokens: int | None, window: int) -> None:
        self.tokens = tokens
        self.window = window

    @property
    def parts(self) -> int | None:
        """Parts of ten thousand, at most all of them; cut and not rounded."""
        if self.tokens is None or self.window < 1:
            return None
        return min(self.tokens * _WHOLE // self.window, _WHOLE)

    @property
    def share(self) -> float | None:
        """From 0 to 1 in four places; None is unknown."""
        parts = self.parts
        return None if parts is None else parts / _WHOLE

    def tier(self, thresholds: Sequence[float] = THRESHOLDS) -> str:
        """The tier, or UNKNOWN."""
        if self.tokens is None or self.window < 1:
            return UNKNOWN
        filled = self.tokens * _WHOLE
        return TIERS[sum(filled >= round(at * _WHOLE) * self.window for at in thresholds)]


def check_thresholds(value: object) -> tuple[float, ...]:
    """The setting: four shares that rise, each between 0 and 1; a ValueError says what is wrong."""
    if not isinstance(value, (list, tuple)) or len(value) != len(THRESHOLDS):
        raise ValueError(f"is not a list of {len(THRESHOLDS)} shares")
    for number, each in enumerate(value):
        if isinstance(each, bool) or not isinstance(each, (int, float)):
            from standfast.formats.value_places import Faulty  # for commands: hooks pass over it

            raise Faulty("names a share that is no number", (number,))
    if not all(low < high for low, high in zip((0, *value), (*value, 1), strict=True)):
        raise ValueError("does not rise from above 0 to below 1")
    return tuple(float(each) for each in value)


def window_of(model: str, override: int | None = None) -> int:
    """How many tokens fit: as set by hand, or as the model's name says."""
    if override:
        return override
    return LARGE_WINDOW if model.endswith(LARGE_MODEL) else WINDOW


def tokens_of(usage: Mapping[str, object] | None) -> int | None:
    """What a client's own figures add up to; None where they are missing or no figures."""
    if usage is None or _FIGURES[0] not in usage:
        return None
    figures = [usage.get(name, 0) for name in _FIGURES]
    if any(type(each) is not int or each < 0 for each in figures):
        return None
    return sum(each for each in figures if isinstance(each, int))


def was_compacted(before: int | None, after: int | None) -> bool:
    """Whether a drop within one session can only have been a compaction."""
    if before is None or after is None:
        return False
    return before - after > DROP_TOKENS and after * 100 < before * DROP_TO


def crossing(kept: str, seen: str) -> tuple[str, bool]:
    """The tier to keep, and whether T7 fires: once a transition, and never for what is unknown.

    A session begins at NOMINAL; a reading that fails neither crosses nor forgets the last one.
    """
    before = NOMINAL if kept not in TIERS else kept
    return (before, False) if seen not in TIERS else (seen, seen != before)


def is_shown(tier: str, staleness: Staleness) -> bool:
    """Whether the tag goes with a prompt: the context fills up, or the section is not FRESH."""
    return staleness.warns or tier not in {NOMINAL, UNKNOWN}


def tag(fill: Fill, staleness: Staleness, thresholds: Sequence[float] = THRESHOLDS) -> str:
    """What a model is told; every word in it is ours."""
    tier, parts = fill.tier(thresholds), fill.parts
    known = parts is not None
    percent = f"{parts // 100}.{parts % 100 // 10}%" if parts is not None else "unknown"
    return (
        "<context-monitor>\n"
        f"  <fill-percentage>{percent}</fill-percentage>\n"
        f"  <tier>{tier}</tier>\n"
        f"  <token-count>{fill.tokens if known else 'unknown'}</token-count>\n"
        f"  <context-window>{fill.window}</context-window>\n"
        f"  <monitoring-ok>{'true' if known else 'false'}</monitoring-ok>\n"
        f"  <action>{_ACTIONS[tier]}</action>\n"
        f"  Resumption staleness: {staleness}\n"
        "</context-monitor>\n"
    )

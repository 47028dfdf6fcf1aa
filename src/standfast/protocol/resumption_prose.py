"""What prose says of where the work is: `Phase 2 is done, Phase 3 in progress`. Pure."""

from __future__ import annotations

import re

from standfast.protocol.text import printable

_LONGEST = 20_000
_BEFORE = 40  # characters before a phase's name that say how it stands
_PHASE = re.compile(
    r"phases?[\s_#:.*`-]{0,4}(\d{1,6})"
    r"((?:\s{0,2}(?:-|\u2013|to|through|and|&|,|\+)\s{0,2}\d{1,3}(?!\d))*)",
    re.IGNORECASE | re.ASCII,
)
_AHEAD = re.compile(
    r"(?:next|then|before|ready for|ready to (?:start|begin)|proceed(?:ing)? to"
    r"|continue (?:with|to)|go(?:ing)? (?:on )?(?:to|with)|waits? for|pending|begin)\W{0,4}"
    r"(?:with |to |the |is |start |begin |run )?$",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"(?:currently|now|presently|working (?:on|through)|at work (?:on|in)|busy with|\bin)"
    r"\W{1,3}(?:in |on |at )?$",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"^\W{0,4}(?:is |are )?(?:\(?next|pending|not started|not begun|to come|can start|starts? next"
    r"|will|ready|todo|blocked)",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\b(?:in progress|in_progress|running|under way|underway|started|executing|active|ongoing"
    r"|half|partial(?:ly)?|current)\b",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:complete|completed|done|finished|passed)\b", re.IGNORECASE)
_ALL_OVER = re.compile(
    r"\b(?:workflow|project|all phases|everything|all work)\b(?: \w+){0,3}?[\s:]{1,3}"
    r"(?:is |are |now )?(?:complete|completed|done|finished)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|until|once|when|after|before|un|nearly|almost)\b", re.IGNORECASE)


def phase_in(prose: str) -> int | None:
    """The phase that the work is in: one that runs, else the last that is over, else the first."""
    text = printable(prose[:_LONGEST])
    named = list(_PHASE.finditer(text))
    running: list[int] = []
    over: list[int] = []
    other: list[int] = []
    for at, found in enumerate(named):
        last = re.findall(r"\d+", found[2])[-1:] or [found[1]]
        end = named[at + 1].start() if at + 1 < len(named) else len(text)
        clause = re.split(r"[.;\n]\s|\n", text[found.end() : end], maxsplit=1)[0]
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        if _AHEAD.search(before) or _WAITS.match(clause):
            continue
        is_running = _NOW.search(before) or _RUNS.search(clause)
        place = running if is_running else over if _OVER.search(clause) else other
        place.append(int(last[0]))
    if running:
        return running[-1]
    return max(over) if over else next(iter(other), None)


def is_over(prose: str) -> bool:
    """Whether the whole work is said to be over."""
    found = _ALL_OVER.search(printable(prose[:_LONGEST]))
    return (
        found is not None and _NOT.search(prose[max(0, found.start() - 20) : found.end()]) is None
    )

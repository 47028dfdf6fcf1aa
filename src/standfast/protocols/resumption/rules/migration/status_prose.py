"""How the work stands, as prose says it: `Phase 4 of 6 - Hardening: paused until Monday`. Pure.

Only what is said of the work as a whole counts, or of the phase that it is in: a gate that failed
once, or tests that did, say nothing of the workflow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.protocols.resumption.rules.migration.phase_prose import AHEAD, mentions, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLETE = "COMPLETE"
_WORDS: Mapping[str, str] = {
    "PAUSED": r"paused|on hold|suspended|parked|halted|stopped|interrupted|blocked",
    "FAILED": r"failed|aborted|crashed",
    "CANCELLED": r"cancell?ed|abandoned|called off",
}
_ANY = "|".join(f"(?P<{status}>{words})" for status, words in _WORDS.items())
_DASH = r"[-\u2013\u2014]"
_PHASE = (
    rf"phase[ _#-]?(?P<phase>\d{{1,4}})(?: (?:of|/) \d{{1,4}})?(?: ?\([^()\n]{{0,60}}\))?"
    rf"(?: ?(?:{_DASH}|:) ?[^\n:.,;()]{{0,60}}?(?= ?[:,(]| {_DASH} ))?"
)
_WORK = r"(?:the |this |whole ){0,2}(?:workflow|project|orchestration|run|pipeline|work|everything)"
_STANDS = re.compile(
    rf"(?:^|(?<=[.;!?\n])\s?)\W{{0,4}}(?:status\W{{1,3}})?(?:(?:{_WORK}|{_PHASE})[ ]?)?"
    rf"(?:[:,]|{_DASH})?[ ]?(?:(?:is|was|has|have|are|been|now|currently) ){{0,3}}(?:{_ANY})"
    rf"(?=\s*(?:$|[.,;:!)(\n]|{_DASH}|(?:by|on|until|till|for|because|since|due|at|after|pending"
    r"|as|while|in|with|over|and|again|permanently|today|yesterday|\d)\b))",
    re.IGNORECASE | re.ASCII,
)
_ALL_OVER = re.compile(
    r"\b(?:workflow|project|(?:all|every) (?:\d{1,4} )?phases?|everything|all work)(?![^\W_])"
    r"(?: \w+){0,3}?[\s:_-]{1,3}(?:is |are |now )?(?:complete|completed|done|finished)\b",
    re.IGNORECASE,
)
_HEAD = re.compile(
    rf"\W{{0,4}}(?:status\W{{1,3}})?(?:all )?(?:complete|completed|done|finished)"
    rf"(?=\s*(?:$|[.,;!(\n]|{_DASH}\s))",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|until|once|when|after|before|un|nearly|almost)\b", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\b(?:in progress|in_progress|under way|underway|running|ongoing|resumed|restarted|retry\w*"
    r"|rework\w*|being \w+ed|back (?:at|to) work)\b",
    re.IGNORECASE,
)
_IS_LEFT = re.compile(r"\b(?:next|remaining|remains|todo|to do|pending)\b", re.IGNORECASE)
_CLOSE = 20  # characters before a word in which it is denied


def status_in(prose: str) -> str | None:
    """The status that prose gives the work; None where it says nothing of that."""
    text = text_of(prose)
    return COMPLETE if _is_over(text) else _stopped(text)


def _is_over(text: str) -> bool:
    found = _ALL_OVER.search(text)
    if found is not None:
        return _NOT.search(text[max(0, found.start() - _CLOSE) : found.end()]) is None
    goes_on = _GOES_ON.search(text) or _IS_LEFT.search(text)
    return _HEAD.match(text) is not None and goes_on is None


def _stopped(text: str) -> str | None:
    """What stopped stays so unless a later word says that it goes on, or names another phase."""
    for found in _STANDS.finditer(text):
        rest = text[found.end() :]
        phases = {each.number for each in mentions(rest) if each.stands != AHEAD}
        goes_on = found["phase"] is not None and bool(phases - {int(found["phase"])})
        if not goes_on and _GOES_ON.search(rest) is None:
            return next(status for status in _WORDS if found[status])
    return None

"""What prose says of where the work is: `Phase 2 is done, Phase 3 in progress`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.protocols.resumption.rules import plain_values
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocols.resumption.rules.section_schema import Section

AHEAD, RUNS, OVER, NAMED = "ahead", "runs", "over", "named"
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
    r"\W{0,4}(?:is |are )?(?:\(?next|pending|not started|not begun|to come|can start|starts? next"
    r"|will|ready|todo|blocked)",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\b(?:in progress|in_progress|running|under way|underway|started|executing|active|ongoing"
    r"|half|partial(?:ly)?|current)\b",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:complete|completed|done|finished|passed)\b", re.IGNORECASE)
_OF = r"(?:[ ]?(?:of|/)[ ]?\d{1,4})?"
_NAMED = (
    re.compile(rf"{_OF}[ ]?\((?P<name>[^()\n]{{2,40}})\)"),
    re.compile(
        rf"{_OF}[ ]?(?:[:\u2013\u2014]|-(?=[ ]))[ ]?(?P<name>[^\W\d_][\w /&+-]{{1,40}}?)"
        r"(?=[:.,;(\n]|$|[ ][-\u2013\u2014][ ])"
    ),
)
# What a phase is called, before what is said of it.
_TITLE = re.compile(
    rf"{_OF}[ ]?(?:\([^()\n]{{0,60}}\)|[-\u2013\u2014][ ]?[^:,.;()\n]{{0,60}}(?=:))?"
)
_LONGEST_NAME = 3  # words: more of them are a sentence


class Mention(NamedTuple):
    """A phase that is named, and how it is said to stand."""

    number: int
    at: int  # where its name begins
    end: int
    stands: str


def text_of(prose: str) -> str:
    """As much of it as is looked at, in its lines."""
    return printable(prose[:_LONGEST], keep_newlines=True)


def mentions(text: str) -> Iterator[Mention]:
    """Every phase in a text, in its order."""
    named = list(_PHASE.finditer(text))
    for at, found in enumerate(named):
        last = re.findall(r"\d+", found[2])[-1:] or [found[1]]
        end = named[at + 1].start() if at + 1 < len(named) else len(text)
        clause = re.split(r"[.;\n]\s|\n", text[found.end() : end], maxsplit=1)[0]
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        yield Mention(int(last[0]), found.start(), found.end(), _stands(before, clause))


def _stands(before: str, clause: str) -> str:
    named = _TITLE.match(clause)
    if _AHEAD.search(before) or _WAITS.match(clause, named.end() if named else 0):
        return AHEAD
    if _NOW.search(before) or _RUNS.search(clause):
        return RUNS
    return OVER if _OVER.search(clause) else NAMED


def phase_in(prose: str, *, is_over: bool = False) -> int | None:
    """The phase that the work is in: one that runs, else the last that is over, else the first.

    Of work that *is_over* only the last that is over: what else is named is history.
    """
    by: dict[str, list[int]] = {RUNS: [], OVER: [], NAMED: [], AHEAD: []}
    for each in mentions(text_of(prose)):
        by[each.stands].append(each.number)
    if by[RUNS] and not is_over:
        return by[RUNS][-1]
    others = () if is_over else by[NAMED]
    return max(by[OVER]) if by[OVER] else next(iter(others), None)


def name_in(prose: str, number: int | None) -> str:
    """What prose calls a phase: `Phase 2 (Drafting)`, `Phase 4 of 6 - Hardening: …`."""
    text = text_of(prose)
    for each in mentions(text):
        found = (form.match(text, each.end) for form in _NAMED if each.number == number)
        names = (match["name"].strip() for match in found if match is not None)
        name = next((name for name in names if _is_name(name)), "")
        if name:
            return name
    return ""


def _is_name(words: str) -> bool:
    says_how = _RUNS.search(words) or _OVER.search(words) or _WAITS.match(words)
    return not (
        says_how
        or plain_values.status(words) is not None
        or any(map(str.isdigit, words))
        or len(words.split()) > _LONGEST_NAME
    )


def other_phase(state: Section) -> int | None:
    """The phase that the words of a state speak of, where its number is another."""
    is_over = state["workflow_status"] == "COMPLETE"
    spoken_of = phase_in(state["current_activity"], is_over=is_over)
    return None if spoken_of == state["current_phase"] else spoken_of

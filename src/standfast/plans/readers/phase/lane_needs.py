"""What a lane of a phase plan waits for, in whatever words: lanes, gates, phases, nobody. Pure.

`SL-DB, IF-0-P1-TYPES`, `(none - foundation lane)`, `SL-1 to SL-3`, `all other lanes`, `(Phase 2)`.
Whatever was assumed is told; what cannot be understood stays as it stands, and is no lane.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.markdown_plan import unmarked
from standfast.plans.readers.phase import interface_gates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.plans.readers.markdown_plan import Field
    from standfast.plans.readers.mentions import Mentions
    from standfast.plans.readers.phase.interface_gates import Gates

_REMARK = re.compile(r"\(([^()]*)\)")
_SAYS_SO = re.compile(
    r"(?:it )?(?:depends on|needs|after|requires|waits for|blocked by)\b", re.IGNORECASE
)
_ALL = re.compile(r"(?:all|every|everything|each)\b(.*)", re.IGNORECASE | re.DOTALL)
_BEFORE = re.compile(r"\b(?:previous|above|earlier|before|prior|preceding)\b", re.IGNORECASE)
_SPAN = re.compile(
    r"(\S+?)(?:\s*(?:\.\.\.?|…|\u2013|—)\s*|\s+(?:-|to|through|thru)\s+)(\S+)", re.IGNORECASE
)
_BUT = re.compile(r"\b(?:except(?: for)?|but(?: not)?)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"\b(?:with|alongside|beside|parallel|independent|not|no|without|before|except)\b",
    re.IGNORECASE,
)  # words that say the opposite
_LONGEST_SPAN = 160
_BOTH = 2
_PHASE = re.compile(r"\b(?:phase[ -]?|p)([0-9]{1,4}[a-z]?)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\s:/'\u2019]+")
_FILLING = """
lane lanes the a after from on of interface interfaces gate gates frozen only swim done complete
completed merged finished first task tasks and s be is must when ready all part partial partially
"""
_ARTICLES = frozenset(("the", "lane", "lanes", "swim"))
_FILLERS = frozenset(_FILLING.split())


class Names(NamedTuple):
    """What can be named in a phase."""

    lanes: Mapping[str, str]  # by themselves in small letters, in the plan's order
    titles: Mapping[str, str]  # the same, by their titles
    whose: Mapping[str, str]  # task -> lane
    gates: Gates
    words: frozenset[str]  # by which lanes could be meant
    mentions: Mentions

    def lane(self, word: str) -> str | None:
        """The lane that one word means, a task of it too: `SL-1.T2`."""
        whole = self.lanes.get(word.lower()) or self.whose.get(word)
        return whole or self.lanes.get(word.rpartition(".")[0].lower())


class _Wait(NamedTuple):
    """One thing that a field says, on its way to lanes."""

    of: str
    line: int
    names: Names
    found: list[Finding]

    def assume(self, said: str, meant: str) -> None:
        self.found.append(warning(self.line, f"{quoted(said)} is taken for {meant}"))


def waits(
    field: Field | None, of: str, names: Names, found: list[Finding], *, blocks: bool = False
) -> dict[str, int]:
    """The lanes that a field of the lane *of* means, each with its line.

    *blocks*: it says who waits for the lane, so that gates and later phases are only words.
    """
    made: dict[str, int] = {}
    for line, text in _texts(field):
        here = _Wait(of, line, names, found)
        for piece in _pieces(text, here):
            for lane in names.mentions.count(_lanes(piece, here, blocks=blocks), line):
                made.setdefault(lane, line)
    return made


def of_text(text: str, line: int, of: str, names: Names, found: list[Finding]) -> list[str]:
    """The lanes that some words mean; those that lead nowhere stay as they stand."""
    here = _Wait(of, line, names, found)
    return [lane for piece in _pieces(unmarked(text), here)
            for lane in names.mentions.count(_lanes(piece, here, blocks=False), line)]  # fmt: skip


def remarked(field: Field | None, of: str, names: Names, found: list[Finding]) -> dict[str, int]:
    """The lanes that a remark names: `no (depends on SL-DSL)`."""
    said = _SAYS_SO.search(unmarked(field.value)) if field else None
    if field is None or said is None:
        return {}
    text = unmarked(field.value)[said.end() :].partition(")")[0]
    here = _Wait(of, field.line, names, found)
    lanes = [lane for piece in plan_words.apart(text) for lane in _lanes(piece, here, blocks=False)]
    known = [each for each in lanes if each in names.lanes.values()]
    return dict.fromkeys(known, field.line)


def _texts(field: Field | None) -> Iterator[tuple[int, str]]:
    if field is not None:
        yield field.line, unmarked(field.value)
        yield from ((line.number, unmarked(line.words)) for line in field.more)


def _pieces(text: str, here: _Wait) -> list[str]:
    """What stands between commas, without remarks; a remark that names a dependency is one."""
    remarks = _REMARK.findall(text)
    bare = _REMARK.sub(" ", text).strip(" .,;")
    if not bare:  # all of it is in brackets
        bare, remarks = " ".join(remarks), []
    is_bare = plan_words.is_none(bare) or plan_words.yes_or_no(bare) is not None
    said = [] if is_bare else plan_words.apart(bare)
    _tell_besides(bare if is_bare else "", here)
    for remark in remarks:
        if _SAYS_SO.match(remark.strip()):
            here.assume(f"({remark})", "something that it depends on")
            said += plan_words.apart(_SAYS_SO.sub("", remark.strip(), count=1))
    return [each for each in said if not plan_words.is_none(each)]


def _tell_besides(text: str, here: _Wait) -> None:
    """What names a lane beside `none`: it is not waited for, and might be meant to be."""
    for piece in plan_words.apart(text):
        words = [each.strip(".,;") for each in _WORD.findall(piece)]
        lanes = [each for each in map(here.names.lane, words) if each not in (None, here.of)]
        if not lanes and not interface_gates.named(piece):
            continue
        if _BESIDE.search(piece):
            problem = f"{quoted(piece)} is not taken for something that it waits for"
            here.found.append(warning(here.line, problem))
        else:
            problem = f"{quoted(piece)} stands beside `none`, and names what could be waited for"
            here.found.append(Finding(here.line, problem, "Write only one of them."))


def _lanes(piece: str, here: _Wait, *, blocks: bool) -> list[str]:
    names = here.names
    if piece.lower() in names.lanes:
        return [names.lanes[piece.lower()]]
    if (every := _all(piece, here)) or (every := _span(piece, here)):
        return every
    words = [each.strip(".,;") for each in _WORD.findall(piece)]
    lanes = [lane for each in words if (lane := names.lane(each))]
    gates = interface_gates.named(piece)
    if _is_elsewhere(piece, lanes, here, blocks=blocks):
        return []
    if lanes and _BESIDE.search(piece):
        problem = f"{quoted(piece)} is not taken for something that it waits for"
        here.found.append(warning(here.line, problem))
        return []
    if lanes or gates:
        _tell_rest(piece, words, here)
        if blocks and gates and not lanes:
            here.found.append(warning(here.line, f"{quoted(piece)} is not read"))
        return [*lanes, *(() if blocks else _providers(gates, here))]
    return _guessed(piece, here)


def _all(piece: str, here: _Wait) -> list[str]:
    """`all other lanes`, `all previous lanes`."""
    if piece.lower() == "both" and len(others := _others(here)) == _BOTH:
        here.assume(piece, ", ".join(others))
        return others
    piece, _, spared = _BUT.sub("\n", piece, count=1).partition("\n")
    but = {here.names.lane(each.strip(".,;")) for each in _WORD.findall(spared)}
    said = _ALL.match(piece)
    rest = said[1].lower() if said else ""
    if said is None or any(here.names.lane(each) for each in _WORD.findall(rest)):
        return []
    if _PHASE.search(rest) or not set(_WORD.findall(rest)) <= _FILLERS | {
        "other", "others", "else", "previous", "above", "earlier", "before", "prior", "preceding"
    }:  # fmt: skip
        return []
    order = [each for each in here.names.lanes.values() if each not in but]
    before = list(takewhile(lambda each: each != here.of, order)) if _BEFORE.search(rest) else order
    lanes = [each for each in before if each != here.of]
    here.assume(f"{piece} {spared}".strip(), ", ".join(lanes) or "nobody")
    return lanes


def _others(here: _Wait) -> list[str]:
    return [each for each in here.names.lanes.values() if each != here.of]


def _span(piece: str, here: _Wait) -> list[str]:
    """`SL-1 to SL-3`, in the order in which the lanes stand."""
    said = _SPAN.fullmatch(piece) if len(piece) <= _LONGEST_SPAN else None
    first, last = (here.names.lanes.get(said[at].lower()) for at in (1, 2)) if said else ("", "")
    if not first or not last:
        return []
    order = list(here.names.lanes.values())
    lanes = order[order.index(first) : order.index(last) + 1]
    here.assume(piece, ", ".join(lanes))
    return lanes


def _is_elsewhere(piece: str, lanes: list[str], here: _Wait, *, blocks: bool) -> bool:
    """Whether it speaks of another phase: what was before this one is there already."""
    if interface_gates.named(piece) or here.names.lane(piece):
        return False
    said = next((each for each in _PHASE.finditer(piece) if not here.names.lane(each[0])), None)
    own = here.names.gates.phase
    if said is None or interface_gates.is_same(said[1], own):
        return False
    if any(here.names.lane(each) for each in _WORD.findall(piece)) and "/" not in piece:
        return not lanes
    theirs, ours = interface_gates.number(said[1]), interface_gates.number(own)
    if not blocks and theirs and ours and theirs > ours:
        problem = f"{quoted(here.of)} waits for {quoted(piece)}, which comes after this phase"
        here.found.append(Finding(here.line, problem, "Move one of them."))
    elif not blocks:
        here.assume(piece, "what an earlier phase has done: nothing waits for it here")
    return True


def _providers(gates: list[str], here: _Wait) -> list[str]:
    lanes: list[str] = []
    for gate in gates:
        providers = here.names.gates.providers(gate)
        others = [each for each in providers if each != here.of]
        lanes += others or providers
        whose = here.names.gates.elsewhere(gate)
        if providers:
            continue
        if whose:
            words = f"{quoted(gate)} is {whose}: nothing waits for it here"
            here.found.append(warning(here.line, words))
        else:
            problem = f"{quoted(here.of)} waits for {quoted(gate)}, which no lane provides"
            remedy = "List it under the `Interfaces Provided` of a lane."
            here.found.append(Finding(here.line, problem, remedy))
    return lanes


def _tell_rest(piece: str, words: list[str], here: _Wait) -> None:
    """Words around the names that could change what they mean."""
    left = [each for each in words
            if each.lower() not in _FILLERS and not here.names.lane(each)
            and not interface_gates.named(each) and not _PHASE.fullmatch(each)
            and any(char.isalnum() for char in each)]  # fmt: skip
    if left:
        problem = f"of {quoted(piece)} only the names are read"
        here.found.append(warning(here.line, problem))


def _guessed(piece: str, here: _Wait) -> list[str]:
    """A lane by its title or its number; else the words as they stand, which are no lane.

    Words that have nothing in common with any lane are a condition that no lane fulfils.
    """
    words = [each.strip(".,;").lower() for each in _WORD.findall(piece)]
    plain = " ".join(each for each in words if each not in _ARTICLES)
    for name in (piece.lower(), plain, f"sl-{plain}", f"sl-{plain.removeprefix('sl')}"):
        lane = here.names.lanes.get(name) or here.names.titles.get(name)
        if lane is not None:
            here.assume(piece, quoted(lane))
            return [lane]
    if len(words) > 1 and here.names.words.isdisjoint(words):
        problem = f"{quoted(piece)} is no lane: nothing waits for it here"
        here.found.append(warning(here.line, problem, "See to it before the run is begun."))
        return []
    return [piece]


def words_of(lanes: Mapping[str, str], titles: Mapping[str, str]) -> frozenset[str]:
    """Every word by which a lane could be meant."""
    parts = (each for name in (*lanes, *titles) for each in re.split(r"[^a-z0-9]+", name))
    return frozenset({*lanes, *parts}) - _FILLERS - {""}

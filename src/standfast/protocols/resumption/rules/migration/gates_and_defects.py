"""Gates and defects of a section that is nearly v2.0, as a person reads them. Pure.

Each field that is right stays as it is. Of one that is not, names, scores and counts are read out
of whatever holds them; what else was said with them is named as removed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from standfast.formats.json_schema import check
from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.plain_values import spoken
from standfast.protocols.resumption.rules.section_schema import SECTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.migration.migration_notes import Notes
    from standfast.protocols.resumption.rules.section_schema import Section

TRAJECTORY, DEFECTS = "quality_trajectory", "defect_summary"
_ID = ("id", "gate", "gate_id", "defect", "defect_id", "name")
SCORE = ("score", "final_score", "weighted_score", "composite_score", "scores", "score_history")
_WITH_SCORE = re.compile(r"([^\s:=(][^:=(]{0,80}?) ?(?:[:=] ?|\()([\d.][^()]{0,20})\)?")
_IN_WORDS = re.compile(r"(?<![\w.])(?:0?\.\d{1,6}|1\.0{1,6}|\d{1,3}(?:\.\d{1,4})? ?%)(?![\w.])")
_ITERATION = re.compile(  # `QG-2 (iteration 2)`
    r"(\S{1,80}?)[\s,:(-]{1,3}(?:iteration|iter|attempt|round|try)[\s#:]{0,2}([1-9]\d{0,3})"
    r"(?: of \d{1,4})?\)?",
    re.IGNORECASE | re.ASCII,
)
ITERATIONS = ("iterations", "iterations_used", "iteration_count", "iteration")
_WORDS = ("description", "summary", "title", "issue", "text")


def is_right(name: str, field: str, value: object) -> bool:
    """Whether a field of a sub-section is as the schema has it."""
    return not [*check(value, SECTION["properties"][name]["properties"][field])]


def quality_trajectory(
    value: Mapping[str, Any], gates: tuple[str, ...], notes: Notes, *, is_over: bool = False
) -> Section:
    """Gates with their scores, each in one place."""
    found: Section = {**value}
    history = _history(value.get("score_history"), notes)
    for field in ("gates_completed", "gates_remaining"):
        found[field] = _gates(field, value.get(field), history, notes)
    if "gates_remaining" not in value:
        found["gates_remaining"] = list(gates)
    found["gates_completed"] = list(dict.fromkeys(found["gates_completed"]))
    passed = found["gates_completed"]
    for at, gate in enumerate(found["gates_remaining"]):
        if gate in passed:
            notes.assumed((TRAJECTORY, "gates_remaining", at), "has passed: taken from these")
    rest = [each for each in found["gates_remaining"] if each not in passed]
    found["gates_remaining"] = list(dict.fromkeys(rest))
    found["score_history"] = history
    found |= _current(value, notes)
    now = found["current_gate"]
    if now and not is_over and "gates_remaining" not in value and now not in (*passed, *rest):
        found["gates_remaining"].append(now)
        notes.assumed((TRAJECTORY, "current_gate"), "is worked at: taken as one that remains")
    found["lowest_dimension"] = _text(TRAJECTORY, "lowest_dimension", value, notes)
    used = _count(TRAJECTORY, "total_iterations_used", value, notes)
    found["total_iterations_used"] = _iterations(value, history) if used is None else used
    return found


def gates_left(section: Section) -> list[str]:
    """Gates that are to come in work that is over."""
    is_complete = section["recovery_state"]["workflow_status"] == "COMPLETE"
    remaining: list[str] = section[TRAJECTORY]["gates_remaining"]
    return remaining if is_complete else []


def _iterations(value: Mapping[str, Any], history: dict[str, list[float]]) -> int:
    """Of each gate as many as it tells, or as it has scores: one that passed had one at least."""
    used = {gate: len(scores) for gate, scores in history.items()}
    for field in ("gates_completed", "gates_remaining", "score_history"):
        for gate, said in entries_of(value.get(field)):
            told = plain_values.named(said, *ITERATIONS) if isinstance(said, dict) else None
            least = int(field == "gates_completed")
            used[gate] = max(used.get(gate, 0), plain_values.number(told) or 0, least)
    return sum(used.values())


def _gates(field: str, value: object, history: dict[str, Any], notes: Notes) -> list[str]:
    """Names of gates, and the scores that stand with them."""
    if value is None or is_right(TRAJECTORY, field, value):
        return value if isinstance(value, list) else []
    named = []
    for at, (gate, said) in enumerate(entries_of(value)):
        path: Path = (TRAJECTORY, field, at)
        if not gate:
            notes.removed(path, said)
            continue
        named.append(gate)
        scores = scores_in(plain_values.named(said, *SCORE) if isinstance(said, dict) else said)
        if scores and not history.get(gate):
            history[gate] = scores
        if not isinstance(said, str) and set(rest_of(said)):
            notes.removed(path, {gate: rest_of(said)})
    notes.read((TRAJECTORY, field), value, named)
    return named


def rest_of(said: object) -> Section:
    """What else is said of a gate."""
    if not isinstance(said, dict):
        return {}
    read = {*_ID, *(key for key in SCORE if scores_in(said.get(key)))}
    return {key: each for key, each in said.items() if key not in read}


def entries_of(value: object) -> Iterator[tuple[str, Any]]:
    """Names, each with what is said of it: of a list, of a mapping, of a text with commas."""
    if plain_values.is_none(value):
        return
    if isinstance(value, dict):
        yield from ((key.strip(), each) for key, each in value.items())
    elif isinstance(value, str):
        yield from (_named(each.strip()) for each in value.split(",") if each.strip())
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, dict) and len(entry) == 1 and not {*entry} & {*_ID}:
            yield next((key.strip(), each) for key, each in entry.items())
        elif isinstance(entry, dict):
            yield spoken(plain_values.named(entry, *_ID)), entry
        elif not isinstance(entry, list):
            yield spoken(entry), spoken(entry)


def _named(text: str) -> tuple[str, str]:
    """`QG-1 (0.94)`, `QG-1: 94 %` and `QG-1`."""
    found = _WITH_SCORE.fullmatch(text)
    is_score = found is not None and plain_values.score(found[2]) is not None
    return (found[1], found[2]) if found is not None and is_score else (text, text)


def _history(value: object, notes: Notes) -> dict[str, list[float]]:
    if isinstance(value, dict) and is_right(TRAJECTORY, "score_history", value):
        return {**value}
    found: dict[str, list[float]] = {}
    for at, (gate, said) in enumerate(entries_of(value) if value is not None else ()):
        scores = scores_in(said) or _each_score(said)
        if gate and (scores or said in (None, [], {})):
            found[gate] = [*found.get(gate, []), *scores]
        odd = _unread(said) if gate and scores else [said] * (said not in (None, [], {}))
        for each in odd:
            notes.removed((TRAJECTORY, "score_history", gate or at), each)
    if value is not None:
        notes.read((TRAJECTORY, "score_history"), value, found)
    return found


def _each_score(said: object) -> list[float]:
    """Those that can be read, of a list in which one cannot."""
    return [score for each in said for score in scores_in(each)] if isinstance(said, list) else []


def _unread(said: object) -> list[object]:
    every = said if isinstance(said, list) and not scores_in(said) else []
    return [each for each in every if not plain_values.is_none(each) and not scores_in(each)]


def scores_in(said: object) -> list[float]:
    """Every score in one place, in its order; none where one of them cannot be read."""
    if isinstance(said, dict):
        one = plain_values.named(said, *SCORE)
        return scores_in([*said.values()] if one is None else one)
    if isinstance(said, str):  # `0.85 -> 0.93`
        said = re.split(r"\s*(?:->|=>|\u2192|,|;)\s*", said)
    every = said if isinstance(said, list) else [said]
    read: list[float] = []
    for each in every:
        if isinstance(each, (dict, list)):
            read += scores_in(each)
        elif plain_values.is_none(each):
            continue
        elif (score := plain_values.score(_in_words(each))) is not None:
            read.append(score)
        else:
            return []
    return read


def _in_words(said: object) -> object:
    """The one score in words: `PASS (0.93)`."""
    found = _IN_WORDS.findall(said) if isinstance(said, str) else []
    return found[0] if len(found) == 1 else said


def _current(value: Mapping[str, Any], notes: Notes) -> Section:
    """The gate that is worked at. Between two of its iterations there is none of these."""
    gate = value.get("current_gate")
    if not is_right(TRAJECTORY, "current_gate", gate):
        named = next(entries_of([gate]), ("", None))[0] or None
        notes.read((TRAJECTORY, "current_gate"), gate, named)
        gate = named
    if gate is not None and plain_values.is_none(gate):
        notes.read((TRAJECTORY, "current_gate"), gate, None)
        gate = None
    said = value.get("current_gate_iteration")
    iteration = plain_values.number(said) or None
    both = _ITERATION.fullmatch(gate) if isinstance(gate, str) and said is None else None
    if both is not None:
        notes.read((TRAJECTORY, "current_gate"), gate, f"{both[1]}; iteration {both[2]}")
        return {"current_gate": both[1], "current_gate_iteration": int(both[2])}
    if gate in (None, "") or iteration != said:
        iteration = None if gate in (None, "") else iteration
        if said != iteration:
            notes.read((TRAJECTORY, "current_gate_iteration"), said, iteration)
    return {"current_gate": gate or None, "current_gate_iteration": iteration}


def defect_summary(value: Mapping[str, Any], notes: Notes) -> Section:
    """Totals, and what is open."""
    found: Section = {**value}
    found["unresolved_defects"] = _defects(value.get("unresolved_defects"), notes)
    least = {"total_defects_found": len(found["unresolved_defects"]), "total_defects_resolved": 0}
    for field, few in least.items():
        count = _count(DEFECTS, field, value, notes)
        found[field] = few if count is None else count
    found["recurring_patterns"] = _patterns(value.get("recurring_patterns"), notes)
    found["last_gate_primary_defect"] = _text(DEFECTS, "last_gate_primary_defect", value, notes)
    return found


def _defects(value: object, notes: Notes) -> list[str]:
    field = "unresolved_defects"
    if value is None or is_right(DEFECTS, field, value):
        return value if isinstance(value, list) else []
    found = []
    for gate, said in entries_of(value):
        words = _described(said)
        found.append(f"{gate}: {words}" if gate and words and words != gate else gate or words)
    found = [each for each in found if each]
    notes.read((DEFECTS, field), value, found)
    return found


def _described(said: object) -> str:
    """What is said of a defect, all of it in one line."""
    if not isinstance(said, dict):
        return spoken(said)
    rest = {key: each for key, each in said.items() if key not in {*_ID, *_WORDS}}
    words = spoken(plain_values.named(said, *_WORDS))
    return f"{words} ({spoken(rest)})" if words and rest else words or spoken(rest)


def _patterns(value: object, notes: Notes) -> list[Section]:
    field = "recurring_patterns"
    if value is None or is_right(DEFECTS, field, value):
        return value if isinstance(value, list) else []
    found = []
    pairs = [*value.items()] if isinstance(value, dict) else [*enumerate(
        value if isinstance(value, list) else [value])]  # fmt: skip
    for key, each in pairs:
        said = {**each} if isinstance(each, dict) else {"pattern": spoken(each)}
        pattern = spoken(plain_values.named(said, "pattern", "name", *_WORDS, "id"))
        if isinstance(key, str):
            pattern = f"{key}: {pattern}" if pattern else key
        gates = said.get("gates_affected", said.get("gates"))
        named = [gate for gate, _ in entries_of(gates)] if gates is not None else []
        resolution = said.get("resolution")
        entry = {**said, "pattern": pattern, "gates_affected": [name for name in named if name]}
        if resolution is not None:
            entry["resolution"] = spoken(resolution)
        if pattern:
            found.append(entry)
    if [{"gates_affected": [], **each} for each in found] == [
        {"gates_affected": [], **each} if isinstance(each, dict) else each for _, each in pairs
    ]:
        notes.assumed((DEFECTS, field), "each now has `gates_affected`")
    else:
        notes.read((DEFECTS, field), value, [each["pattern"] for each in found])
    return found


def _count(name: str, field: str, value: Mapping[str, Any], notes: Notes) -> int | None:
    said = value.get(field)
    if said is None or is_right(name, field, said):
        return said
    if plain_values.is_none(said):
        return None
    read = plain_values.number(said)
    if read is None:
        notes.removed((name, field), said)
    else:
        notes.read((name, field), said, read)
    return read


def _text(name: str, field: str, value: Mapping[str, Any], notes: Notes) -> str | None:
    said = value.get(field)
    if is_right(name, field, said):
        return said
    read = next(entries_of([said]), ("", None))[0] or spoken(said)
    notes.read((name, field), said, read)
    return read

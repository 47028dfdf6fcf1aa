"""Gates that are told one by one, each with its status and scores, put where v2.0 has them. Pure.

`gates: {QG-1: {status: passed, score: 0.93}, QG-2: pending}` is one that passed and one to come. A
gate that says nothing of its status has passed where its last score says so, and is to come else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.migration import gates_and_defects as read
from standfast.protocols.resumption.rules.plain_values import spoken
from standfast.protocols.resumption.rules.quality_gates import PASS, verdict_of
from standfast.protocols.resumption.rules.section_schema import SECTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocols.resumption.rules.migration.migration_notes import Notes
    from standfast.protocols.resumption.rules.section_schema import Section

_GATES = ("gates", "quality_gates", "gate_status", "gate_results")
_STATUS = ("status", "state", "result", "verdict")
_FIELDS = SECTION["properties"][read.TRAJECTORY]["properties"]
_GATE = re.compile(r"(?:qg|quality[ _-]?gate|gate|g)[ _#-]?\d{1,4}[a-z]?", re.IGNORECASE | re.ASCII)
_MOST = 200  # gates


class _Gate(NamedTuple):
    """What is said of one."""

    name: str
    status: str | None  # the protocol's word
    scores: list[float]
    iterations: int | None
    rest: Section  # what has no place


def spread(part: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """The trajectory with the fields that its gates tell one by one."""
    found, gates = {**part}, list[_Gate]()
    for key, each in _told(part):
        told = [_gate(name, said) for name, said in [*read.entries_of(each)][:_MOST] if name]
        if told:
            found.pop(key)
            notes.moved((read.TRAJECTORY, key), _where(told))
            gates += told
            for gate in (gate for gate in told if gate.rest):
                notes.removed((read.TRAJECTORY, key, gate.name), gate.rest)
    return {**found, **_fields(part, gates)} if gates else part


def _told(part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """A field of gates, and gates that stand in the trajectory by themselves."""
    for key, each in part.items():
        if key in _GATES and isinstance(each, (dict, list)):
            yield key, each
        elif key not in _FIELDS and _GATE.fullmatch(str(key)) and each is not None:
            yield key, {key: each}


def _gate(name: str, said: object) -> _Gate:
    if not isinstance(said, dict):
        status = plain_values.status(said) if isinstance(said, str) else None
        return _Gate(name, status, read.scores_in(said), None, {})
    status = plain_values.status(plain_values.named(said, *_STATUS))
    iterations = plain_values.number(plain_values.named(said, *read.ITERATIONS))
    known = {*_STATUS, *read.ITERATIONS}
    rest = {key: each for key, each in read.rest_of(said).items() if key not in known}
    scores = read.scores_in(plain_values.named(said, *read.SCORE))
    return _Gate(name, status, scores, iterations, rest)


def _where(gates: list[_Gate]) -> str:
    """The field in which all of them are now, or both."""
    names = {False: "gates_remaining", True: "gates_completed"}
    fields = dict.fromkeys(names[_has_passed(gate)] for gate in gates)
    return "` and `".join(f"{read.TRAJECTORY}.{field}" for field in fields)


def _has_passed(gate: _Gate) -> bool:
    if gate.status is not None or not gate.scores:
        return gate.status == "COMPLETE"
    return verdict_of(gate.scores).band == PASS


def _fields(part: dict[str, Any], gates: list[_Gate]) -> Section:
    """Each gate goes where nobody has put it yet: a field that the section has says more."""
    named = {name for field in ("gates_completed", "gates_remaining")
             for name, _ in read.entries_of(part.get(field))}  # fmt: skip
    new = [gate for gate in gates if gate.name not in named]
    found: Section = {}
    for field, passed in (("gates_completed", True), ("gates_remaining", False)):
        names = [gate.name for gate in new if _has_passed(gate) is passed]
        found[field] = [*_as_list(part.get(field)), *names]
    scores = {gate.name: gate.scores for gate in gates if gate.scores}
    history = part.get("score_history")
    found["score_history"] = {**scores, **history} if isinstance(history, dict) else scores
    return found | _now(part, gates)


def _as_list(value: object) -> list[Any]:
    """Entries with all that is said of them."""
    if isinstance(value, list):
        return value
    return [name if name == said else {name: said} for name, said in read.entries_of(value) if name]


def _now(part: dict[str, Any], gates: list[_Gate]) -> Section:
    """The gate that is worked at, and how many iterations all of them took."""
    found: Section = {}
    runs = [gate for gate in gates if gate.status == "ACTIVE"]
    if len(runs) == 1 and not spoken(part.get("current_gate")):
        found["current_gate"] = runs[0].name
        found["current_gate_iteration"] = runs[0].iterations or None
    if "total_iterations_used" not in part and any(gate.iterations for gate in gates):
        found["total_iterations_used"] = sum(map(_iterations, gates))
    return found


def _iterations(gate: _Gate) -> int:
    """One that runs has not been counted yet."""
    said = (gate.iterations or 0) - (gate.status == "ACTIVE")
    return max(len(gate.scores), said, int(_has_passed(gate)))

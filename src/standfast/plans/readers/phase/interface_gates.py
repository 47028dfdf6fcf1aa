"""Interface gates of a phase plan, `IF-0-P1-TYPES`: which lane provides each, and when. Pure.

A gate is what lanes agree on before they begin. Whoever waits for one waits for the lane that
provides it: what that lane lists under Interfaces Provided, else whom the list of gates names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import quoted, warning
from standfast.plans.readers import markdown_tables, plan_words
from standfast.plans.readers.markdown_plan import unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.plans.findings import Finding
    from standfast.plans.readers.markdown_plan import Block, Field
    from standfast.plans.readers.phase.lane_tasks import Swimmer

PROVIDED = ("interfaces provided", "interface provided", "provides", "provided")
CONSUMED = ("interfaces consumed", "interface consumed", "consumes", "consumed")
_GATE = re.compile(r"\bIF-[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*\b")
_OWNER = re.compile(
    r"(?:owner|owned by|provider|provided by)\W{0,5}(SL-[A-Za-z0-9._-]+)", re.IGNORECASE
)
_OWNERS = ("owner", "owner lane", "owning lane", "provider", "provided by", "lane", "owned by")
_NUMBER = re.compile(r"(?:p|phase)?[ _-]?([0-9]{1,6})([a-z]?)", re.IGNORECASE)
_EVERYWHERE = "XP"


class Gates(NamedTuple):
    """Who provides what in this phase."""

    phase: str
    by_name: Mapping[str, list[str]]  # gate -> lanes

    def providers(self, gate: str) -> list[str]:
        """The lanes that provide a gate."""
        return self.by_name.get(gate.upper(), [])

    def elsewhere(self, gate: str) -> str:
        """Whose gate it is, if it is none of this phase; empty if it is."""
        _, first, *rest = gate.upper().split("-")
        if first == _EVERYWHERE:
            return "outside of this phase"
        said = next((each for each in rest[:-1] if each[:1] == "P" and each[1:2].isdigit()), "")
        if not said and first.isdigit() and int(first) > 0 and not is_same(self.phase, rest[0]):
            said = f"P{first}"  # IF-1-NAME
        return "" if not said or is_same(said, self.phase) else f"of phase {said}"


def is_same(one: str, other: str) -> bool:
    """Whether two names mean one phase: `P1`, `p1`, `Phase 1` and `1` do."""
    return one.casefold() == other.casefold() or (number(one) is not None and
                                                  number(one) == number(other))  # fmt: skip


def number(phase: str) -> tuple[int, str] | None:
    """The number in the name of a phase, if it is no more than that."""
    said = _NUMBER.fullmatch(phase.strip())
    return (int(said[1]), said[2].lower()) if said else None


def named(text: str) -> list[str]:
    """Every gate that a text names."""
    return [each.upper() for each in _GATE.findall(text)]


def listed(field: Field | None) -> dict[str, int]:
    """The gates that a field lists, each with its line."""
    found: dict[str, int] = {}
    if field is not None:
        for line, text in [(field.line, field.value), *((m.number, m.text) for m in field.more)]:
            for each in named(text):
                found.setdefault(each, line)
    return found


def gates(
    phase: str,
    swimmers: Sequence[Swimmer],
    blocks: Sequence[Block],
    names: Mapping[str, str],
    found: list[Finding],
) -> Gates:
    """All that is said of who provides what; *blocks* are the section that lists the gates."""
    by_name: dict[str, list[str]] = {}
    for swimmer in swimmers:
        for gate in listed(swimmer.first(PROVIDED)):
            by_name.setdefault(gate, []).append(swimmer.name)
    owners: dict[str, list[str]] = {}
    for line, gate, owner in _owned(blocks):
        lane = names.get(owner.lower())
        if lane is not None and gate not in by_name:
            problem = (
                f"{quoted(lane)} is taken to provide {quoted(gate)}, as the list of gates says"
            )
            found.append(warning(line, problem))
            owners.setdefault(gate, []).append(lane)
    return Gates(phase, owners | by_name)


def _owned(blocks: Sequence[Block]) -> Iterator[tuple[int, str, str]]:
    """Line, gate and owner, wherever one is named."""
    for block in blocks:
        tables, lines = markdown_tables.tables(block.lines, [])
        for table in tables:
            column = next((each for each in _OWNERS if each in table.heads), "")
            for row in table.rows if column else ():
                owners = plan_words.apart(unmarked(row.cells[column]))
                for gate in named(" ".join(row.cells.values())):
                    yield from ((row.line, gate, owner) for owner in owners)
        for line in lines:
            for owner in _OWNER.findall(line.text):
                yield from ((line.number, gate, owner) for gate in named(line.text))

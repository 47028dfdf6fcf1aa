"""What may be said with a trigger, as data: each flag with the triggers that have it.

One table for `resumption` and `gate`: a flag that a trigger's row of the matrix forbids is
refused by its name, and what has it is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.errors.base import WrongUsage
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.protocols.resumption.rules.section_schema import COMPACTION_TRIGGERS, STATUSES
from standfast.protocols.resumption.rules.triggers import TRIGGERS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

DECIDE, GATE = "decide", "gate record"
ALONE = "a composite alone is not taken, it is weighed from these"
_EVERY = (*TRIGGERS, DECIDE, GATE)


class Flag(NamedTuple):
    """One flag."""

    name: str
    ways: tuple[str, ...]  # triggers, and the commands that are one
    says: str
    how: Mapping[str, Any] = {"metavar": "WORDS"}

    @property
    def word(self) -> str:
        """As it is typed."""
        return f"--{self.name}"

    @property
    def field(self) -> str:
        """As argparse keeps it."""
        return f"said_{self.name.replace('-', '_')}"


_MANY: dict[str, Any] = {"action": "append", "metavar": "WORDS"}
_YES: dict[str, Any] = {"action": "store_true", "default": None}
_COUNT: dict[str, Any] = {"type": int, "metavar": "N"}
_GATED, _FOUND = ("T3",), ("T3", GATE)
_DECIDED = ("T3", "T6", DECIDE, GATE)

FLAGS: tuple[Flag, ...] = (
    Flag("phase", _EVERY, "the number of the phase", _COUNT),
    Flag("phase-name", _EVERY, "its name"),
    Flag("status", _EVERY, "of the workflow", {"choices": STATUSES}),
    Flag("activity", _EVERY, "what is being done, such as phase-2-agent-execution"),
    Flag("next-step", _EVERY, "what to do next, so that who resumes can begin"),
    Flag("fill", _EVERY, "how full the context is, from 0 to 1 (else as the session shows it)",
         {"type": float, "metavar": "SHARE"}),
    Flag("sections", ("T1", "T2"), "which sections of a listed file matter now; repeat it",
         {**_MANY, "metavar": "PATH=A,B"}),
    Flag("add-file", ("T2",), "a file that who resumes must read", {"metavar": "PATH"}),
    Flag("priority", ("T2",), "of that file; 1 is first", _COUNT),
    Flag("purpose", ("T2",), "why it is to be read"),
    Flag("gate", _GATED, "the gate that was scored", {"metavar": "ID"}),
    Flag("score", _GATED, f"of each dimension: {', '.join(WEIGHTS)}; {ALONE}",
         {**_MANY, "metavar": "DIMENSION=SCORE"}),
    Flag("found", _FOUND, "how many defects the iteration found", _COUNT),
    Flag("resolved", _FOUND, "how many it resolved", _COUNT),
    Flag("unresolved", _FOUND, "a defect that is open; repeat it", {**_MANY, "metavar": "ID"}),
    Flag("pattern", _FOUND, "a defect that comes again; repeat it", _MANY),
    Flag("resolution", _FOUND, "how a pattern that is known was resolved; repeat it",
         {**_MANY, "metavar": "PATTERN=HOW"}),
    Flag("primary", _FOUND, "the main defect of the iteration"),
    Flag("agent", ("T4",), "the agent that completed", {"metavar": "ID"}),
    Flag("result", ("T4",), "PASS, DONE, FAILED, … in a word or two"),
    Flag("finding", ("T4",), "what it found or made, in a line"),
    Flag("compaction", ("T5",), "how it came about", {"choices": COMPACTION_TRIGGERS}),
    Flag("acknowledge", ("T5",), "the compactions were told: you know of them", _YES),
    Flag("decision", ("T3", "T6", GATE), "what was decided, in a line"),
    Flag("rationale", _DECIDED, "why"),
    Flag("affects", _DECIDED, "a phase that it binds; repeat it", {**_MANY, **_COUNT}),
    Flag("applied", _DECIDED, "it is applied already", _YES),
    Flag("apply", ("T6", DECIDE), "a decision that is applied from now on", {"metavar": "RD-NNN"}),
)  # fmt: skip


def table() -> dict[str, list[str]]:
    """The flags that not every trigger has, by the triggers and commands that have them."""
    own = [flag for flag in FLAGS if flag.ways != _EVERY]
    return {way: [flag.word for flag in own if way in flag.ways] for way in _EVERY}


def common() -> list[str]:
    """Those that every one of them has."""
    return [flag.word for flag in FLAGS if flag.ways == _EVERY]


def configure(parser: argparse.ArgumentParser, *ways: str) -> None:
    """Declare the flags that any of *ways* has, and whose file it is."""
    parser.add_argument("--file", help="the file with the section (else `orchestration_file`)")
    for flag in FLAGS:
        if not set(ways).isdisjoint(flag.ways):
            numbers = [way for way in flag.ways if way in TRIGGERS and way in ways]
            whose = f" ({' '.join(numbers)})" if 0 < len(numbers) < len(TRIGGERS) else ""
            says = f"{flag.says}{whose}"
            parser.add_argument(flag.word, dest=flag.field, help=says, **flag.how)


def said(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was given, by the names of the flags."""
    return {flag.name: value for flag, value in _given(arguments)}


def _given(arguments: argparse.Namespace) -> Iterator[tuple[Flag, Any]]:
    for flag in FLAGS:
        value = getattr(arguments, flag.field, None)
        if value is not None:
            yield flag, value


def refuse_others(arguments: argparse.Namespace, way: str) -> None:
    """Refuse a flag that this trigger or command does not have."""
    for flag, _ in _given(arguments):
        if way not in flag.ways:
            there = ", ".join(one for one in flag.ways if one in TRIGGERS)
            remedy = f"It goes with `trigger` {there}; see `standfast resumption --help`."
            raise WrongUsage(f"{flag.word} cannot be said with {way}", remedy=remedy)

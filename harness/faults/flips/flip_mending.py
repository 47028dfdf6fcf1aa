"""What is named as damage is repaired: every fact is there again, or is named as missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from harness.faults.flips.flip_trial import (
    MENDED,
    NAMED,
    RIGHT,
    WRONG,
    Outcome,
    Told,
    answered,
    told,
    verified,
)
from standfast.journal.fallback import strays
from standfast.journal.store import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Repair = Callable[[str], list[tuple[int, int]]]  # the folder; the events that are missing


def the_repair() -> Repair | None:
    """`standfast journal repair`, where this version has it."""
    if find_spec("standfast.journal.repair.journal_repair") is None:
        return None
    repair = import_module("standfast.journal.repair.journal_repair").repair

    def mend(folder: str) -> list[tuple[int, int]]:
        journal = Journal(folder)
        try:
            missing: list[tuple[int, int]] = repair(journal).missing
            return missing
        finally:
            journal.let_go()

    return mend


def mended(folder: str, truth: Told, before: Outcome, repair: Repair) -> Outcome:
    """Repair, and ask again: every fact is there, or is named as missing, and nothing is wrong."""

    def ask() -> Outcome:
        missing = repair(folder)
        _bring_home(folder)
        lost = unnamed(truth, told(folder), missing)
        if lost:
            return Outcome(WRONG, f"after the repair nothing knows of {', '.join(lost[:5])}")
        again = verified(folder)
        return Outcome(MENDED) if again.how == RIGHT else again

    after = answered(ask)
    if after.how == NAMED:
        return Outcome(WRONG, f"{before.words}; after the repair: {after.words}")
    return after


def _bring_home(folder: str) -> None:
    """As the next command does: what does not check in the spool is told as refused."""
    journal = Journal(folder)
    try:
        strays.merge(journal, [])
    finally:
        journal.close()


def unnamed(truth: Told, found: Told, missing: Sequence[tuple[int, int]]) -> list[str]:
    """What was there and is gone without a word."""
    there = {(event.at, event.kind, event.payload) for event in found.events}
    refused = " ".join(event.payload for event in found.events if event.kind == "stray.refused")
    events = [
        f"event {event.seq}"
        for event in truth.events
        if (event.at, event.kind, event.payload) not in there
        and not any(first <= event.seq <= last for first, last in missing)
    ]
    return events + [
        f"spool slot {slot}"
        for slot, _, kind, payload, *_, at in truth.strays
        if (at, kind, payload) not in there and f"spool slot {slot}" not in refused
    ]

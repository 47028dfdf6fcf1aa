"""Bugs that the surroundings must show, each with the condition that finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.journal import decisions, locks, spool

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.writing import Writing


def deaf_spool() -> None:
    """A spool that takes everything and keeps nothing."""
    spool.keep = lambda *_given, **_named: True


def nameless_holder() -> None:
    """A wait that does not say for whom."""
    locks._holders = lambda path: ""  # noqa: ARG005  # a bug does what it likes


def skipped_id() -> None:
    """A decision takes two ids."""
    real = decisions.note

    def note(tx: Writing, *given: object, **named: object) -> str:
        tx.allot(decisions.PREFIX)
        return real(tx, *given, **named)  # type: ignore[arg-type]

    decisions.note = note


CANARIES: dict[str, tuple[str, Callable[[], None]]] = {
    "deaf spool": ("stopped holder", deaf_spool),
    "nameless holder": ("stopped holder", nameless_holder),
    "skipped id": ("small files", skipped_id),
}

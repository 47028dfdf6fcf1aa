"""Bugs that the surroundings must show, each with the condition that finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast import process, waiting
from standfast.git import special
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


def endless_git() -> None:
    """A git that may take as long as it likes."""
    real = process.run

    def run(*given: Any, **named: Any) -> process.Finished:  # noqa: ANN401  # a bug does what it likes
        return real(*given, **{**named, "timeout_s": 1e6, "slow": None})

    process.run = run


def silent_wait() -> None:
    """A wait that nobody hears of."""
    waiting.tell = lambda what: None  # noqa: ARG005  # a bug does what it likes


def blind_git() -> None:
    """Git is called wherever it is."""
    special.refuse = lambda directory: None  # noqa: ARG005  # a bug does what it likes
    special.refuse_anywhere = lambda directory, pid: None  # noqa: ARG005  # the same


CANARIES: dict[str, tuple[str, Callable[[], None]]] = {
    "deaf spool": ("stopped holder", deaf_spool),
    "nameless holder": ("stopped holder", nameless_holder),
    "endless git": ("hanging things", endless_git),
    "silent wait": ("hanging things", silent_wait),
    "blind git": ("hanging things", blind_git),
    "skipped id": ("small files", skipped_id),
}

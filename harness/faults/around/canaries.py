"""Bugs that the surroundings must show, each with the condition that finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast import wait_notice
from standfast.git import special_files
from standfast.journal import locks
from standfast.journal.fallback import spool
from standfast.journal.tables import decision_records
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.transaction import Writing


def deaf_spool() -> None:
    """A spool that takes everything and keeps nothing."""
    spool.keep = lambda *_given, **_named: True


def nameless_holder() -> None:
    """A wait that does not say for whom."""
    locks._holders = lambda path: ""  # noqa: ARG005  # a bug does what it likes


def skipped_id() -> None:
    """A decision takes two ids."""
    real = decision_records.note

    def note(tx: Writing, *given: object, **named: object) -> str:
        tx.allot(decision_records.PREFIX)
        return real(tx, *given, **named)  # type: ignore[arg-type]

    decision_records.note = note


def endless_git() -> None:
    """A git that may take as long as it likes."""
    real = programs.run

    def run(*given: Any, **named: Any) -> programs.Finished:  # noqa: ANN401  # a bug does what it likes
        return real(*given, **{**named, "timeout_s": 1e6, "slow": None})

    programs.run = run


def silent_wait() -> None:
    """A wait that nobody hears of."""
    wait_notice.tell = lambda what: None  # noqa: ARG005  # a bug does what it likes


def blind_git() -> None:
    """Git is called wherever it is."""
    special_files.refuse = lambda directory: None  # noqa: ARG005  # a bug does what it likes
    special_files.refuse_anywhere = lambda directory, pid: None  # noqa: ARG005  # the same


CANARIES: dict[str, tuple[str, Callable[[], None]]] = {
    "deaf spool": ("stopped holder", deaf_spool),
    "nameless holder": ("stopped holder", nameless_holder),
    "endless git": ("hanging things", endless_git),
    "silent wait": ("hanging things", silent_wait),
    "blind git": ("hanging things", blind_git),
    "skipped id": ("small files", skipped_id),
}

"""Bugs to plant where many write at once: each must be caught every time.

Each is called in a forked process and takes away what a promise rests on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.journal.author import USER, Author
from standfast.journal.fallback import spool
from standfast.journal.store import Journal
from standfast.journal.transaction import Writing
from standfast.journal.writer_queue import Turnstile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _nothing(*_given: object) -> None:
    """Instead of what it should do."""


def _plant(owner: object, **bugs: object) -> None:
    for name, bug in bugs.items():
        setattr(owner, name, bug)


def no_lock() -> None:
    """Nobody waits for anybody: what was read before a write may be old by then."""
    _plant(Turnstile, enter=_nothing, leave=_nothing)


def no_spool_lock() -> None:
    """Two that look for a free slot find the same one."""
    _plant(spool, _lock=_nothing)


def no_fence() -> None:
    """A token that was overtaken is as good as any."""
    _plant(Writing, fence=_nothing)


def unfair_lock() -> None:
    """SQLite's own waiting, which has no queue: who tries again at the right moment gets in."""
    no_lock()
    _plant(Journal, append=_append)


def _append(
    self: Journal,
    kind: str,
    payload: Mapping[str, object] | str,
    author: Author = USER,
    *,
    origin: str | None = None,
) -> int:
    with self.writing() as tx:
        return tx.append(kind, payload, author, origin=origin)


CANARIES: dict[str, Callable[[], None]] = {
    "no lock": no_lock,
    "no lock at the spool": no_spool_lock,
    "no fence": no_fence,
    "a lock without a queue": unfair_lock,
}

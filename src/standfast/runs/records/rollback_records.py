"""Rollbacks of lanes in the journal: what was about to be moved and where it is kept, then done.

The newest of a lane is a cell, so that a rollback that was cut short is found by whoever calls it
again, however old it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import NothingFound
from standfast.journal import questions
from standfast.journal.author import Author

if TYPE_CHECKING:
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

BEGUN, DONE = "lane.rolling_back", "lane.rolled_back"


class Told(NamedTuple):
    """One rollback of a lane."""

    run_id: str
    phase: str
    lane: str
    to_stage: str
    target: str
    branch: str
    marks: tuple[str, ...]
    backups: tuple[str, ...]  # refs, the first one first: another only if work came between
    is_done: bool = False

    @property
    def backup(self) -> str | None:
        """The newest of its refs; None where the target has all that was there."""
        return self.backups[-1] if self.backups else None


def tell(tx: Writing, told: Told, author: Author) -> None:
    """Record that it is about to be done, or that it is."""
    payload = {**told._asdict(), "backup": told.backup}
    kind = DONE if payload.pop("is_done") else BEGUN
    by = Author(author.actor, run=told.run_id, session=author.session, subdir=author.subdir)
    tx.append(kind, payload, by)


def last(journal: Journal, run_id: str, phase: str, lane: str) -> Told | None:
    """The newest rollback of a lane."""
    try:
        found = questions.cell(journal, f"rollback:{run_id}/{phase}/{lane}")
    except NothingFound:
        return None
    if found is None:
        return None
    said = found[0]
    return Told(
        run_id=run_id,
        phase=phase,
        lane=lane,
        to_stage=str(said["to_stage"]),
        target=str(said["target"]),
        branch=str(said["branch"]),
        marks=_texts(said["marks"]),
        backups=_texts(said["backups"]),
        is_done=said["kind"] == DONE,
    )


def _texts(said: object) -> tuple[str, ...]:
    return tuple(map(str, said)) if isinstance(said, list) else ()

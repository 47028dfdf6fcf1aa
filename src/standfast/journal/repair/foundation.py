"""What a rebuilt journal stands on: the base of the events that were dropped before.

The newest word about a base says which one is meant. Where only the mirror has that word, and
all that the database still knows of the same time contradicts it, the mirror is another
journal's: neither its base nor its events are ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import JournalDamaged
from standfast.journal.repair import verdicts
from standfast.journal.repair.losses import KIND
from standfast.journal.retention import dropped_events as bases
from standfast.journal.retention.dropped_events import Base
from standfast.journal.tables import folds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.repair.evidence import Claim, Claims
    from standfast.journal.tables.folds import Row


class Foundation(NamedTuple):
    """The base of the events that were dropped, and its line; none where nothing was dropped."""

    base: Base
    document: bytes | None
    is_foreign: bool = False  # whether the mirror is known to be of another journal

    @property
    def about(self) -> dict[str, object]:
        """What a repair tells of it, as a drop does."""
        if self.document is None:
            return {"through": None, "base": None}
        return {"through": self.base.through, "base": bases.digest(self.document)}


def found(claims: Claims) -> Foundation:
    """The base that the newest word about one means; where that is lost, its events are too."""
    is_foreign = False
    for claim, document in _words(claims):
        try:
            base = bases.read(document)
        except JournalDamaged:
            continue
        if claim.is_only_mirrored and (is_foreign or _is_contradicted(base, claims)):
            is_foreign = True
            continue
        return Foundation(base, document, is_foreign)
    return Foundation(Base(), None, is_foreign)


def _words(claims: Claims) -> Iterator[tuple[Claim, bytes]]:
    """Every event that tells of a base that is there, newest first."""
    held = {bases.digest(document): document for document in claims.bases}
    for seq in sorted(claims.by_seq, reverse=True):
        for claim in claims.by_seq[seq]:
            if claim.row[7] not in {folds.DROPPED, KIND}:
                continue
            try:
                document = held.get(str(json.loads(claim.row[9])["base"]))
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            if document is not None:
                yield claim, document


def _is_contradicted(base: Base, claims: Claims) -> bool:
    """Whether the database tells of the time of this base, and nothing it tells fits."""
    agrees = [
        word
        for seq in sorted(claims.by_seq)
        for claim in claims.by_seq[seq]
        if claim.is_sound and claim.is_likely and (word := _agrees(base, claim.row)) is not None
    ]
    return bool(agrees) and not any(agrees)


def _agrees(base: Base, row: Row) -> bool | None:
    """What one event says of a base; None where it says nothing."""
    seq, stream, kind, payload = row[0], row[2], row[7], row[9]
    if seq > base.through:
        return verdicts.follows(row, base.heads[stream]) if stream in base.heads else None
    if kind in {"decision.noted", "decision.amended"}:
        sql = "SELECT 1 FROM wordings WHERE text = iif(json_valid(?1), ?1 ->> 'text', NULL)"
        return base.state.execute(sql, (payload,)).fetchone() is not None
    return stream in base.heads if stream != "repo" else None

"""Bringing strays home: what a spool or an inbox kept becomes events, once each.

A stray and its id enter the journal in one transaction, and only then is its slot or file
freed: a crash in between finds the id and only frees. What cannot be taken is journalled as
refused, with its words, so that nothing vanishes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

import apsw

from standfast import disk
from standfast.errors import BadName, StandfastError
from standfast.journal import decisions, inbox, spool
from standfast.journal.author import STANDFAST
from standfast.protocol.text import bounded
from standfast.redact import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.journal.spool import Stray
    from standfast.journal.store import Journal
    from standfast.journal.writing import Writing

_EXCERPT = 1_000


class Found(NamedTuple):
    """What waits outside the journal."""

    spooled: tuple[tuple[int, Stray | None], ...]
    posted: tuple[tuple[str, Stray | str], ...]
    gaps: int

    def __bool__(self) -> bool:
        return bool(self.spooled or self.posted or self.gaps)


def look(journal: Journal, temporaries: Sequence[str]) -> Found:
    """What there is to merge; a few reads when there is nothing."""
    return Found(
        spooled=tuple(spool.strays(journal.folder)),
        posted=tuple(sorted(inbox.strays(journal.folder, temporaries), key=_when)),
        gaps=spool.gaps(journal.folder),
    )


def _when(posted: tuple[str, Stray | str]) -> int:
    return 0 if isinstance(posted[1], str) else posted[1].at


def merge(journal: Journal, temporaries: Sequence[str]) -> int:
    """Take in everything that waits; returns how many facts are new."""
    found = look(journal, temporaries)
    if not found:
        return 0
    with journal.writing() as tx:
        new = sum(_take_spooled(tx, slot, stray) for slot, stray in found.spooled)
        new += sum(_take_posted(tx, path, stray) for path, stray in found.posted)
        if found.gaps:
            tx.append(
                "gap", {"facts": found.gaps, "why": "journal and spool had no room"}, STANDFAST
            )
    _free(journal, found)
    return new


def _take_spooled(tx: Writing, slot: int, stray: Stray | None) -> bool:
    if stray is None:
        _refuse(tx, f"spool slot {slot}", "its bytes do not check")
        return True
    boot = stray.boot if not stray.boot.strip("0123456789abcdef-") else "unknown"
    origin = f"spool {boot} {stray.since_boot}"
    return _once(tx, stray, origin)


def _take_posted(tx: Writing, path: str, stray: Stray | str) -> bool:
    if isinstance(stray, str):
        name = os.path.basename(path)
        if not tx.execute("SELECT 1 FROM merged WHERE stray = ?", (name,)):
            tx.execute("INSERT INTO merged VALUES (?)", (name,))
            _refuse(tx, name, stray)
        return True
    return _once(tx, stray, inbox.ORIGIN)


def _once(tx: Writing, stray: Stray, origin: str) -> bool:
    if tx.execute("SELECT 1 FROM merged WHERE stray = ?", (stray.id,)):
        return False
    tx.execute("INSERT INTO merged VALUES (?)", (stray.id,))
    try:
        with tx.trial():  # an id that it takes goes back
            _record(tx, stray, origin)
    except (StandfastError, ValueError, OverflowError, RecursionError, apsw.Error) as error:
        _refuse(tx, origin, f"{error}: {bounded(redact(stray.payload), _EXCERPT)}")
    return True


def _record(tx: Writing, stray: Stray, origin: str) -> None:
    payload = json.loads(stray.payload)
    if not isinstance(payload, dict):
        raise BadName("the payload is not an object")
    if stray.kind == "decision.noted":  # its id could not be given out at the time
        text = payload.get("text")
        words = text if isinstance(text, str) else ""
        decisions.note(tx, words, stray.author, origin=origin, at=stray.at)
    else:
        tx.append(stray.kind, payload, stray.author, origin=origin, at=stray.at)


def _refuse(tx: Writing, what: str, why: str) -> None:
    tx.append("stray.refused", {"what": what, "why": why}, STANDFAST)


def _free(journal: Journal, found: Found) -> None:
    slots = {slot: None if stray is None else stray.id for slot, stray in found.spooled}
    if slots or found.gaps:
        spool.clear(journal.folder, slots, gaps_told=found.gaps)
    for path, stray in found.posted:
        if isinstance(stray, str):
            os.rename(path, f"{path.removesuffix('.json')}.refused")
        else:
            disk.forget(path)

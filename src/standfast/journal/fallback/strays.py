"""Bringing strays home: what a spool or an inbox kept becomes events, once each.

A stray and its id enter the journal in one transaction, and only then is its slot or file
freed: a crash in between finds the id and only frees. What cannot be taken is journalled as
refused, with its words, so that nothing vanishes.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import apsw

from standfast import disk
from standfast.errors.base import BadName, NothingFound, StandfastError
from standfast.journal import chain, questions
from standfast.journal.author import STANDFAST, USER
from standfast.journal.fallback import inbox, spool
from standfast.journal.tables import decision_records
from standfast.redaction.redactor import redact
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.journal.fallback.spool import Stray
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

_UNFIT = (apsw.ConstraintError, apsw.SQLError, apsw.MismatchError)  # the stray's fault, not ours
_GAPS = "spool:gaps"
# What hooks tell, and no more: a spool holds whatever somebody put there.
_FAMILIES = frozenset({"agent", "commit", "compaction", "session", "tasks", "tool", "turn"})
_KINDS = frozenset({"output.checked", "output.held", "output.launched", "prompt"})
_OF_PERSONS = frozenset({"session.forgotten"})
_Where = TypeVar("_Where")  # a slot, or a file


class Found(NamedTuple):
    """What waits outside the journal."""

    spooled: tuple[tuple[int, Stray | str], ...]
    posted: tuple[tuple[str, Stray | str], ...]
    gaps: int
    marks: tuple[tuple[str, str], ...]

    def __bool__(self) -> bool:
        return bool(self.spooled or self.posted or self.gaps or self.marks)


def look(
    journal: Journal, temporaries: Sequence[str], *, marks: Sequence[tuple[str, str]] = ()
) -> Found:
    """What there is to merge; a few reads when there is nothing."""
    return Found(
        spooled=_in_order(spool.strays(journal.folder)),
        posted=_in_order(inbox.strays(journal.folder, temporaries)),
        gaps=spool.gaps(journal.folder) - _told(journal),
        marks=tuple(marks),
    )


def _told(journal: Journal) -> int:
    """How many lost facts the journal knows of; the spool's own count only goes up."""
    if not journal.exists:
        return 0
    try:
        found = questions.cell(journal, _GAPS)
    except NothingFound:
        return 0
    return _number(found[0].get("told")) if found else 0


def _number(told: object) -> int:
    """A count of ours; whatever else stands there counted nothing."""
    return told if isinstance(told, int) and told >= 0 else 0


def _in_order(
    waiting: Iterator[tuple[_Where, Stray | str]],
) -> tuple[tuple[_Where, Stray | str], ...]:
    """By the clock that never jumps: only boots are told apart by the time that people set."""
    found = list(waiting)
    if not found:  # nearly always
        return ()
    told: dict[str, int] = {}
    for _, stray in found:
        if not isinstance(stray, str):
            told[stray.boot] = min(stray.at, told.get(stray.boot, stray.at))
    this = spool.boot_id()

    def when(one: tuple[_Where, Stray | str]) -> tuple[bool, int, int, int]:
        stray = one[1]
        if isinstance(stray, str):
            return False, 0, 0, 0
        since = 0 if stray.boot == "unknown" else stray.since_boot
        return stray.boot == this, told[stray.boot], since, stray.at

    return tuple(sorted(found, key=when))


def merge(
    journal: Journal, temporaries: Sequence[str], *, marks: Sequence[tuple[str, str]] = ()
) -> int:
    """Take in everything that waits; returns how many facts are new."""
    found = look(journal, temporaries, marks=marks)
    if not found:
        return 0
    with journal.writing() as tx:
        new = sum(_take_spooled(tx, slot, stray) for slot, stray in found.spooled)
        new += sum(_take_posted(tx, path, stray) for path, stray in found.posted)
        _tell_gaps(tx, spool.gaps(journal.folder))
        _tell_lost(tx, found.marks)
    _free(journal, found)
    return new


def _tell_gaps(tx: Writing, counted: int) -> None:
    """What is new of the spool's count; asked inside, because others merge at the same time."""
    rows = tx.execute("SELECT value ->> 'told' FROM cells WHERE key = ?", (_GAPS,))
    new = counted - (_number(rows[0][0]) if rows else 0)
    if new > 0:
        tx.append("gap", {"facts": new, "why": "journal and spool had no room"}, STANDFAST)
        tx.set(_GAPS, {"told": counted})


def _tell_lost(tx: Writing, marks: Sequence[tuple[str, str]]) -> None:
    """One gap for all the calls that were lost for one reason."""
    new = [why for path, why in marks if _is_new(tx, f"lost {os.path.basename(path)}")]
    for why in dict.fromkeys(new):
        payload = {"facts": new.count(why), "why": one_line(redact(why), 300)}
        tx.append("gap", payload, STANDFAST)


def _is_new(tx: Writing, mark: str) -> bool:
    if tx.execute("SELECT 1 FROM merged WHERE stray = ?", (mark,)):
        return False
    tx.execute("INSERT INTO merged VALUES (?)", (mark,))
    return True


def _take_spooled(tx: Writing, slot: int, stray: Stray | str) -> bool:
    if slot == spool.CUT_OFF:
        if not _is_new(tx, str(stray)):
            return False
        tx.append("gap", {"facts": 1, "why": f"{stray}: what stood behind is lost"}, STANDFAST)
        return True
    if isinstance(stray, str):
        return _refuse_once(tx, f"slot {slot} {stray}", f"spool slot {slot}", "it does not check")
    if (why := _unfit(stray)) is None:
        return _once(tx, stray, spool.origin(stray))
    return _refuse_once(tx, stray.id, spool.origin(stray), f"{why}: {redact(stray.payload)}")


def _unfit(stray: Stray) -> str | None:
    """Why a slot is not believed. One that came along with its directory speaks for no person."""
    is_family = stray.kind.partition(".")[0] in _FAMILIES and stray.kind not in _OF_PERSONS
    if not is_family and stray.kind not in _KINDS:
        return f"no hook tells of {stray.kind}"
    if stray.is_foreign and not (is_family and stray.author.actor != USER.actor):
        return f"it was not kept in this folder, and tells of {stray.kind}"
    return None


def _take_posted(tx: Writing, path: str, stray: Stray | str) -> bool:
    if isinstance(stray, str):
        name = os.path.basename(path)
        return _refuse_once(tx, name, name, stray)
    return _once(tx, stray, inbox.ORIGIN)


def _once(tx: Writing, stray: Stray, origin: str) -> bool:
    if not _is_new(tx, stray.id) or _was_committed(tx, stray):
        return False
    try:
        tx.trial(lambda: _record(tx, stray, origin))  # an id that it takes goes back
    except (StandfastError, ValueError, OverflowError, RecursionError, *_UNFIT) as error:
        _refuse(tx, origin, f"{error}: {redact(stray.payload)}")
    return True


def _was_committed(tx: Writing, stray: Stray) -> bool:
    """Whether the journal has it by the direct way, from a commit that was told as failed.

    When the sync of a commit fails nobody can say what will be read later: the writer took the
    fact to the spool, and the journal may have kept it all the same.
    """
    rows = tx.execute(
        "SELECT 1 FROM events WHERE stream = ?1 AND at = ?2 AND kind = ?3 AND origin IS NULL"
        " AND (NOT json_valid(?4) OR payload ->> 'id' IS ?4 ->> 'id') LIMIT 1",
        (
            chain.stream_of(stray.author.run, stray.author.session),
            *(stray.at, stray.kind, stray.payload),
        ),
    )
    return bool(rows)


def _record(tx: Writing, stray: Stray, origin: str) -> None:
    payload = json.loads(stray.payload)
    if not isinstance(payload, dict):
        raise BadName("the payload is not an object")
    if stray.kind == "decision.noted":  # its id could not be given out at the time
        text = payload.get("text")
        words = text if isinstance(text, str) else ""
        is_apart = payload.get(decision_records.APART) is True
        decision_records.note(
            tx, words, stray.author, origin=origin, at=stray.at, is_apart=is_apart
        )
    else:
        tx.append(stray.kind, payload, stray.author, origin=origin, at=stray.at)


def _refuse_once(tx: Writing, mark: str, what: str, why: str) -> bool:
    if not _is_new(tx, mark):
        return False
    _refuse(tx, what, why)
    return True


def _refuse(tx: Writing, what: str, why: str) -> None:
    tx.append("stray.refused", {"what": what, "why": why}, STANDFAST)


def _free(journal: Journal, found: Found) -> None:
    """What cannot be freed now is known by its mark, and freed another time."""
    slots = {slot: stray if isinstance(stray, str) else stray.id for slot, stray in found.spooled}
    if slots:
        spool.clear(journal.folder, slots)
    for path, stray in found.posted:
        with suppress(OSError):
            if isinstance(stray, str):
                os.rename(path, f"{path.removesuffix('.json')}.refused")
            else:
                disk.forget(path)
    for path, _ in found.marks:
        with suppress(OSError):
            disk.forget(path)

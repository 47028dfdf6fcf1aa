"""What the journal knows of agents' outputs: launches, receipts, and what people said of them.

An output goes by its absolute path, which its maker and its stage give it. Launches are counted
where the event is folded, so that one told by a hook, a spool or a stage counts once and counts
the same; the newest receipt, grant and acceptance of each are cells like any other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import NothingFound
from standfast.journal import session_process

if TYPE_CHECKING:
    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

_QUERY = "SELECT value, at FROM cells WHERE key = ?"
_FEW = 256  # a launch stands right behind the call that makes it

# Calls and subagents of clients that are not over, since the client was last started.
_BUSY = f"""
    SELECT DISTINCT call.session, sessions.process FROM (
      SELECT session, key AS call FROM work INDEXED BY work_by_state
      WHERE state IN ('open', 'background') AND what = 'call'
      UNION
      SELECT agent.session, ifnull(began.payload ->> 'call', began.payload ->> 'id')
      FROM work AS agent INDEXED BY work_by_state JOIN events AS began ON began.seq = agent.begun
      WHERE agent.state = 'open' AND agent.what = 'agent') AS busy
    JOIN work AS call ON call.session = busy.session AND call.what = 'call' AND call.key = busy.call
    JOIN events AS launched ON launched.seq BETWEEN call.begun AND call.begun + {_FEW}
      AND launched.kind = 'output.launched' AND launched.payload ->> 'call' = call.key
      AND launched.payload ->> 'path' = ?
    JOIN sessions ON sessions.session = call.session
    WHERE sessions.ended IS NULL AND sessions.forgotten = 0 AND call.begun > sessions.woke"""  # noqa: S608  # our own words


class Known(NamedTuple):
    """Everything that was recorded of one output."""

    launches: int = 0
    granted: int = 0
    receipt: dict[str, object] | None = None
    accepted: dict[str, object] | None = None
    accepted_at: int = 0
    inputs: str = ""  # the fingerprint of what it was last launched with


def known(journal: Journal, path: str) -> Known:
    """What was recorded of the output at *path*; where nothing was recorded at all, nothing."""
    try:
        return _known(journal, path)
    except NothingFound:
        return Known()


def _known(journal: Journal, path: str) -> Known:
    launched, _ = _cell(journal, f"output.launched:{path}")
    granted, _ = _cell(journal, f"output.granted:{path}")
    receipt, _ = _cell(journal, f"output.received:{path}")
    accepted, at = _cell(journal, f"output.accepted:{path}")
    return Known(
        launches=_number(launched),
        granted=_number(granted),
        receipt=receipt,
        accepted=accepted,
        accepted_at=at,
        inputs=str((launched or {}).get("inputs", "")),
    )


def _number(cell: dict[str, object] | None) -> int:
    return int(str(cell["times"])) if cell else 0


def _cell(journal: Journal, key: str) -> tuple[dict[str, object] | None, int]:
    rows = journal.query(_QUERY, (key,))
    return (json.loads(str(rows[0][0])), int(str(rows[0][1]))) if rows else (None, 0)


def launch(tx: Writing, path: str, stage: str, fingerprint: str, author: Author) -> None:
    """Say that an agent is about to be launched; it counts from here on."""
    tx.append("output.launched", {"path": path, "stage": stage, "inputs": fingerprint}, author)


def receive(journal: Journal, path: str, receipt: dict[str, object], author: Author) -> bool:
    """Keep the receipt of a valid output; the same one is not written twice."""
    with journal.writing() as tx:
        before = known(journal, path)
        if "inputs" not in receipt and (inputs := _made_from(before, receipt)):
            receipt = {**receipt, "inputs": inputs}
        if _same(before.receipt, receipt):
            return False
        tx.append("output.received", {"path": path, **receipt}, author)
    return True


def _made_from(before: Known, receipt: dict[str, object]) -> object:
    """The same bytes were made from what they were made from; others, from the last launch's."""
    had = before.receipt or {}
    return had.get("inputs") if had.get("digest") == receipt["digest"] else before.inputs


def busy_session(journal: Journal, path: str) -> str:
    """The session of a client whose subagent is at work on this output; nothing where none is.

    A subagent is gone with the client that it was begun by.
    """
    try:
        rows = journal.query(_BUSY, (path,))
    except NothingFound:
        return ""
    for session, process in rows:
        if not session_process.is_gone(None if process is None else str(process)):
            return str(session)
    return ""


def launched_in(journal: Journal, folder: str) -> list[tuple[str, str | None]]:
    """Every output below *folder* that was ever launched, and for which stage, if that was said."""
    first = f"output.launched:{folder}/"
    try:
        rows = journal.query(
            "SELECT value ->> 'path', value ->> 'stage' FROM cells WHERE key > ? AND key < ?",
            (first, f"{first[:-1]}0"),
        )
    except NothingFound:
        return []
    return [(str(path), stage) for path, stage in rows]


def _same(before: dict[str, object] | None, receipt: dict[str, object]) -> bool:
    return before is not None and all(before.get(key) == value for key, value in receipt.items())


def grant(tx: Writing, path: str, why: str, author: Author) -> None:
    """A person allows one launch more."""
    tx.append("output.granted", {"path": path, "why": why}, author)


def accept(tx: Writing, path: str, why: str, author: Author) -> None:
    """A person accepts that an output is left out."""
    tx.append("output.accepted", {"path": path, "by": author.actor, "why": why}, author)

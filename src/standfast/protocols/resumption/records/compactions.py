"""Compactions of main agents, and the documents that were worked by when they came.

The hook before a compaction leaves an event; its file is made by `files/compaction_files.py`.
Whoever may write the documents makes a T5 of the event, unacknowledged; it is acknowledged once
the agent has been told what the compaction took, which its own acts show. Told times are those of
the events: a merge or an acknowledgement that comes late must not make a section look as if
somebody had just updated it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import clock
from standfast.protocols.resumption.records import document_records, live_documents
from standfast.protocols.resumption.rules import staleness
from standfast.protocols.resumption.rules.hook_checkpoints import in_order
from standfast.protocols.resumption.rules.triggers import Acknowledged, Compaction, CompactionEvent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.journal.author import Author
    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.records.document_records import Ask

FOLDER = "checkpoints"
PREFIX = "CX"
RECOVERING, IDLE = "compaction-recovery", "idle"

_STOOD = """
    SELECT json_group_object(substr(key, 12), json_object(
      'active_phase', value -> '$.section.recovery_state.current_phase',
      'active_gate', ifnull(value ->> '$.pending.gate',
                            value ->> '$.section.quality_trajectory.current_gate'),
      'active_gate_iteration',
        ifnull(value ->> '$.pending.iteration',
               value ->> '$.section.quality_trajectory.current_gate_iteration'),
      'recovery_state', value -> '$.section.recovery_state'))
    FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'
      AND instr(?, char(10) || substr(key, 12) || char(10))"""

_ANY = "SELECT 1 FROM cells WHERE key >= 'cx:' AND key < 'cx;' LIMIT 1"

# What the event says, when, and the last thing after it that shows that the agent was told.
_ALL = """
    SELECT json_set(cells.value, '$.file', here(cells.value ->> 'file')), cells.at, (
      SELECT max(saw.at) FROM events AS told
      JOIN briefs ON briefs.session = told.session AND briefs.agent = told.actor
        AND briefs.why IN ('compact', 'resume') AND briefs.given > 0 AND briefs.seen > 0
        AND briefs.owed > told.seq
      JOIN events AS saw ON saw.seq = briefs.seen
      WHERE told.seq = cells.seq)
    FROM cells WHERE cells.key >= 'cx:' AND cells.key < 'cx;'"""


class Told(NamedTuple):
    """One compaction as its event tells it, and when its agent was seen to know of it."""

    value: dict[str, Any]
    at: int
    seen: int | None

    def file(self, root: str) -> str:
        """Where its checkpoint file is, from the root of a document."""
        return os.path.relpath(self.value["file"], root)

    @property
    def name(self) -> str:
        """By what a section knows it, from whichever root its file was told."""
        return _name(self.value["file"])

    def state(self, document: Document) -> dict[str, Any]:
        """How a document stood then."""
        documents = self.value["documents"]
        found: dict[str, Any] = documents.get(document.name) or documents[document.file]
        return found


def checkpoint(
    tx: Writing, folder: str, root: str, trigger: str, fill: float | None, at: int, author: Author
) -> str:
    """Record how the documents of a checkout stand, before a compaction takes the rest."""
    ((documents,),) = tx.execute(_STOOD, (live_documents.listed(tx.execute, root),))
    name = tx.allot(PREFIX)
    payload = {
        "id": name,
        "file": path(folder, name),
        "root": root,
        "trigger": trigger if trigger in {"auto", "manual"} else "auto",
        "timestamp": clock.rfc3339(at),
        "fill": fill,
        "documents": json.loads(str(documents)),
    }
    tx.append("compaction.checkpoint", payload, author, at=at)
    return name


def path(folder: str, name: str) -> str:
    """Where the file of a compaction is."""
    return os.path.join(folder, FOLDER, f"{name.lower()}-checkpoint.json")


def merge(tx: Writing, author: Author) -> None:
    """Every compaction that a live document does not have yet becomes a T5 of it."""
    for document, lacking in _to_merge(tx.execute):
        now, root = document, document_records.root_of(tx.execute, document)
        for told in lacking:
            state = document_records.recovery(
                tx.execute, now, _not_before(now, told.at), current_activity=RECOVERING
            )
            trigger = CompactionEvent(state, _compaction(told, now, root))
            now = document_records.fire(tx, now.name, trigger, author)


def acknowledge(tx: Writing, author: Author) -> None:
    """What an agent has been told of is acknowledged, all of it at once; the work goes on."""
    for document, told in _to_acknowledge(tx.execute):
        names = {each.name for each in told}
        ids = [one["id"] for one in _waiting(document) if _name_of(one) in names]
        seen = max(each.seen or 0 for each in told)
        activity = document.state["current_activity"]
        state = document_records.recovery(
            tx.execute,
            document,
            _not_before(document, seen),
            current_activity=_before(document, told) if activity == RECOVERING else activity,
        )
        trigger = CompactionEvent(state, Acknowledged(tuple(ids)))
        document_records.fire(tx, document.name, trigger, author)


def lags(ask: Ask) -> bool:
    """Whether `merge` or `acknowledge` has anything to do."""
    return bool(ask(_ANY, ())) and bool(_to_merge(ask) or _to_acknowledge(ask))


def _to_merge(ask: Ask) -> list[tuple[Document, list[Told]]]:
    found = []
    for document, known in _known(ask):
        had = {_name_of(event) for event in _events(document)}
        lacking = [told for told in known if told.name not in had]
        if lacking:
            found.append((document, lacking))
    return found


def _to_acknowledge(ask: Ask) -> list[tuple[Document, list[Told]]]:
    found = []
    for document, known in _known(ask):
        names = {_name_of(event) for event in _waiting(document)}
        told = [each for each in known if each.seen and each.name in names]
        if told:
            found.append((document, told))
    return found


def _known(ask: Ask) -> list[tuple[Document, list[Told]]]:
    """The live documents, each with the compactions that came while it was worked by."""
    if not ask(_ANY, ()):
        return []
    every = [Told(json.loads(value), at, seen) for value, at, seen in ask(_ALL, ())]
    return [
        (document, _in_order(each for each in every if _concerns(each, document)))
        for document in document_records.documents(ask)
        if document.is_live
    ]


def _concerns(told: Told, document: Document) -> bool:
    """Wherever the agent worked that was compacted: in the document's checkout, or by a copy."""
    return not {document.name, document.file}.isdisjoint(told.value["documents"])


def _name_of(event: dict[str, Any]) -> str:
    return _name(str(event.get("checkpoint_file")))


def _name(file: str) -> str:
    """The end of its path, with the journal's folder: it stays when a document changes its root."""
    ours = os.path.dirname(file)
    return os.path.join(*map(os.path.basename, (os.path.dirname(ours), ours, file)))


def _in_order(found: Iterable[Told]) -> list[Told]:
    """By their numbers, 999 before 1000."""
    by_file = {each.value["file"]: each for each in found}
    return [by_file[file] for file in in_order(by_file)]


def _compaction(told: Told, document: Document, root: str) -> Compaction:
    stood = told.state(document)
    return Compaction(
        timestamp=told.value["timestamp"],
        trigger=told.value["trigger"],
        estimated_fill_before=told.value["fill"],
        active_phase=stood["active_phase"],
        active_gate=stood["active_gate"],
        active_gate_iteration=stood["active_gate_iteration"],
        checkpoint_file=told.file(root),
    )


def _before(document: Document, told: list[Told]) -> str:
    """What was being done before the newest compaction that was not itself in a recovery."""
    done = [str(each.state(document)["recovery_state"]["current_activity"]) for each in told]
    return next((each for each in reversed(done) if each != RECOVERING), IDLE)


def _events(document: Document) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document.section["compaction_events"]["events"]
    return found


def _waiting(document: Document) -> list[dict[str, Any]]:
    return [event for event in _events(document) if not event.get("acknowledged", False)]


def _not_before(document: Document, at: int) -> int:
    """A section that was updated since then keeps its later time."""
    updated = staleness.seconds(document.state["updated_at"])
    return max(at, (updated or 0) * staleness.SECOND_US)

"""The documents of the resumption protocol, folded from their events by the protocol's own rules.

A document is the section of one file with what stands behind it and not in the file. An event
that follows from nothing here any more (a damaged journal lost what it builds on) changes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.errors.base import StandfastError
from standfast.protocols.resumption.rules.quality_gates import read_scores
from standfast.protocols.resumption.rules.repository_labels import labels, still
from standfast.protocols.resumption.rules.section_units import records
from standfast.protocols.resumption.rules.staleness import SECOND_US, seconds
from standfast.protocols.resumption.rules.trigger_values import (
    read_state,
    read_trigger,
    write_state,
)
from standfast.protocols.resumption.rules.triggers import (
    Compaction,
    CompactionEvent,
    GateIteration,
    PhaseStart,
)
from standfast.protocols.resumption.rules.update_matrix import Resumption, apply
from standfast.protocols.resumption.rules.workflow_id import document_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import apsw

    from standfast.journal.tables.folds import Row
    from standfast.protocols.resumption.rules.quality_gates import Scores
    from standfast.protocols.resumption.rules.triggers import Trigger

CELLS = "resumption:"
LIVE = ("ACTIVE", "PAUSED")


class Pending(NamedTuple):
    """An iteration of a gate whose scores are not all in."""

    gate: str
    iteration: int
    scores: Scores


class Document(NamedTuple):
    """The section of one file, and what belongs to it."""

    file: str  # below the root
    root: str  # of the checkout where the file is at home
    resumption: Resumption
    decided: tuple[str, ...] = ()  # the journal's own id of each entry of `decision_log`
    latest_id: str | None = None  # `checkpoints.latest_id`, where the file itself has one
    phase_at: int = 0  # when the current phase began
    pending: Pending | None = None
    at: int = 0
    seq: int = 0
    foreign: frozenset[str] = frozenset()  # fields that the repository wrote, and nobody since
    workflow: str | None = None  # the id of the workflow that the file leads, where it names one

    @property
    def name(self) -> str:
        """What it is known by: another workflow in the same file is another document."""
        return document_name(self.file, self.workflow)

    @property
    def section(self) -> dict[str, Any]:
        """The section as the file shows it."""
        return self.resumption.section

    @property
    def state(self) -> dict[str, Any]:
        """Its `recovery_state`."""
        found: dict[str, Any] = self.section["recovery_state"]
        return found

    @property
    def is_live(self) -> bool:
        """Whether anybody still works by it."""
        return self.state["workflow_status"] in LIVE


def advance(before: Document, trigger: Trigger, at: int, decision: str | None = None) -> Document:
    """The document after a trigger; *decision* is the journal's id of the decision in it."""
    after = apply(before.resumption, trigger)
    was, now = before.state["current_phase"], after.section["recovery_state"]["current_phase"]
    is_new_phase = isinstance(trigger, PhaseStart) or was != now
    said = trigger.compaction_events if isinstance(trigger, CompactionEvent) else None
    # An iteration that a compaction cut begins anew; to be told of it cuts nothing.
    ends = isinstance(trigger, GateIteration) or isinstance(said, Compaction)
    return before._replace(
        resumption=after,
        decided=(*before.decided, *([decision] if decision else [])),
        phase_at=at if is_new_phase else before.phase_at,
        pending=None if ends else before.pending,
    )


def begun(connection: apsw.Connection, event: Row) -> None:
    """A file has a section from now on, or another one than before."""
    _keep(connection, _begun(json.loads(event[9]), event[1]), event)


def _begun(payload: Mapping[str, Any], at: int) -> Document:
    resumption = read_state(payload)
    return Document(
        payload["file"],
        payload["root"],
        resumption,
        tuple(payload["decided"]),
        payload.get("latest_id"),
        _phase_began(resumption, at),
        foreign=frozenset(payload.get("foreign", ())),
        workflow=payload.get("workflow"),
    )


def _phase_began(resumption: Resumption, at: int) -> int:
    """A section that others wrote is in a phase that began no later than its last update."""
    updated = seconds(resumption.section["recovery_state"]["updated_at"])
    return at if updated is None else min(at, updated * SECOND_US)


def changed(connection: apsw.Connection, event: Row) -> None:
    """Something happened to a document that there is, and that it may follow from."""
    payload = json.loads(event[9])
    before = _find(connection, _name(payload))
    after = _changed(before, payload, event) if before is not None else None
    if after is not None:
        _keep(connection, after, event)
        if before is not None and after.name != before.name:
            connection.execute("DELETE FROM cells WHERE key = ?", (CELLS + before.name,))


def _changed(before: Document, payload: Mapping[str, Any], event: Row) -> Document | None:
    try:
        after = _CHANGES[event[7]](before, payload, event[1])
    except StandfastError:
        return None
    kept = still(before.foreign - {*payload.get("said", ())}, before.section, after.section)
    return after._replace(foreign=kept | {*payload.get("foreign", ())})


def arrived(connection: apsw.Connection, event: Row) -> None:
    """Every field of every document is the repository's: they came along with it.

    Not of those that are as this user left them.
    """
    rows = connection.execute(
        "SELECT key, value, at, seq FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'"
        " AND key NOT IN (SELECT value FROM json_each(?, '$.kept') WHERE type = 'text')",
        (event[9],),
    ).fetchall()
    for key, value, at, seq in rows:
        document = read(key, value, at, seq)  # type: ignore[arg-type]  # as the table's types are
        foreign = labels(path for path, _ in records(document.section))
        found = document._replace(foreign=frozenset(foreign))
        connection.execute("UPDATE cells SET value = ? WHERE key = ?", (cell_of(found), key))


def _name(payload: Mapping[str, Any]) -> str:
    return document_name(payload["file"], payload.get("workflow"))


def next_state(before: Document | None, event: Row, document: Document) -> Document | None:
    """The state of *document* after an event that tells of it; as before after any other."""
    payload = json.loads(event[9])
    if payload.get("file") != document.file or payload.get("workflow") not in (
        None,
        document.workflow,
    ):
        return before
    if event[7] == "resumption.begun":
        found: Document | None = _begun(payload, event[1])
    else:
        known = before is not None and event[7] in _CHANGES
        found = _changed(before, payload, event) if known and before is not None else None
    return before if found is None else found._replace(seq=event[0], at=event[1])


def _triggered(before: Document, payload: Mapping[str, Any], at: int) -> Document:
    return advance(before, read_trigger(payload["trigger"]), at, payload.get("decision"))


def _adopted(before: Document, payload: Mapping[str, Any], at: int) -> Document:
    """What others wrote into the file was taken over, sub-section by sub-section."""
    section = {**before.section, **payload.get("section", {})}
    decided = payload.get("log", (*before.decided, *payload.get("decided", ())))
    resumption = before.resumption._replace(section=section)
    is_new_phase = section["recovery_state"]["current_phase"] != before.state["current_phase"]
    return before._replace(
        resumption=resumption,
        decided=tuple(decided),
        latest_id=payload.get("latest_id", before.latest_id),
        phase_at=_phase_began(resumption, at) if is_new_phase else before.phase_at,
    )


def _scored(before: Document, payload: Mapping[str, Any], _at: int) -> Document:
    """Some scores of an iteration are in; the others are still to come."""
    scores = read_scores(payload["scores"])
    return before._replace(pending=Pending(payload["gate"], payload["iteration"], scores))


def _moved(before: Document, payload: Mapping[str, Any], _at: int) -> Document:
    """The file is at home in another checkout now."""
    return before._replace(root=payload["root"])


def _named(before: Document, payload: Mapping[str, Any], _at: int) -> Document:
    """The file names its workflow from now on."""
    return before._replace(workflow=payload["to"])


_CHANGES: Mapping[str, Callable[[Document, Mapping[str, Any], int], Document]] = {
    "resumption.triggered": _triggered,
    "resumption.adopted": _adopted,
    "resumption.moved": _moved,
    "resumption.named": _named,
    "gate.scored": _scored,
}


def _find(connection: apsw.Connection, name: str) -> Document | None:
    rows = connection.execute(
        "SELECT key, value, at, seq FROM cells WHERE key = ?", (CELLS + name,)
    ).fetchall()
    return read(*rows[0]) if rows else None  # type: ignore[arg-type]  # as the table's types are


def _keep(connection: apsw.Connection, document: Document, event: Row) -> None:
    connection.execute(
        "INSERT INTO cells VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
        " value = excluded.value, at = excluded.at, seq = excluded.seq",
        (CELLS + document.name, cell_of(document), event[1], event[0]),
    )


def cell_of(document: Document) -> str:
    """A document as its cell."""
    value: dict[str, object] = {
        "root": document.root,
        **write_state(document.resumption),
        "decided": document.decided,
        "latest_id": document.latest_id,
        "phase_at": document.phase_at,
        "pending": None,
    }
    if document.pending is not None:
        gate, iteration, scores = document.pending
        said = {name: str(score) for name, score in scores.items()}
        value["pending"] = {"gate": gate, "iteration": iteration, "scores": said}
    if document.workflow is not None:
        value |= {"file": document.file, "workflow": document.workflow}
    if document.foreign:
        value["foreign"] = sorted(document.foreign)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read(key: str, value: str, at: int, seq: int) -> Document:
    """A document from its cell."""
    found: Mapping[str, Any] = json.loads(value)
    pending = found["pending"]
    return Document(
        file=found.get("file", key.removeprefix(CELLS)),
        root=found["root"],
        resumption=read_state(found),
        decided=tuple(found["decided"]),
        latest_id=found["latest_id"],
        phase_at=found["phase_at"],
        pending=pending and Pending(**{**pending, "scores": read_scores(pending["scores"])}),
        at=at,
        seq=seq,
        foreign=frozenset(found.get("foreign", ())),
        workflow=found.get("workflow"),
    )

"""The documents, as the journal has them: each is the resumption section of a repository's file.

This is their one store: here they are found, begun, named and moved, and every trigger, score and
edit of one becomes an event. A trigger is checked and recorded in one transaction, so ids have no
gaps however many write at once. A decision belongs to one document, which numbers it; the
journal's own id stands beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast import clock, ids
from standfast.authorship import REPOSITORY
from standfast.errors.base import NothingFound, TriggerRefused
from standfast.formats.json_schema import shown
from standfast.journal.author import USER
from standfast.journal.tables import decision_records
from standfast.journal.tables.document_folds import CELLS, Document, Pending, advance, read
from standfast.protocols.resumption.records import past_states as states
from standfast.protocols.resumption.rules import updated_at
from standfast.protocols.resumption.rules.arrivals import UNITS, stamp
from standfast.protocols.resumption.rules.log_union import WAS
from standfast.protocols.resumption.rules.quality_gates import missing
from standfast.protocols.resumption.rules.repository_labels import DECISIONS, labels
from standfast.protocols.resumption.rules.section_logs import next_iteration
from standfast.protocols.resumption.rules.trigger_values import write_state, write_trigger
from standfast.protocols.resumption.rules.triggers import (
    CrossPhaseDecision,
    Decision,
    GateIteration,
    Recovery,
)
from standfast.protocols.resumption.rules.workflow_id import document_name, workflow_id
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from standfast.journal.author import Author
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.rules.arrivals import Arrival
    from standfast.protocols.resumption.rules.log_union import Kept, Logs
    from standfast.protocols.resumption.rules.quality_gates import Scores
    from standfast.protocols.resumption.rules.section_units import Path
    from standfast.protocols.resumption.rules.triggers import Trigger
    from standfast.protocols.resumption.rules.update_matrix import Resumption

    Whose = Mapping[Path, Author]
    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[Any, ...]]]

# Decided before there was a document, or where it cannot be told which one is meant; what agents
# of ours said stays apart.
_UNOWNED = """
    SELECT id FROM decisions WHERE actor <> 'repository' AND id NOT IN (
      SELECT each.value FROM cells, json_each(cells.value, '$.decided') AS each
      WHERE cells.key >= 'resumption:' AND cells.key < 'resumption;')
    AND NOT EXISTS (SELECT 1 FROM cells WHERE key = 'apart:' || decisions.id)
    ORDER BY number"""
_ALL = "SELECT key, value, at, seq FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'"
_WAS_SHOWN = "SELECT 1 FROM faces WHERE face = 'resumption/' || ? AND digest IS NOT NULL"
_NAMED = f"{_ALL} AND (key = ? OR value ->> 'file' = ?) ORDER BY seq DESC"


def documents(ask: Ask) -> list[Document]:
    """All of them, by their files."""
    return [read(*row) for row in ask(_ALL, ())]


def root_of(ask: Ask, document: Document) -> str:
    """Where it is at home, as that is now: nobody may have written since the repository moved."""
    return str(ask("SELECT here(?)", (document.root,))[0][0])


def find(ask: Ask, name: str) -> Document | None:
    """The document of this name; of a file, the one that was last seen in it."""
    rows = ask(_NAMED, (CELLS + name, name))
    return read(*rows[0]) if rows else None


def in_file(ask: Ask, file: str, text: str) -> Document | None:
    """The document that a file with this text shows: of the workflow that it names.

    Where it names none, the one that had this section, else the one last seen there. One that had
    no workflow yet gets its name if the section is one of its own, or if no file ever showed it:
    a file that did and has no section now is of new work.
    """
    workflow = workflow_id(text)
    if workflow is None:
        return last_in(ask, file, text) or find(ask, file)
    found = find(ask, document_name(file, workflow))
    if found is not None:
        return found
    is_of_new_work = updated_at.find(text) is None and bool(ask(_WAS_SHOWN, (file,)))
    last = None if is_of_new_work else last_in(ask, file, text)
    return last if last is not None and last.workflow is None else None


def last_in(ask: Ask, file: str, text: str) -> Document | None:
    """The document last seen in a file of which the section is that stands there, if there is one.

    Where none stands there, it may be of any.
    """
    at = updated_at.find(text)
    found = [read(*row) for row in ask(_NAMED, (CELLS + file, file))]
    like = [1 if at is None else states.likeness(ask, each, at, text) for each in found]
    best = max(like, default=0)
    return found[like.index(best)] if best else None


def give_name(tx: Writing, document: Document, text: str, author: Author) -> Document:
    """The file names its workflow from now on: so does its document."""
    workflow = workflow_id(text)
    if workflow is None or document.workflow is not None:
        return document
    tx.append("resumption.named", {"file": document.file, "to": workflow}, author)
    states.rename(tx, document.name, document_name(document.file, workflow))
    return known(tx.execute, document_name(document.file, workflow))


def known(ask: Ask, name: str) -> Document:
    """The same, where there is one."""
    found = find(ask, name)
    if found is None:
        raise NothingFound(f"nothing is known of a resumption section in `{name}`")
    return found


def begin(
    tx: Writing,
    file: str,
    root: str,
    resumption: Resumption,
    author: Author,
    *,
    latest_id: str | None = None,
    origin: str | None = None,
    whose: Whose | None = None,
    workflow: str | None = None,
) -> Document:
    """Take a section over as it is; the decisions in it become the journal's too.

    *whose* says who wrote each record of it; where nobody judged that, all of it is the author's.
    What was decided before there was a document is appended to it.
    """
    earlier = _unowned(tx.execute)
    last = find(tx.execute, file) if workflow is None else None
    workflow = last.workflow if last is not None else workflow
    log = resumption.section["decision_log"]
    by = whose or {}
    decided = []
    for entry in log:
        who = by.get((DECISIONS, entry["id"]), author)
        decided.append(_record(tx, file, _said(entry), who, origin, entry["id"]))
    payload = {"file": file, "root": root, **write_state(resumption), "decided": decided}
    if foreign := foreign_in(by):
        payload["foreign"] = foreign
    if workflow is not None:
        payload["workflow"] = workflow
    tx.append("resumption.begun", {**payload, "latest_id": latest_id}, author, origin=origin)
    document = known(tx.execute, document_name(file, workflow))
    states.note(tx, document, UNITS if whose else ())
    for decision in earlier:
        document = _add(tx, document, decision, author)
    return document


def foreign_in(whose: Whose) -> list[str]:
    """The fields among these records that the repository wrote."""
    return labels(path for path, author in whose.items() if author.actor == REPOSITORY)


def _unowned(ask: Ask) -> list[str]:
    """Those that bind and stand in no document yet."""
    return [str(row[0]) for row in ask(_UNOWNED, ())]


def _said(entry: dict[str, Any]) -> Decision:
    return Decision(
        entry["decision"],
        entry["rationale"],
        tuple(entry.get("affects_phases", ())),
        entry.get("applied", False),
        entry.get("gate"),
        entry.get("iteration"),
    )


def _record(
    tx: Writing, file: str, said: Decision, author: Author, origin: str | None, there: str = ""
) -> str:
    """A decision of a document as the journal's own; *there* is its id in what brought it."""
    more = {**said._asdict(), "file": file}
    words = more.pop("decision")
    if there:
        words = one_line(words, decision_records.TEXT_LIMIT) or "(no words)"
        origin = f"{origin or file}, there as {there}"
    return decision_records.note(tx, words, author, origin=origin, more=more)


def fire(
    tx: Writing, name: str, trigger: Trigger, author: Author, said: Iterable[str] = ()
) -> Document:
    """Apply a trigger: refused with nothing recorded, or recorded and applied.

    *said* are the fields that somebody named: they are theirs from now on, whatever they say.
    """
    before = known(tx.execute, name)
    advance(before, trigger, clock.now_us())  # refused before anything is recorded
    made = getattr(trigger, "decision_log", None)
    decision = None
    if isinstance(made, Decision):
        if isinstance(trigger, GateIteration):
            gate = trigger.quality_trajectory.gate
            made = made._replace(gate=gate, iteration=next_iteration(before.section, gate))
        decision = _record(tx, before.file, made, author, None)
    return _append(tx, before, trigger, author, decision, sorted(before.foreign & {*said}))


def _append(
    tx: Writing,
    before: Document,
    trigger: Trigger,
    author: Author,
    decision: str | None = None,
    said: Sequence[str] = (),
) -> Document:
    payload: dict[str, object] = {**_of(before), "trigger": write_trigger(trigger)}
    if decision is not None:
        payload["decision"] = decision
    if said:
        payload["said"] = said
    states.ensure(tx, before)
    tx.append("resumption.triggered", payload, author)
    after = known(tx.execute, before.name)
    states.note(tx, after)
    return after


def move(tx: Writing, document: Document, root: str, author: Author) -> Document:
    """The file is at home in another checkout from now on."""
    tx.append("resumption.moved", {**_of(document), "root": root}, author)
    return known(tx.execute, document.name)


def _of(document: Document) -> dict[str, object]:
    """How an event says which document it tells of."""
    which = {} if document.workflow is None else {"workflow": document.workflow}
    return {"file": document.file, **which}


def score(tx: Writing, name: str, gate: str, scores: Scores, author: Author) -> Pending:
    """Keep some scores of a gate's current iteration; all of them are a T3, which `fire` takes."""
    before = known(tx.execute, name)
    iteration = next_iteration(before.section, gate)
    if gate in before.section["quality_trajectory"]["gates_completed"]:
        raise TriggerRefused(f"the gate `{gate}` has passed already")
    pending = before.pending
    had = pending.scores if pending and pending[:2] == (gate, iteration) else {}
    found = Pending(gate, iteration, {**had, **scores})
    if missing(found.scores):
        said = {name: str(value) for name, value in found.scores.items()}
        payload = {**_of(before), "gate": gate, "iteration": iteration, "scores": said}
        tx.append("gate.scored", payload, author)
    return found


def recovery(ask: Ask, document: Document, at: int, **said: Any) -> Recovery:  # noqa: ANN401  # its fields
    """The state as it is now: what is not said stays; the fill is null unless it is said.

    Its time is a new one, however many come in a second: by it a state is known in every clone.
    """
    second = stamp(at // clock.MICROSECONDS, document.state["updated_at"])
    now = {
        **{name: document.state[name] for name in Recovery._fields},
        "context_fill_at_update": None,
        **said,
        # Where nobody counts checkpoints the section's own word stands.
        "last_checkpoint": latest_checkpoint(ask, document.latest_id)
        or document.state["last_checkpoint"],
        "updated_at": clock.rfc3339(second * clock.MICROSECONDS),
    }
    return Recovery(**now)


def latest_checkpoint(ask: Ask, named: str | None) -> str | None:
    """The newest checkpoint: as the file names it, else the journal's; None before the first."""
    if named is not None:
        return named
    rows = ask("SELECT last FROM counters WHERE prefix = 'CP'", ())
    return ids.format_id("CP", int(rows[0][0])) if rows else None


def adopt(
    tx: Writing,
    before: Document,
    arrival: Arrival,
    latest_id: str | None,
    origin: str,
    whose: Whose,
    decided_by: Mapping[tuple[str, str], Author],
) -> None:
    """Take over what the file brought, and the decisions in it as the journal's.

    *whose* are the records that came; its decisions are known by their words and reasons.
    """
    new, author = arrival.section, one_of(whose)
    if arrival.is_edit:
        second = stamp(clock.now_us() // clock.MICROSECONDS, before.state["updated_at"])
        at = clock.rfc3339(second * clock.MICROSECONDS)
        new = {**new, "recovery_state": {**new["recovery_state"], "updated_at": at}}
    had = before.section
    changed = {name: new[name] for name in new if name not in had or new[name] != had[name]}
    if not changed and latest_id == before.latest_id:
        return
    payload: dict[str, object] = {**_of(before), "section": changed}
    if arrival.logs is not None and DECISIONS in changed:
        log = _decided(tx, before, arrival.logs, origin, author, decided_by)
        payload["log"] = log
    if latest_id != before.latest_id:
        payload["latest_id"] = latest_id
    if foreign := foreign_in(whose):
        payload["foreign"] = foreign
    states.ensure(tx, before)
    tx.append("resumption.adopted", payload, author, origin=origin)
    came = () if arrival.is_edit else [name for name in UNITS if name in changed]
    states.note(tx, known(tx.execute, before.name), came)


def _decided(
    tx: Writing,
    before: Document,
    logs: Logs,
    origin: str,
    author: Author,
    decided_by: Mapping[tuple[str, str], Author],
) -> list[str]:
    """The journal's own id of each decision in the log; what is new in it is recorded."""
    found = []
    for entry, place in zip(logs.section[DECISIONS], logs.places, strict=True):
        if place is not None and place < len(before.decided):
            found.append(before.decided[place])
            continue
        by = decided_by.get((entry["decision"], entry["rationale"]), author)
        there = entry.get(WAS, entry["id"])
        found.append(_record(tx, before.file, _said(entry), by, origin, there))
    return found


def one_of(whose: Whose) -> Author:
    """Who stands for an edit of several: the user, if any of it is theirs."""
    by = {author.actor: author for author in whose.values()}
    return by.get(USER.actor) or next(iter(by.values()), USER)


def pass_over(
    tx: Writing, before: Document, kept: Sequence[Kept], origin: str, author: Author
) -> None:
    """Keep what lost, theirs and ours: it is in no section any more."""
    if kept:
        left = [{"at": shown(each.path), "problem": each.why} for each in kept]
        said = [[list(each.path), each.value] for each in kept]
        payload = {**_of(before), "left": left, "said": said}
        tx.append("resumption.passed", payload, author, origin=origin)


def catch_up(tx: Writing, author: Author, name: str | None = None) -> None:
    """Bring live documents up to date: with compactions, and *name* with what was decided.

    Where no name is given and there is one live document, that is the one that is meant.
    """
    now = _meant(tx.execute, name)
    for decision in _unowned(tx.execute) if now is not None else ():
        now = _add(tx, now, decision, author) if now is not None else None
    from standfast.protocols.resumption.records import (
        compactions,  # which fires triggers by this module
    )

    compactions.merge(tx, author)
    compactions.acknowledge(tx, author)


def _meant(ask: Ask, name: str | None) -> Document | None:
    """One by its name; else the only one there is."""
    live = [each for each in documents(ask) if each.is_live and name in (None, each.name)]
    return live[0] if len(live) == 1 else None


def lags(ask: Ask, name: str | None = None) -> bool:
    """Whether `catch_up` has anything to do."""
    from standfast.protocols.resumption.records import compactions  # as above

    is_behind = bool(ask(_UNOWNED, ())) and _meant(ask, name) is not None
    return is_behind or compactions.lags(ask)


def _add(tx: Writing, document: Document, decision: str, author: Author) -> Document:
    """A decision of the journal as a T6 of a document that lacks it: its words stay as they are."""
    ((text, rationale),) = tx.execute(
        "SELECT text, (SELECT payload ->> 'rationale' FROM events"
        " WHERE events.seq = decisions.seq) FROM decisions WHERE id = ?",
        (decision,),
    )
    state = Recovery(**{name: document.state[name] for name in Recovery._fields})
    latest = latest_checkpoint(tx.execute, document.latest_id) or state.last_checkpoint
    # Nobody has judged the state anew: it is as old as it was.
    trigger = CrossPhaseDecision(
        state._replace(last_checkpoint=latest), Decision(str(text), str(rationale or ""))
    )
    return _append(tx, document, trigger, author, decision)

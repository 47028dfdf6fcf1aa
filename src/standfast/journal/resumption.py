"""The resumption sections of a repository's files: every trigger is an event of the journal.

A trigger is checked and recorded in one transaction, so ids have no gaps however many write at
once. A document holds every decision of the repository: its next id and the journal's are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast import clock
from standfast.errors import NothingFound, TriggerRefused
from standfast.journal import decisions
from standfast.journal.author import USER
from standfast.journal.resumption_folds import CELLS, Document, Pending, advance, read
from standfast.protocol import ids
from standfast.protocol.authorship import REPOSITORY
from standfast.protocol.json_schema import shown
from standfast.protocol.quality_gates import missing
from standfast.protocol.resumption_labels import DECISIONS, labels
from standfast.protocol.resumption_logs import next_iteration
from standfast.protocol.resumption_triggers import (
    CrossPhaseDecision,
    Decision,
    GateIteration,
    Recovery,
)
from standfast.protocol.text import one_line
from standfast.protocol.trigger_values import write_state, write_trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from standfast.journal.author import Author
    from standfast.journal.writing import Writing
    from standfast.protocol.json_schema import Fault
    from standfast.protocol.quality_gates import Scores
    from standfast.protocol.resumption import Resumption
    from standfast.protocol.resumption_records import Path, Woven
    from standfast.protocol.resumption_triggers import Trigger

    Whose = Mapping[Path, Author]
    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[Any, ...]]]

_ALL = "SELECT key, value, at, seq FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'"


def documents(ask: Ask) -> list[Document]:
    """All of them, by their files."""
    return [read(*row) for row in ask(_ALL, ())]


def find(ask: Ask, file: str) -> Document | None:
    """The document of a file, if it has one."""
    rows = ask(f"{_ALL} AND key = ?", (CELLS + file,))
    return read(*rows[0]) if rows else None


def known(ask: Ask, file: str) -> Document:
    """The document of a file that has one."""
    found = find(ask, file)
    if found is None:
        raise NothingFound(f"nothing is known of a resumption section in `{file}`")
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
) -> Document:
    """Take a section over as it is; the decisions in it become the journal's, and the reverse.

    *whose* says who wrote each record of it; where nobody judged that, all of it is the author's.
    Where ids of the journal are taken already, each side goes on with its own for what is past:
    both hold the same decisions afterwards, so that the next id is the same again.
    """
    earlier = _decided(tx)
    log = resumption.section["decision_log"]
    by = whose or {}
    decided = []
    for entry in log:
        who = by.get((DECISIONS, entry["id"]), author)
        decided.append(_record(tx, file, _said(entry), who, origin, entry["id"]))
    payload = {"file": file, "root": root, **write_state(resumption), "decided": decided}
    if foreign := foreign_in(by):
        payload["foreign"] = foreign
    tx.append("resumption.begun", {**payload, "latest_id": latest_id}, author, origin=origin)
    document = known(tx.execute, file)
    for decision in earlier:
        document = _add(tx, document, decision, author)
    return document


def foreign_in(whose: Whose) -> list[str]:
    """The fields among these records that the repository wrote."""
    return labels(path for path, author in whose.items() if author.actor == REPOSITORY)


def _decided(tx: Writing) -> list[str]:
    """Those that bind: what a repository says is copied into no other document."""
    sql = "SELECT id FROM decisions WHERE actor <> 'repository' ORDER BY number"
    return [str(row[0]) for row in tx.execute(sql)]


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
        words = one_line(words, decisions.TEXT_LIMIT) or "(no words)"
        origin = f"{origin or file}, there as {there}"
    return decisions.note(tx, words, author, origin=origin, more=more)


def fire(
    tx: Writing, file: str, trigger: Trigger, author: Author, said: Iterable[str] = ()
) -> Document:
    """Apply a trigger: refused with nothing recorded, or recorded and applied.

    *said* are the fields that somebody named: they are theirs from now on, whatever they say.
    """
    before = known(tx.execute, file)
    advance(before, trigger, clock.now_us())  # refused before anything is recorded
    made = getattr(trigger, "decision_log", None)
    decision = None
    if isinstance(made, Decision):
        if isinstance(trigger, GateIteration):
            gate = trigger.quality_trajectory.gate
            made = made._replace(gate=gate, iteration=next_iteration(before.section, gate))
        decision = _record(tx, file, made, author, None)
    return _append(tx, file, trigger, author, decision, sorted(before.foreign & {*said}))


def _append(
    tx: Writing,
    file: str,
    trigger: Trigger,
    author: Author,
    decision: str | None = None,
    said: Sequence[str] = (),
) -> Document:
    payload: dict[str, object] = {"file": file, "trigger": write_trigger(trigger)}
    if decision is not None:
        payload["decision"] = decision
    if said:
        payload["said"] = said
    tx.append("resumption.triggered", payload, author)
    return known(tx.execute, file)


def score(tx: Writing, file: str, gate: str, scores: Scores, author: Author) -> Pending:
    """Keep some scores of a gate's current iteration; all of them are a T3, which `fire` takes."""
    before = known(tx.execute, file)
    iteration = next_iteration(before.section, gate)
    if gate in before.section["quality_trajectory"]["gates_completed"]:
        raise TriggerRefused(f"the gate `{gate}` has passed already")
    pending = before.pending
    had = pending.scores if pending and pending[:2] == (gate, iteration) else {}
    found = Pending(gate, iteration, {**had, **scores})
    if missing(found.scores):
        said = {name: str(value) for name, value in found.scores.items()}
        payload = {"file": file, "gate": gate, "iteration": iteration, "scores": said}
        tx.append("gate.scored", payload, author)
    return found


def recovery(ask: Ask, document: Document, at: int, **said: Any) -> Recovery:  # noqa: ANN401  # its fields
    """The state as it is now: what is not said stays; the fill is null unless it is said."""
    now = {
        **{name: document.state[name] for name in Recovery._fields},
        "context_fill_at_update": None,
        **said,
        # Where nobody counts checkpoints the section's own word stands.
        "last_checkpoint": latest_checkpoint(ask, document.latest_id)
        or document.state["last_checkpoint"],
        "updated_at": clock.rfc3339(at),
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
    woven: Woven,
    latest_id: str | None,
    origin: str,
    whose: Whose,
    decided_by: Mapping[tuple[str, str], Author],
) -> None:
    """Take over what an edit of the file changed, and the decisions in it as the journal's.

    *whose* are the records that it changed; its decisions are known by their words and reasons.
    """
    new = woven.section
    had = before.section
    changed = {name: new[name] for name in new if name not in had or new[name] != had[name]}
    file, author = before.file, one_of(whose)
    decided = []
    for entry in woven.decisions:
        by = decided_by.get((entry["decision"], entry["rationale"]), author)
        decided.append(_record(tx, file, _said(entry), by, origin, entry["id"]))
    if changed or latest_id != before.latest_id:
        payload: dict[str, object] = {"file": file, "section": changed, "decided": decided}
        if latest_id != before.latest_id:
            payload["latest_id"] = latest_id
        if foreign := foreign_in(whose):
            payload["foreign"] = foreign
        tx.append("resumption.adopted", payload, author, origin=origin)


def one_of(whose: Whose) -> Author:
    """Who stands for an edit of several: the user, if any of it is theirs."""
    by = {author.actor: author for author in whose.values()}
    return by.get(USER.actor) or next(iter(by.values()), USER)


def pass_over(
    tx: Writing, *, file: str, left: Sequence[Fault], said: object, origin: str, author: Author
) -> None:
    """Keep what of an edit the rules do not allow: it is in no file any more."""
    if left:
        why = [{"at": shown(fault.path), "problem": fault.problem} for fault in left]
        payload = {"file": file, "left": why, "said": said}
        tx.append("resumption.passed", payload, author, origin=origin)


def catch_up(tx: Writing, author: Author) -> None:
    """Bring every live document up to what was decided and compacted since."""
    for document in documents(tx.execute):
        lacking = [one for one in _decided(tx) if one not in document.decided]
        now = document
        for decision in lacking if document.is_live else ():
            now = _add(tx, now, decision, author)
    from standfast.journal import compactions  # which fires triggers by this module

    compactions.merge(tx, author)
    compactions.acknowledge(tx, author)


def lags(ask: Ask) -> bool:
    """Whether `catch_up` has anything to do."""
    lacking = """
        SELECT 1 FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'
          AND value ->> '$.section.recovery_state.workflow_status' IN ('ACTIVE', 'PAUSED')
          AND (SELECT count(*) FROM json_each(cells.value, '$.decided') AS each
               JOIN decisions ON decisions.id = each.value WHERE actor <> 'repository')
            < (SELECT count(*) FROM decisions WHERE actor <> 'repository') LIMIT 1"""
    from standfast.journal import compactions  # as above

    return bool(ask(lacking, ())) or compactions.lags(ask)


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
    return _append(tx, document.file, trigger, author, decision)

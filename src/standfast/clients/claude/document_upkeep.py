"""What a call leaves to do for documents once nobody waits: files, crossings, acknowledgements.

Not on the hook path: it is loaded after the answer, and only where a document concerns the call.
A crash here loses nothing: the next call, or the next command, finds the same to do.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from standfast import clock, config
from standfast.clients.claude import fill_monitor
from standfast.clients.claude.hook_facts import MAIN
from standfast.errors.base import StandfastError
from standfast.protocols.resumption.files import compaction_files
from standfast.protocols.resumption.records import (
    compactions,
    document_records,
    freshness,
    live_documents,
    reverted_edits,
)
from standfast.protocols.resumption.rules import context_monitor, staleness
from standfast.protocols.resumption.rules.triggers import ThresholdCrossing

if TYPE_CHECKING:
    from standfast.clients.hooks.hook_call import Call
    from standfast.journal.store import Journal
    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.rules.context_monitor import Fill

_MOST_REFUSED = 10
_LOGGED = "SELECT value ->> 'digest' FROM cells WHERE key = 'reinject:' || ?"
_TIER = "SELECT value ->> 'tier' FROM cells WHERE key = 'tier:' || ?"


def tidy(call: Call, journal: Journal) -> None:
    """Everything that this call has left to do."""
    if call.refused:
        _log_refused(call, journal)
    if call.said:
        reverted_edits.settle(journal, call.session)
    if call.event in {"PreCompact", "SessionStart"}:
        compaction_files.keep(journal)
    if call.keeps or call.crossed is not None or call.event in {"SessionStart", "Stop"}:
        _keep_documents(call, journal)


def _keep_documents(call: Call, journal: Journal) -> None:
    """Only where this call fires a trigger is a file written, and taken in before.

    Else it is looked at: what is new in it is kept, and waits for whoever writes the document.
    """
    from standfast.protocols.resumption.files import document_files, untaken_edits

    settings = config.load_if_readable(call.place.root, call.environ)
    default = settings.orchestration_file
    if call.crossed is None and not call.fired and not document_records.lags(journal.query):
        seen = untaken_edits.look_at(journal, call.place, default)
        lost = [each for waiting in seen if waiting.is_first for each in waiting.lost]
        reverted_edits.tell(journal, call.session, lost)
        return
    before = reverted_edits.last(journal.query)
    for file in {default, *(file for file, *_ in call.documents)}:
        document_files.take(journal, call.place, file)
    if call.crossed is not None:
        with journal.writing() as tx:
            _cross(call, tx, *call.crossed)
    document_files.keep(journal, call.place, default)
    reverted_edits.note(journal, call.session, before)


def before_compaction(call: Call, tx: Writing) -> None:
    """The one thing that is left of a compaction: where the documents stood."""
    (trigger,) = call.payload.ask(["?1->>'trigger'"])
    settings = config.load_if_readable(call.place.root, call.environ)
    fill = fill_monitor.fill_of(call, settings.context_window).share
    compactions.checkpoint(
        tx, call.place.folder, call.place.root, str(trigger), fill, call.began, call.author(MAIN)
    )


def at_start(call: Call, tx: Writing) -> None:
    """Before the brief is made: what a compaction left is in the documents that it tells of."""
    call.fired = compactions.lags(tx.execute)
    compactions.merge(tx, call.author(MAIN))
    compactions.acknowledge(tx, call.author(MAIN))


def _cross(call: Call, tx: Writing, tier: str, fill: Fill) -> None:
    """T7, once a transition: kept with the tier, so that no crash fires it twice or never."""
    kept = tx.execute(_TIER, (call.session,))
    before = str(kept[0][0]) if kept else ""
    if not context_monitor.crossing(before, tier)[1]:
        return
    told = {"session": call.session, "tier": tier, "before": before or context_monitor.NOMINAL}
    figures = {"tokens": fill.tokens, "window": fill.window}
    tx.append("context.crossed", {**told, **figures}, call.author(MAIN))
    concerns = set(live_documents.names(tx.execute, call.place.root))
    for document in document_records.documents(tx.execute):
        if document.is_live and document.name in concerns:
            _advise(call, tx, document, fill)


def _advise(call: Call, tx: Writing, document: Document, fill: Fill) -> None:
    """Advisory: never an error; and not where the orchestrator's own update is demanded."""
    now = clock.now_us()
    judged = freshness.of_document(tx.execute, document, call.session, now)
    if judged.level == staleness.CRITICAL:
        return
    state = document_records.recovery(tx.execute, document, now, context_fill_at_update=fill.share)

    def fire() -> None:
        document_records.fire(tx, document.name, ThresholdCrossing(state), call.author(MAIN))

    try:
        tx.trial(fire)
    except StandfastError:
        pass


def _log_refused(call: Call, journal: Journal) -> None:
    """Once for the contents of a file, however often they are read."""
    with journal.writing() as tx:
        for file, data, refused in call.refused:
            digest = sha256(data).hexdigest()[:16]
            if tx.execute(_LOGGED, (file,)) == [(digest,)]:
                continue
            for each in refused[:_MOST_REFUSED]:
                told = {"file": file, "line": each.line, "why": each.why, "digest": digest}
                tx.append("reinject.refused", told, call.author(MAIN))

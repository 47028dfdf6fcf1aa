"""How commands write into a resumption section: whose file it is, who may, in one transaction."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.app import faces
from standfast.clients.hooks.checkout import Checkout
from standfast.effects import ancestry
from standfast.errors.base import NothingFound, NotTheOrchestrator, UnsafePath
from standfast.journal.author import Author
from standfast.journal.place import OFF
from standfast.protocols.context.files.context_files import below
from standfast.protocols.resumption.files import section_file
from standfast.protocols.resumption.records import asking_subagent, document_records, past_states
from standfast.protocols.resumption.records.followers import follow
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from standfast.journal.author import Author
    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.rules.triggers import Trigger
    from standfast.surfaces.cli.command_context import Context

    Make = Callable[[Writing, Document], Trigger]

_OUTPUT = "STANDFAST_OUTPUT"  # `stage run` sets it for the agents that it launches
_TRANSCRIPT = "SELECT transcript, window FROM sessions WHERE session = ?"


def file_of(context: Context, given: str | None) -> str:
    """The file that is meant, from the root of the repository."""
    if given is None:
        return context.config.orchestration_file
    try:
        return below(context.place.root, context.directory, given)
    except UnsafePath as error:
        error.remedy = f"Name a file below {context.place.root}."
        raise


def author(context: Context) -> Author:
    """Who says it."""
    return context.author


def known(context: Context, file: str) -> Document | None:
    """The document that a file of this checkout shows, if the journal has one."""
    try:
        return section_file.document_at(context.journal.query, context.place.root, file)
    except NothingFound:
        return None


def refuse_agents(context: Context) -> None:
    """Only who leads the work writes: no agent that we run, not a session's subagents.

    Where hooks are off nobody tells which calls are open: what is known of them is old.
    """
    if context.environ.get(_OUTPUT):
        raise NotTheOrchestrator("an agent that `stage run` launched asks to write the section")
    if ancestry.is_an_agents():
        raise NotTheOrchestrator("an agent of a lane, or what it began, asks to write the section")
    session = context.config.session
    hooks_are_off = os.path.lexists(os.path.join(context.place.folder, OFF))
    if session is None or hooks_are_off or not context.journal.exists:
        return
    agent = asking_subagent.subagent(context.journal.query, session)
    if agent is not None:
        raise NotTheOrchestrator(f"the subagent `{one_line(agent, 60)}` asks to write the section")


def ensure(tx: Writing, context: Context, file: str, who: Author) -> Document:
    """The document of a file, begun if need be, with everything that the journal has decided."""
    root = faces.document_root(context.journal, context.place, file)
    found = section_file.ensure(tx, root, file, who)
    follow(tx, who, found.name)
    return document_records.find(tx.execute, found.name) or found


def fire(
    tx: Writing, context: Context, file: str, make: Make, said: Iterable[str] = ()
) -> tuple[Document, Document]:
    """Apply a trigger that follows from the document, which is begun if need be: before, after.

    *said* are the fields of its state that somebody named.
    """
    who = author(context)
    before = ensure(tx, context, file, who)
    fields = [f"recovery_state.{name}" for name in said]
    after = document_records.fire(tx, before.name, make(tx, before), who, fields)
    follow(tx, who, before.name)
    past_states.written_on(tx, after, Checkout(context.place.root).branch())
    return before, after


def fill(context: Context) -> float | None:
    """How full the caller's context is, as the transcript of its session shows; else unknown."""
    session = context.config.session
    is_known = session is not None and context.journal.exists
    rows = context.journal.query(_TRANSCRIPT, (session,)) if is_known else []
    if not rows or not rows[0][0]:
        return None
    from standfast.clients.claude import transcript
    from standfast.protocols.resumption.rules.context_monitor import Fill

    path, window = rows[0]
    tokens = transcript.tokens(transcript.tail(str(path)))
    return Fill(tokens, int(window or transcript.window(context.environ))).share

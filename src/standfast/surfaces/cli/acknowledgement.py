"""How a command says that it recorded something of a document, and whether the file shows it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from standfast.errors.base import FaceBehind, StandfastError
from standfast.surfaces.cli import troubles
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.journal.tables.document_folds import Document
    from standfast.surfaces.cli.command_context import Context


def acknowledge(
    context: Context, document: Document, words: str, facts: Mapping[str, Any], *, must: bool = True
) -> int:
    """Say it, then let the file show it; JSON is one object, so that it waits for the file.

    Where the file *must* show it and does not, that is an error: what is recorded stays so.
    """
    if not context.json:
        print(words, flush=True)
    context.heal(resumption=document.file)  # after the acknowledgement: it undoes nothing
    behind = _behind(context, document)
    if context.json:
        why = {"error": behind.as_dict()} if behind is not None else {}
        print(json_line({**facts, "written": behind is None, **why}), flush=True)
    if behind is None or not must:
        return 0
    if context.json:
        return behind.exit_status
    troubles.tell(context)
    raise behind


def _behind(context: Context, document: Document) -> StandfastError | None:
    """Only with something in the way: a file may be newer, or somebody else's by now."""
    from standfast.protocols.resumption.files import document_files

    if not context.trouble or document_files.shows_since(context.journal, document):
        return None
    path = os.path.join(document.root, document.file)
    return FaceBehind("it is recorded, and the file does not show it yet", file=path)

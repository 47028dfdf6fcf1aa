"""A document that the journal does not have, asked about like one that it has.

What a file says that nobody has taken over is told by the same questions as what is journalled:
they are put to a journal in memory that holds this one document and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.journal import database
from standfast.journal.tables.document_folds import CELLS, cell_of
from standfast.journal.tables.schema import MIGRATIONS

if TYPE_CHECKING:
    from standfast.journal.tables.document_folds import Document
    from standfast.protocols.resumption.records.document_records import Ask


def journalled(document: Document | None = None) -> Ask:
    """How to ask a journal in which this document is the only fact, or in which there is none."""
    connection = database.in_memory()
    for statement in (each for migration in MIGRATIONS for each in migration):
        connection.execute(statement)
    if document is not None:
        connection.execute(
            "INSERT INTO cells VALUES (?, ?, 0, 1)", (CELLS + document.file, cell_of(document))
        )
    return lambda sql, values: connection.execute(sql, values).fetchall()

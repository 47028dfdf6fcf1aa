"""Whose file stands at the journal's place: only what was ours may be replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import JournalFromTheFuture, NotAJournal
from standfast.journal.tables import schema

if TYPE_CHECKING:
    from standfast.journal.repair.evidence import Claims
    from standfast.journal.repair.pages import Pages

_MAGIC = b"SQLite format 3\0"
_SCHEMA_COLUMNS = 5


def refuse_others(pages: Pages, claims: Claims, path: str) -> None:
    """Raise for another program's database and for a newer Standfast's; garbage may be ours."""
    page, checks = pages.first()
    if page[:16] != _MAGIC:
        if not claims.by_seq:
            raise NotAJournal("nothing in it was ever a journal of ours", file=path)
        return
    application = int.from_bytes(page[68:72], "big")
    tables = _tables(pages)
    if application != schema.APPLICATION_ID:
        theirs = bool(application) and checks  # a flipped byte would not check
        if theirs or (tables and "events" not in tables) or not claims.by_seq:
            raise NotAJournal("this database is not a Standfast journal", file=path)
    version = int.from_bytes(page[60:64], "big")
    if version > schema.VERSION and (checks or tables - _ours()):
        raise JournalFromTheFuture(
            f"the journal has schema {version}; this Standfast knows {schema.VERSION}", file=path
        )


def _tables(pages: Pages) -> set[str]:
    """The names in the schema, as far as they can be read."""
    return {
        str(record.values[1])
        for record in pages.records()
        if len(record.values) == _SCHEMA_COLUMNS and record.values[0] == "table"
    }


def _ours() -> set[str]:
    words = [statement.split() for steps in schema.MIGRATIONS for statement in steps]
    return {found[2] for found in words if found[:2] == ["CREATE", "TABLE"]}

"""Journals of every schema there ever was open with this version, and go on. It only grows."""

import shutil
from pathlib import Path

import pytest

from standfast.journal import decisions, reading, schema
from standfast.journal.store import Journal
from standfast.journal.verify import verify

MUSEUM = Path(__file__).with_name("museum")


@pytest.mark.parametrize("exhibit", sorted(path.name for path in MUSEUM.iterdir()))
def test_journal_of_an_older_schema_is_whole_and_goes_on(exhibit: str, tmp_path: Path) -> None:
    folder = tmp_path / "standfast"
    shutil.copytree(MUSEUM / exhibit, folder)
    journal = Journal(str(folder))

    before = verify(journal).problems
    with journal.writing() as tx:
        identity = decisions.note(tx, "one more")
        token = tx.take("lane/SL-API", "worker-2", expect=1)

    assert before == []
    assert (identity, token) == ("RD-003", 2)
    assert [(d.text, d.actor, d.subdir) for d in reading.decisions(journal)] == [
        ("sessions in Postgres", "user", ""),
        ("nothing under src/legacy", "lead", "services/api"),
        ("one more", "user", ""),
    ]
    assert reading.cell(journal, "phase") == ({"is": 2}, 4)
    assert verify(journal).problems == []


def test_museum_has_an_exhibit_of_the_present_schema() -> None:
    assert (MUSEUM / f"schema-{schema.VERSION}" / "journal.db").is_file()

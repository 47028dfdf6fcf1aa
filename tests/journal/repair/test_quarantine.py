"""Before anything is changed everything is copied: what cannot be copied ends the repair there."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from standfast import disk
from standfast.errors.base import DiskFailed, JournalUnreadable
from standfast.journal import damage, questions
from standfast.journal.repair import quarantine
from standfast.journal.repair.journal_repair import repair
from standfast.journal.retention import event_drop
from standfast.journal.store import Journal
from standfast.journal.verification import verify


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Give a journal that was found to be damaged."""
    made = Journal(str(tmp_path / "standfast"))
    for number in range(5):
        made.append("x", {"n": number})
    made.close()
    Path(made.folder, damage.MARK).write_text("somebody saw it", "utf-8")
    return made


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("code", [errno.EACCES, errno.EMFILE, errno.EIO])
def test_file_that_cannot_be_opened_now_ends_the_repair_before_it_begins(
    journal: Journal, monkeypatch: Any, code: int
) -> None:
    """It may hold the only copy of something."""
    log = f"{journal.path}-wal"
    real = disk.open_regular

    def refusing(name: str, *given: Any, **named: Any) -> int:
        if name == log:
            raise OSError(code, os.strerror(code), name)
        return real(name, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "open_regular", refusing)
        with pytest.raises((DiskFailed, JournalUnreadable), match=r"(can|may )not read"):
            repair(journal)

    assert os.path.exists(log)
    assert os.listdir(Path(journal.folder, quarantine.FOLDER)) == []
    assert repair(journal).events == 5


@pytest.mark.req("REL-06")
def test_folder_where_a_base_should_be_is_set_aside(journal: Journal) -> None:
    Path(event_drop.file_of(journal.folder, 3)).mkdir()

    repaired = repair(journal)

    assert repaired.events == 5
    assert questions.last_seq(journal) == 6
    assert verify(journal).problems == []
    assert repaired.quarantine is not None
    assert Path(repaired.quarantine, "odd-000000000003.base.json").is_dir()


@pytest.mark.req("REL-06")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can work in somebody else's repository")
def test_quarantine_that_root_makes_belongs_to_the_owner_of_the_journal(journal: Journal) -> None:
    for path in (Path(journal.folder), *Path(journal.folder).rglob("*")):
        os.chown(path, 12345, 12345)

    repair(journal)

    assert {path.stat().st_uid for path in Path(journal.folder).rglob("*")} == {12345}

"""A small journal whose whole truth is known, and ways to damage a copy of it."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from standfast.app import faces
from standfast.errors.base import StandfastError
from standfast.journal import database, questions
from standfast.journal.author import Author
from standfast.journal.place import Place
from standfast.journal.questions import Event
from standfast.journal.repair.journal_repair import Repaired, repair
from standfast.journal.repair.losses import KIND
from standfast.journal.repair.pages import Pages
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify

DATABASE, LOG, INDEX = "journal.db", "journal.db-wal", "journal.db-shm"
MIRROR = f"mirror/{1:012d}.jsonl"
FILES = (DATABASE, LOG, INDEX, MIRROR)


def fill(journal: Journal, count: int) -> None:
    """Events of three sessions, and every fifth time a decision with them."""
    for number in range(count):
        with journal.writing() as tx:
            if number % 5 == 0:
                decision_records.note(tx, f"decision {number} of {count}")
            author = Author("user", session=f"s-{number % 3}")
            tx.append("thing.done", {"number": number, "text": "x" * (number * 37 % 400)}, author)


@dataclass(frozen=True, slots=True)
class Sample:
    """A journal half in its database and half in its log, the newest events not mirrored."""

    folder: Path
    truth: list[Event]
    mirrored: int

    def copy(self, to: Path) -> Path:
        shutil.copytree(self.folder, to)
        return to


def make(folder: Path, *, mirror_all: bool = False) -> Sample:
    journal = Journal(str(folder))
    fill(journal, 20)
    journal.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    fill(journal, 19)
    journal.append("big", {"text": "w" * 9_000})
    journal.mirror()
    mirrored = questions.last_seq(journal)
    fill(journal, 11)
    if mirror_all:
        journal.mirror()
        mirrored = questions.last_seq(journal)
    truth = list(questions.events(journal, questions.Filter()))
    journal.let_go()  # as a hook leaves it: the mirror is behind
    return Sample(folder, truth, mirrored)


def flip(path: Path, offset: int, bit: int = 0) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        (byte,) = file.read(1)
        file.seek(offset)
        file.write(bytes([byte ^ 1 << bit]))


def harm(folder: Path) -> None:
    """One flipped byte in an event that only the database file and the mirror hold."""
    data = (folder / DATABASE).read_bytes()
    newer = {frame.page for frame in Pages(data, (folder / LOG).read_bytes()).frames.frames}
    for page in range(1, len(data) // 2_048):
        at = data.find(b'{"number":', page * 2_048, (page + 1) * 2_048)
        if at > 0 and page + 1 not in newer:
            flip(folder / DATABASE, at)
            return
    raise AssertionError("every page was written again")


def zero(path: Path, offset: int, count: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(bytes(count))


def told(folder: Path) -> list[Event] | StandfastError:
    """What a reader is told: all events, or the reason why not."""
    journal = Journal(str(folder))
    try:
        return list(questions.events(journal, questions.Filter()))
    except StandfastError as error:
        return error
    finally:
        journal.let_go()


def facts(folder: Path) -> list[Event]:
    """Every event but those that tell of a repair, and of what it lost."""
    found = told(folder)
    assert isinstance(found, list), found
    return [event for event in found if event.kind not in {KIND, "gap"}]


def mend(folder: Path) -> Repaired:
    """Repair, and hold the result to everything that a repair promises."""
    journal = Journal(str(folder))
    try:
        done = repair(journal)
        report = verify(journal)
        assert report.problems == []
        assert report.missing == done.missing or done.quarantine is None, report.missing
        assert repair(journal).quarantine is None, "a second one finds nothing to do"
        leftovers = {"damaged", "journal.db.rebuilt", "journal.db.rebuilt-wal"}
        left = leftovers & set(os.listdir(folder))
        assert not left, left
    finally:
        journal.close()
    return done


def missing(done: Repaired) -> set[int]:
    return {seq for first, last in done.missing for seq in range(first, last + 1)}


def keeps_the_truth(sample: Sample, folder: Path, done: Repaired) -> None:
    """What is there is what was recorded; what is not there is named; no number is used twice."""
    lost = missing(done)
    assert facts(folder) == [event for event in sample.truth if event.seq not in lost]
    assert lost <= {event.seq for event in sample.truth}


def with_sqlite(folder: Path, *statements: str) -> None:
    """Somebody's own program, which knows nothing of page checksums."""
    connection = sqlite3.connect(folder / DATABASE)
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.commit()
    connection.close()


def with_checksums(folder: Path, *statements: str) -> None:
    """Somebody's hand in the database, its page checksums in order."""
    connection = database.connect(str(folder / DATABASE))
    for statement in (*statements, "PRAGMA wal_checkpoint(TRUNCATE)"):
        connection.execute(statement).fetchall()
    connection.close()


def keep_faces(folder: Path) -> None:
    """What every command does: adopt and publish."""
    journal = Journal(str(folder))
    here = Place(folder=str(folder), root=str(folder.parent), subdir="", in_git=False)
    for outcome in faces.keep_all(journal, here, None):
        assert outcome.refused is None
    journal.close()


Harm = Callable[[Path], object]

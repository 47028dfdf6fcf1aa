"""What stands in the files of resumption sections and is not taken in yet, for those who only read.

Nothing of a document changes here and no byte of a work tree. What is found new is kept in the
journal once: who looks next may find another branch there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import FaceInvalid, StandfastError
from standfast.faces.face import SIZE_LIMIT
from standfast.faces.look import digest
from standfast.formats.json_schema import shown
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.journal.place import Place
    from standfast.journal.store import Journal
    from standfast.journal.tables.document_folds import Document
    from standfast.protocols.resumption.rules.arrivals import Arrival
    from standfast.protocols.resumption.rules.section_units import Path

PREFIX = "resumption/"  # as in orchestration_yaml.py, which most commands need not load
WHY = "found in the file, not yet taken"
_KNOWN = "SELECT 1 FROM published WHERE face = ? AND digest = ?"
_WORDS = 80
_MOST = 4


class Waiting(NamedTuple):
    """A file that says what the journal does not, or that cannot be read."""

    file: str
    path: str
    document: Document | None = None  # none: of a section that nobody has taken over
    arrival: Arrival | None = None
    refused: StandfastError | None = None
    data: bytes = b""
    is_first: bool = False  # nobody has seen this before
    is_old: bool = False  # bytes that we once wrote, of an earlier state

    @property
    def is_news(self) -> bool:
        """Whether the file says anything that the journal has not, as far as it can be read."""
        if self.arrival is None:
            return not self.is_old
        return bool(self.arrival.taken or self.lost)

    @property
    def lost(self) -> list[tuple[str, str, str]]:
        """What of it will not be taken: the file, the place in the section, and why."""
        kept = self.arrival.kept if self.arrival is not None else ()
        return [(self.file, shown(each.path), each.why) for each in kept if not each.is_ours]

    @property
    def words(self) -> str:
        """What of it is new, for people and models: to be quoted."""
        if self.arrival is None:
            return "what cannot be read" if self.refused else "its resumption section"
        section = self.arrival.section
        news = [_words(section, path) for path in self.arrival.taken]
        lost = [
            f"{shown(each.path)} ({each.why})" for each in self.arrival.kept if not each.is_ours
        ]
        found = [*news, *lost]
        more = f"; {len(found) - _MOST} more" if len(found) > _MOST else ""
        return "; ".join(found[:_MOST]) + more


def _words(section: dict[str, object], path: Path) -> str:
    from standfast.protocols.resumption.rules.section_units import records

    value = dict(records(section)).get(path)
    said = value.get("decision") if isinstance(value, dict) else value
    is_short = isinstance(said, (str, int, float)) and not isinstance(said, bool)
    return f"{shown(path)}: {one_line(str(said), _WORDS)}" if is_short else shown(path)


def look_at(journal: Journal, place: Place, default: str) -> list[Waiting]:
    """Every file of this checkout that says what is not taken yet; what is new in it is kept."""
    from standfast.journal import id_file
    from standfast.protocols.resumption.files import document_files, section_file
    from standfast.protocols.resumption.records import document_records

    document_files.take_over(journal, place, default)  # one that nobody knows is begun as it is
    if not journal.exists:
        return []
    known = document_records.documents(journal.query)
    here = [each for each in known if id_file.here(journal, each.root) == place.root]
    there = [each for each in here if document_files.is_there(journal, each)]
    found = [of_document(journal, each) for each in there]
    if section_file.document_at(journal.query, place.root, default) is None:
        found.append(_of_nobody(place, default))
    waiting = [each for each in found if each is not None]
    return [each._replace(is_first=each.is_news and _keep(journal, each)) for each in waiting]


def of_document(journal: Journal, document: Document) -> Waiting | None:
    """What the file of a document says that the journal does not; None where that is nothing."""
    path = os.path.join(document.root, document.file)
    data = _read(document.root, document.file)
    if data is None or _is_newest(journal, PREFIX + document.file, data):
        return None
    if _is_ours(journal, PREFIX + document.file, data):
        return Waiting(document.file, path, document, is_old=True)
    from standfast.protocols.resumption.files import section_arrival

    try:
        arrival = section_arrival.judge(journal.query, document, section_arrival.read(data, path))
    except StandfastError as error:
        line = {"file": path, "line": error.line, "remedy": error.remedy}
        refused = FaceInvalid(error.problem, **line)  # type: ignore[arg-type]  # as they are
        return Waiting(document.file, path, document, refused=refused, data=data)
    waiting = Waiting(document.file, path, document, arrival, data=data)
    return waiting if waiting.is_news or arrival.is_old else None


def _of_nobody(place: Place, file: str) -> Waiting | None:
    """A section that nobody has taken over yet; what is none, whoever asks for it is told."""
    data = _read(place.root, file)
    if data is None or b"resumption" not in data:
        return None
    return Waiting(file, os.path.join(place.root, file), data=data)


def _read(root: str, file: str) -> bytes | None:
    try:
        return disk.read_beneath(root, file, limit=SIZE_LIMIT)
    except (StandfastError, OSError):
        return None


def _is_newest(journal: Journal, name: str, data: bytes) -> bool:
    newest = "SELECT 1 FROM faces WHERE face = ? AND digest = ?"
    return bool(journal.query(newest, (name, digest(data))))


def _is_ours(journal: Journal, name: str, data: bytes) -> bool:
    """Whether these bytes were published by us, now or before: they say nothing new."""
    return bool(journal.query(_KNOWN, (name, digest(data))))


def _keep(journal: Journal, waiting: Waiting) -> bool:
    """Keep the bytes once, where the journal may be written: a sandbox may forbid it."""
    from standfast.journal import overwritten_files
    from standfast.journal.author import STANDFAST

    row = (f"seen:{PREFIX}{waiting.file}", digest(waiting.data))
    if journal.query(_KNOWN, row):
        return False
    try:
        with journal.writing() as tx:
            overwritten_files.keep(tx, waiting.path, waiting.data, WHY, STANDFAST)
            tx.execute("INSERT OR IGNORE INTO published VALUES (?, ?)", row)
    except StandfastError:
        return False
    return True

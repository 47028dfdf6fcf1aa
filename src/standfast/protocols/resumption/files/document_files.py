"""The files of all resumption sections brought up to date: what they say adopted, then published.

A file is written where it is at home, if it is there, if its own command was called, or if the
command that first called for it died before it could write it. One that was taken away stays away.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import NothingFound, StandfastError
from standfast.faces import look
from standfast.faces.look import Became, digest
from standfast.faces.rest import is_untouched
from standfast.journal import id_file
from standfast.journal.author import STANDFAST
from standfast.journal.place import is_checkout
from standfast.journal.tables.schema import ANY_DOCUMENT

if TYPE_CHECKING:
    from standfast.faces.face import Face
    from standfast.faces.publish import Outcome
    from standfast.journal.place import Place
    from standfast.journal.store import Journal
    from standfast.journal.tables.document_folds import Document

PREFIX = "resumption/"  # as in orchestration_yaml.py, which most commands need not load


def keep(journal: Journal, place: Place, default: str, asked: str | None = None) -> list[Outcome]:
    """Every document; *default* is taken over if it is there, *asked* is written in any case."""
    take_over(journal, place, default)
    if not journal.query(ANY_DOCUMENT):
        return []
    from standfast.protocols.resumption.files import compaction_files, section_file
    from standfast.protocols.resumption.records import document_records

    name = section_file.name_here(journal.query, place.root, asked or default)
    if document_records.lags(journal.query, name):
        with journal.writing() as tx:
            document_records.catch_up(tx, STANDFAST, name)
        compaction_files.keep(journal)
    kept = []
    for found in document_records.documents(journal.query):
        document = _at_home(journal, place, found)
        if document is not None and not is_there(journal, document):
            continue  # another workflow stands in its file now
        if document is not None and not _is_settled(journal, document, asked=asked):
            kept += _keep(journal, place, document, asked=asked)
    return kept


def take(journal: Journal, place: Place, file: str) -> list[Outcome]:
    """Take in what stands in a file, before anything is written about it; it is left as it is."""
    take_over(journal, place, file)
    if not (journal.exists and journal.query(ANY_DOCUMENT)):
        return []
    from standfast.protocols.resumption.files import section_file

    found = section_file.document_at(journal.query, place.root, file)
    document = _at_home(journal, place, found) if found is not None else None
    if document is None or _is_settled(journal, document, asked=None):
        return []
    from standfast.faces import publish
    from standfast.protocols.resumption.files import orchestration_yaml

    face, walk = orchestration_yaml.face(document, in_git=place.in_git)
    outcome = publish.take_in(journal, face)
    return [outcome, *(publish.Outcome(outcome.became, refused=each) for each in walk.left)]


def is_there(journal: Journal, document: Document) -> bool:
    """Whether its file shows it: a branch may bring another workflow to the same path."""
    from standfast.protocols.resumption.files import section_file

    found = section_file.document_at(journal.query, document.root, document.file)
    return found is not None and found.name == document.name


def take_over(journal: Journal, place: Place, file: str) -> None:
    """A valid section that is there already is one that we keep; each version is looked at once."""
    path = os.path.join(place.root, file)
    if not os.path.lexists(path) or (journal.exists and _is_known(journal, place, file)):
        return
    try:
        data = digest(disk.read_beneath(place.root, file))
        values = (f"looked:{PREFIX}{place.root}/{file}", data)
        seen = "SELECT 1 FROM published WHERE face = ? AND digest = ?"
        if not (journal.exists and journal.query(seen, values)):
            _look_at(journal, place, file, values)
    except (StandfastError, OSError):
        return  # whoever asks for it is told what is wrong with it


def _is_known(journal: Journal, place: Place, file: str) -> bool:
    if not journal.query(ANY_DOCUMENT):
        return False
    from standfast.protocols.resumption.files import section_file

    return section_file.document_at(journal.query, place.root, file) is not None


def _look_at(journal: Journal, place: Place, file: str, values: tuple[str, str]) -> None:
    from standfast.protocols.resumption.files import section_file

    found = section_file.look(place.root, file)
    by = section_file.whose(journal, found, place.root)
    with journal.writing() as tx:
        if not section_file.take_over(tx, found, place.root, STANDFAST, by):
            tx.execute("INSERT OR IGNORE INTO published VALUES (?, ?)", values)


def _at_home(journal: Journal, place: Place, document: Document) -> Document | None:
    """Where a checkout is gone, or leads another workflow now, it moves to one that has it."""
    here = id_file.here(journal, document.root)
    left = (
        here != place.root and not is_there(journal, document) and _shows(journal, place, document)
    )
    if here == document.root and is_checkout(place, here) and not left:
        return document
    root = here if is_checkout(place, here) and not left else place.root
    if not os.path.lexists(os.path.join(root, document.file)):
        return None
    from standfast.protocols.resumption.records import document_records

    with journal.writing() as tx:
        return document_records.move(tx, document, root, STANDFAST)


def _shows(journal: Journal, place: Place, document: Document) -> bool:
    """Whether its workflow stands in this checkout's file, while another one stands at its home."""
    from standfast.protocols.resumption.files import section_file

    found = section_file.document_at(journal.query, place.root, document.file)
    is_file = os.path.lexists(os.path.join(place.root, document.file))
    return is_file and found is not None and found.name == document.name


def _is_settled(journal: Journal, document: Document, *, asked: str | None) -> bool:
    """Whether the file shows this state of the journal and nobody touched it; no YAML is read."""
    name = PREFIX + document.file
    try:
        data = digest(disk.read_beneath(document.root, document.file))
    except FileNotFoundError:
        return document.file != asked and _was_written(journal, name)
    except (StandfastError, OSError):
        return False
    shown = "SELECT 1 FROM published WHERE face = ? AND digest = ?"
    at_rest = "SELECT 1 FROM faces WHERE face = ? AND draft IS NULL AND refused IS NULL"
    is_shown = journal.query(shown, (_shown(document.file, document.seq), data))
    return bool(is_shown and journal.query(at_rest, (name,))) and is_untouched(journal, name)


def shows_since(journal: Journal, document: Document) -> bool:
    """Whether the file shows this state of a document, or a later one."""
    try:
        data = digest(disk.read_beneath(document.root, document.file))
        rows = journal.query("SELECT face FROM published WHERE digest = ?", (data,))
    except (StandfastError, OSError):
        return False
    name = _shown(document.file, 0)[:-1]
    found = [str(face).removeprefix(name) for (face,) in rows if str(face).startswith(name)]
    return any(seq.isdigit() and int(seq) >= document.seq for seq in found)


def _was_written(journal: Journal, name: str) -> bool:
    rows = journal.query("SELECT digest FROM faces WHERE face = ?", (name,))
    return bool(rows) and rows[0][0] is not None


def _shown(file: str, seq: int) -> str:
    """Under which name the file's bytes are remembered that show the state of an event."""
    return f"{PREFIX}{file}@{seq}"


def _keep(
    journal: Journal, place: Place, document: Document, *, asked: str | None
) -> list[Outcome]:
    from standfast.faces import publish
    from standfast.protocols.resumption.files import orchestration_yaml

    face, walk = orchestration_yaml.face(document, in_git=place.in_git)
    try:
        if document.file == asked and not os.path.lexists(face.path):
            disk.make_folders_beneath(face.root, face.relative)
        outcome = publish.keep(journal, face)
    except NothingFound as error:
        return [publish.Outcome(became=Became.ABSENT, refused=error)]
    if outcome.refused is None:
        _remember(journal, face, walk.seq)
    return [outcome, *(publish.Outcome(outcome.became, refused=each) for each in walk.left)]


def _remember(journal: Journal, face: Face, seq: int) -> None:
    """The file as it was published shows this state: the next command need not read it."""
    published = look.remembered(journal, face).digest
    if published is not None:
        with journal.writing() as tx:
            values = (_shown(face.relative, seq), published)
            tx.execute("INSERT OR IGNORE INTO published VALUES (?, ?)", values)

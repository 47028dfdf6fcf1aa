"""What stands in the file of a resumption section and not in the journal: looked at, and taken in.

`arrivals` decides. Those who only read show what it says and change nothing; whoever
writes the document takes it in first. What an edit lost is kept in the journal, and named.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import clock
from standfast.errors.base import FaceInvalid
from standfast.faces import edit_authors
from standfast.formats import yaml_sections
from standfast.formats.json_schema import shown
from standfast.formats.yaml_writer import write
from standfast.journal import overwritten_files
from standfast.journal.author import USER
from standfast.protocols.resumption.files.surrounding_edits import text_of
from standfast.protocols.resumption.records import document_records as recorded
from standfast.protocols.resumption.records import past_states
from standfast.protocols.resumption.rules import arrivals, orchestration
from standfast.protocols.resumption.rules.migration.section_migration import (
    FIRST_VERSION,
    Around,
    migrate,
    version_of,
)
from standfast.protocols.resumption.rules.repository_labels import DECISIONS
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.section_units import records
from standfast.redaction.redactor import redact_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from standfast.faces.face import Face
    from standfast.formats.yaml_text import Path as Place
    from standfast.journal.store import Journal
    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.records.document_records import Ask
    from standfast.protocols.resumption.rules.arrivals import Arrival
    from standfast.protocols.resumption.rules.log_union import Kept
    from standfast.protocols.resumption.rules.section_schema import Section
    from standfast.protocols.resumption.rules.section_units import Path

    Whose = recorded.Whose
    Words = Callable[[Path, object], str]

_SHORT = 12
_LATEST = ("recovery_state", "last_checkpoint")


class Found(NamedTuple):
    """The section of a file, as far as there is one, and what the file calls its checkpoint."""

    section: Section | None
    latest_id: str | None
    lines: Mapping[Place, int]
    unsaid: frozenset[Path] = frozenset()  # what was filled in, because a person reads it so


def read(data: bytes, path: str) -> Found:
    """The section in these bytes; one that cannot be read is refused with its line."""
    text = text_of(data, path)
    latest = orchestration.latest_id(text)
    span = yaml_sections.find(text, orchestration.KEY, path)
    if span is None or span.value in (None, {}):
        return Found(None, latest, {})
    if version_of(span.value) == FIRST_VERSION or not isinstance(span.value, dict):
        raise FaceInvalid("the section `resumption` is of v1.0", file=path, line=span.line)
    moved = migrate(span.value, Around("", path))
    if moved.removed:  # what would get lost waits for who wrote it
        first = validate(span.value, span.lines)[0]
        raise FaceInvalid(f"`{first.at}` {first.problem}", file=path, line=first.line)
    value: Any = redact_value(moved.section)
    unsaid = frozenset(each for each, _ in records(value) if not moved.says(each))
    return Found(value, latest, span.lines, unsaid)


def as_said(section: Section, unsaid: Iterable[Path], ours: Section) -> Section:
    """What a file does not say is no news: it stays as we have it."""
    said = dict(section)
    for name, *field in unsaid:
        if not field:
            said[name] = ours.get(name, said[name])
        elif isinstance(said[name], dict) and field[0] in ours.get(name, {}):
            said[name] = {**said[name], field[0]: ours[name][field[0]]}
    return said


def judge(ask: Ask, document: Document, found: Found) -> Arrival:
    """What becomes of it; decided anew wherever it is acted on."""
    ours = _with_latest(ask, document, found.latest_id)
    if found.section is None:
        return arrivals.Arrival(ours)
    theirs = as_said(found.section, found.unsaid, ours)
    past = past_states.past(ask, document, theirs)
    now_s = clock.now_us() // clock.MICROSECONDS
    arrival = arrivals.judge(ours, theirs, past, now_s)
    if found.latest_id is None:
        return arrival
    state = {**arrival.section["recovery_state"], "last_checkpoint": found.latest_id}
    kept = tuple(each for each in arrival.kept if each.path != _LATEST)
    return arrival._replace(section={**arrival.section, "recovery_state": state}, kept=kept)


def _with_latest(ask: Ask, document: Document, named: str | None) -> Section:
    """Our section with the checkpoint that the file calls the latest, else the journal does."""
    latest = recorded.latest_checkpoint(ask, named)
    if named == document.latest_id or (latest is None and named is None):
        return document.section
    return {**document.section, "recovery_state": {**document.state, "last_checkpoint": latest}}


def rewind(ask: Ask, document: Document, found: Found) -> Arrival:
    """The same where a person says that the file is right."""
    ours = _with_latest(ask, document, found.latest_id)
    return (
        arrivals.Arrival(ours) if found.section is None else arrivals.rewound(ours, found.section)
    )


def take(
    journal: Journal,
    document: Document,
    face: Face,
    found: Found,
    words: Words,
    origin: str,
    judge: Callable[[Ask, Document, Found], Arrival] = judge,
) -> Callable[[Writing], list[Kept]]:
    """Judge it, and ask git who wrote what is new, while nobody waits; then what takes it in."""
    first = judge(journal.query, document, found)
    whose = whose_of(journal, face, first, found, words)

    def act(tx: Writing) -> list[Kept]:
        now = recorded.known(tx.execute, document.name)
        arrival = judge(tx.execute, now, found)
        by = {path: whose.get(path, edit_authors.OF_REPOSITORY) for path in arrival.taken}
        decided_by = {_said(entry): whose[path] for path, entry in _decisions(found, whose)}
        recorded.adopt(tx, now, arrival, found.latest_id, origin, by, decided_by)
        if not arrival.kept or not _is_first(tx, face, lost(arrival)):
            return []
        recorded.pass_over(tx, now, arrival.kept, origin, recorded.one_of(whose))
        overwritten_files.keep(tx, face.path, lost(arrival), _why(arrival), USER)
        return list(arrival.kept)

    return act


def whose_of(
    journal: Journal, face: Face, arrival: Arrival, found: Found, words: Words
) -> dict[Path, Any]:
    """Who wrote each record that came, by the words that it has in the file."""
    if not arrival.taken or found.section is None:
        return {}
    units = {path[0] for path in arrival.taken}
    theirs = {path: value for path, value in records(found.section) if path[0] in units}
    values = {path: words(path, value) for path, value in theirs.items()}
    by = edit_authors.of(
        journal, face, values.values(), written_us=edit_authors.written_us(face.path)
    )
    whose = {path: by[value] for path, value in values.items()}
    new = dict(records(arrival.section))
    for path in arrival.taken:  # one that has another name here
        if path in new and theirs.get(path) != new[path] and path[0] != DECISIONS:
            same = (at for at, value in theirs.items() if at[0] == path[0] and value == new[path])
            whose[path] = whose.get(next(same, ()), edit_authors.OF_REPOSITORY)
    return whose


def _decisions(found: Found, whose: Whose) -> list[tuple[Path, Section]]:
    log = found.section[DECISIONS] if found.section is not None else []
    paths = [((DECISIONS, entry["id"]), entry) for entry in log]
    return [(path, entry) for path, entry in paths if path in whose]


def _said(entry: Section) -> tuple[str, str]:
    return entry["decision"], entry["rationale"]


def _is_first(tx: Writing, face: Face, data: bytes) -> bool:
    """Whether this was not kept before: a file that cannot be written stays as it is."""
    row = (f"lost:{face.name}", sha256(data).hexdigest())
    known = tx.execute("SELECT 1 FROM published WHERE face = ? AND digest = ?", row)
    tx.execute("INSERT OR IGNORE INTO published VALUES (?, ?)", row)
    return not known


def lost(arrival: Arrival) -> bytes:
    """What lost, as a person reads it."""
    return _text(arrival.kept)


def _text(kept: Iterable[Kept]) -> bytes:
    said: Any = {f"{shown(each.path)}{' (ours)' * each.is_ours}": each.value for each in kept}
    return write(said).encode()


def _why(arrival: Arrival) -> str:
    theirs = any(not each.is_ours for each in arrival.kept)
    return "an edit that was not taken" if theirs else "replaced by a newer section"


def named(face: Face, found: Found, kept: list[Kept]) -> list[FaceInvalid]:
    """What a person is told of it, each with its line and where it is now."""
    digest = sha256(_text(kept)).hexdigest()
    return [
        FaceInvalid(
            f"`{shown(each.path)}` {each.why}: see `standfast journal kept {digest[:_SHORT]}`",
            file=face.path,
            line=_line(found, each.path),
            remedy=each.remedy,
        )
        for each in kept
        if not each.is_ours
    ]


def _line(found: Found, path: Path) -> int:
    whole = (orchestration.KEY, *path)
    places = (whole[:end] for end in range(len(whole), 0, -1))
    return next((found.lines[at] for at in places if at in found.lines), 1)

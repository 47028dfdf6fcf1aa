"""What there is to see of a section: the journal's document, else what the file says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import clock
from standfast.app import faces
from standfast.authorship import REPOSITORY
from standfast.clients.hooks.checkout import Checkout
from standfast.errors.base import NothingFound, StandfastError
from standfast.protocols.resumption.files import orchestration_yaml, section_file, untaken_edits
from standfast.protocols.resumption.records import freshness, past_states
from standfast.protocols.resumption.rules.repository_labels import DECISIONS, label
from standfast.protocols.resumption.rules.section_schema import VERSION
from standfast.protocols.resumption.rules.staleness import FRESH, STALE, Staleness, judge
from standfast.surfaces.cli import section_write as writing

if TYPE_CHECKING:
    from standfast.journal.author import Author
    from standfast.journal.tables.document_folds import Document
    from standfast.protocols.resumption.files.section_file import Found
    from standfast.protocols.resumption.files.untaken_edits import Waiting
    from standfast.protocols.resumption.records.document_records import Whose
    from standfast.protocols.resumption.rules.migration.migration_notes import Note
    from standfast.surfaces.cli.command_context import Context

BEGIN = "Begin one with `standfast resumption trigger T1 --phase 1 --next-step …`."


class Seen(NamedTuple):
    """A section, and how old it is for who asks."""

    file: str
    section: dict[str, Any]
    staleness: Staleness
    document: Document | None = None  # as the journal has it
    foreign: frozenset[str] = frozenset()  # what of it the repository wrote
    read: tuple[str, tuple[Note, ...]] | None = None  # what it is instead of v2.0, and how read
    untaken: frozenset[str] = frozenset()  # what of it stands in the file and not in the journal
    waiting: Waiting | None = None
    branches: tuple[str, str] | None = None  # where it was last written, and here, if they differ

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        level, reason = self.staleness.level, self.staleness.reason
        return {
            "file": self.file,
            "version": VERSION if self.read is None else self.read[0].replace("v", ""),
            "assumed": [] if self.read is None else [str(note) for note in self.read[1]],
            "journalled": self.document is not None,
            "staleness": {"level": level, "reason": reason},
            "by": dict.fromkeys(sorted(self.foreign), REPOSITORY),
            "not_yet_taken": sorted(self.untaken),
            "written_on": self.branches[0] if self.branches else None,
            "resumption": self.section,
        }


def look(context: Context, given: str | None) -> Seen:
    """The section of a file; none is an error that says how to begin one."""
    file = writing.file_of(context, given)
    document = writing.known(context, file)
    if document is None:
        found = section_file.look(context.place.root, file)
        _refuse_absent(found)
        foreign = _foreign(section_file.whose_as_read(context.journal, found, context.place.root))
        moved = found.readable
        read = None if found.is_valid else (found.kind, moved.notes)
        age = _by_file(context, found, moved.section)
        return Seen(file, moved.section, age, foreign=foreign, read=read)
    waiting = untaken_edits.of_document(context.journal, document)
    seen = _merged(context, document, waiting)
    session = context.config.session
    age = freshness.of_document(context.journal.query, document, session, clock.now_us())
    if age.level == FRESH:
        age = _beside(_found(context, document), document.section) or age
    return seen._replace(staleness=age, branches=_branches(context, document))


def _branches(context: Context, document: Document) -> tuple[str, str] | None:
    """One workflow has one state: it may have been written on another branch than this one."""
    there = past_states.branch(context.journal.query, document)
    here = Checkout(context.place.root).branch() if there is not None else None
    return (there, here) if there is not None and here not in (None, there) else None


def _merged(context: Context, document: Document, waiting: Waiting | None) -> Seen:
    """The journal's section with what the file brings, each labelled."""
    arrival = waiting.arrival if waiting is not None else None
    section = document.section if arrival is None else arrival.section
    foreign, fresh = _labels(context, document), Staleness(FRESH, "")
    if waiting is None or arrival is None:
        return Seen(document.file, section, fresh, document, foreign, waiting=waiting)
    untaken = frozenset(map(label, arrival.taken))
    by = orchestration_yaml.brought(context.journal, document, arrival, waiting.data)
    theirs = {label(path) for path in arrival.taken if is_theirs(by.get(path))}
    foreign = (foreign - untaken) | theirs
    return Seen(document.file, section, fresh, document, foreign, untaken=untaken, waiting=waiting)


def is_theirs(author: Author | None) -> bool:
    """What nobody can tell is the repository's."""
    return author is None or author.actor == REPOSITORY


def _foreign(whose: Whose) -> frozenset[str]:
    return frozenset(label(path) for path, by in whose.items() if by.actor == REPOSITORY)


def _labels(context: Context, document: Document) -> frozenset[str]:
    """The fields that the repository wrote, and the decisions: those are the journal's."""
    theirs = "SELECT id FROM decisions WHERE actor = ?"
    said = {str(row[0]) for row in context.journal.query(theirs, (REPOSITORY,))}
    log = zip(document.section[DECISIONS], document.decided, strict=False)
    return document.foreign | {f"{DECISIONS}.{entry['id']}" for entry, own in log if own in said}


def _found(context: Context, document: Document) -> Found | None:
    """The file, as far as it can be read: what is wrong with it is told by others."""
    root = faces.document_root(context.journal, context.place, document.file)
    try:
        return section_file.look(root, document.file)
    except (StandfastError, OSError):
        return None


def _by_file(context: Context, found: Found, section: dict[str, Any]) -> Staleness:
    session = context.config.session if context.journal.exists else None
    age = judge(
        section["recovery_state"]["updated_at"],
        now_us=clock.now_us(),
        session_started_us=freshness.session_start(context.journal.query, session)
        if session
        else None,
    )
    return (_beside(found, section) if age.level == FRESH else None) or age


def _beside(found: Found | None, section: dict[str, Any]) -> Staleness | None:
    """Whether the rest of the file is ahead of its section."""
    if found is None or found.around is None:
        return None
    ahead, phase = found.around.current_phase, section["recovery_state"]["current_phase"]
    if ahead is None or phase is None or ahead <= phase:
        return None
    return Staleness(STALE, f"the file's pipelines are in phase {ahead}, the section in {phase}")


def _refuse_absent(found: Found) -> None:
    if not found.has_section:
        raise absent(found)


def absent(found: Found) -> NothingFound:
    """There is no section; what was meant as one is named with its line."""
    if found.near is not None:
        near = found.near
        return NothingFound(near.problem, file=found.path, line=near.line, remedy=near.remedy)
    what = "the file has no resumption section" if found.exists else "there is no such file"
    return NothingFound(what, file=found.path, remedy=BEGIN)

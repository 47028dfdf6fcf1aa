"""The file of a resumption section as it stands on disk: looked at, taken over, migrated.

Nothing here writes the file: what is decided goes into the journal, and the face is published.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import clock, disk
from standfast.errors.base import FaceInvalid, StandfastError
from standfast.faces.drafts import without_secrets
from standfast.faces.face import SIZE_LIMIT
from standfast.faces.look import know
from standfast.formats import yaml_sections
from standfast.formats.document_limits import decode
from standfast.formats.json_schema import line_of
from standfast.journal import overwritten_files
from standfast.journal.author import STANDFAST
from standfast.protocols.resumption.files import section_arrival
from standfast.protocols.resumption.files.orchestration_yaml import PREFIX, judged, refuse_near
from standfast.protocols.resumption.records import document_records as recorded
from standfast.protocols.resumption.rules import orchestration, section_check
from standfast.protocols.resumption.rules.arrivals import rewound
from standfast.protocols.resumption.rules.migration.section_migration import (
    FIRST_VERSION,
    Migrated,
    migrate,
    version_of,
)
from standfast.protocols.resumption.rules.near_sections import near
from standfast.protocols.resumption.rules.section_schema import VERSION
from standfast.protocols.resumption.rules.section_units import records
from standfast.protocols.resumption.rules.triggers import Recovery
from standfast.protocols.resumption.rules.update_matrix import Resumption, begin
from standfast.protocols.resumption.rules.workflow_id import workflow_id
from standfast.redaction.redactor import redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.formats.json_schema import Finding
    from standfast.formats.yaml_text import Path
    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.tables.document_folds import Document
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.records.document_records import Ask, Whose
    from standfast.protocols.resumption.rules.migration.section_migration import Around
    from standfast.protocols.resumption.rules.near_sections import Near

_UPDATED = ("recovery_state", "updated_at")
WHY = "a section before it was brought to v2.0"
MIGRATE = (
    "Run `standfast resumption migrate`: it brings the section to v2.0, keeps what it was, and says"
    " what it assumed; with --dry-run it only shows that."
)


class Found(NamedTuple):
    """A file and its section; without one, version and value are None."""

    file: str
    path: str
    around: Around
    exists: bool = False
    has_section: bool = False
    version: str | None = None
    value: Any = None
    findings: tuple[Finding, ...] = ()  # what keeps it from being v2.0
    advice: tuple[Finding, ...] = ()  # what other readers of it may stumble over
    latest_id: str | None = None
    line: int = 1
    lines: Mapping[Path, int] = {}
    data: bytes = b""
    near: Near | None = None  # where it has none: what was meant as one

    @property
    def is_valid(self) -> bool:
        """Whether the section is v2.0 as it stands."""
        return self.version == VERSION and not self.findings

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return f"v{self.version}" if self.is_valid or not self.findings else f"nearly v{VERSION}"

    @property
    def readable(self) -> Migrated:
        """The section as a person reads it; one that is valid is itself."""
        return migrate(self.value, self.around)

    def line_of(self, path: Path) -> int:
        """Where a part of the section stands in the file."""
        return line_of(self.lines, (orchestration.KEY, *path))

    @property
    def text(self) -> str:
        """The file, as far as its workflow is looked for in it."""
        return self.data.decode("utf-8", "replace")


def look(root: str, file: str) -> Found:
    """The file as it is; what is no YAML, or not one document, is refused with its line."""
    path = os.path.join(root, file)
    try:
        data = disk.read_beneath(root, file, limit=SIZE_LIMIT)
        updated = clock.rfc3339(os.stat(path).st_mtime_ns // 1000)
    except FileNotFoundError:
        nothing = orchestration.around("", clock.rfc3339(clock.now_us()), file)
        return Found(file, path, nothing)
    text = decode(data, name=path)
    around = orchestration.around(text, updated, file)
    found = Found(file, path, around, exists=True, data=data, latest_id=around.last_checkpoint)
    span = yaml_sections.find(text, orchestration.KEY, path)
    if span is None or span.value in (
        None,
        {},
    ):  # `resumption:` with nothing behind it is a place for it
        return found._replace(near=near(text))
    version = version_of(span.value)
    findings = section_check.validate(span.value, span.lines)
    advice = section_check.validate(span.value, span.lines, plain=span.plain)
    return found._replace(
        has_section=True,
        version=version,
        value=span.value,
        findings=tuple(findings) if version != FIRST_VERSION else (),
        advice=tuple(each for each in advice if each not in findings),
        line=span.line,
        lines=span.lines,
    )


def ensure(tx: Writing, root: str, file: str, author: Author) -> Document:
    """The document of a file: known, taken over as it stands there, or begun."""
    known = in_file(tx, text_at(root, file), file)
    if known is not None:
        return known
    found = look(root, file)
    refuse(found)
    return _take(tx, found, root, author) if found.has_section else _begin(tx, found, root, author)


def in_file(tx: Writing, text: str | None, file: str) -> Document | None:
    """The document that stands there, with the name of the workflow that the file leads now."""
    if text is None:
        return recorded.find(tx.execute, file)
    known = recorded.in_file(tx.execute, file, text)
    return None if known is None else recorded.give_name(tx, known, text, STANDFAST)


def text_at(root: str, file: str) -> str | None:
    """A file as far as its workflow is looked for in it; None where there is none to read."""
    try:
        return disk.read_beneath(root, file, limit=SIZE_LIMIT).decode("utf-8", "replace")
    except (StandfastError, OSError):
        return None


def document_at(ask: Ask, root: str, file: str) -> Document | None:
    """The document that a file shows as it stands; where there is no file, the last one of it."""
    text = text_at(root, file)
    return recorded.find(ask, file) if text is None else recorded.in_file(ask, file, text)


def name_here(ask: Ask, root: str, file: str) -> str | None:
    """The document that whoever decides something in a checkout means.

    Empty where its file leads a workflow that nobody has begun; None where no file says which.
    """
    found = document_at(ask, root, file)
    if found is not None:
        return found.name
    text = text_at(root, file)
    return "" if text is not None and workflow_id(text) is not None else None


def refuse(found: Found) -> None:
    """Nothing is written into a section that is not v2.0: it stays as it is until it is migrated.

    Whoever wants to write is offered that first: an edit by hand of each fault is nobody's work.
    """
    if found.near is not None:
        refuse_near(found.near, found.path)
    if found.version == FIRST_VERSION:
        problem, line = "the section `resumption` is of v1.0", found.line
    elif found.findings:
        finding, more = found.findings[0], len(found.findings) - 1
        others = f"; {more} more such thing{'s' if more > 1 else ''}" if more else ""
        problem, line = f"`{finding.at}` {finding.problem}{others}", finding.line
    else:
        return
    raise FaceInvalid(problem, file=found.path, line=line, remedy=MIGRATE)


def _take(
    tx: Writing, found: Found, root: str, author: Author, whose: Whose | None = None
) -> Document:
    section: Any = redact_value(found.value)
    if whose is None:  # most are judged before anybody waits for the journal
        whose = judged(tx.journal, found.file, root, section)
    latest = recorded.latest_checkpoint(tx.execute, found.latest_id)
    if latest is not None:
        section["recovery_state"]["last_checkpoint"] = latest
    state = Resumption(section)
    is_edited_from = found.version == VERSION
    base = without_secrets(found.data) if is_edited_from else None
    know(tx, PREFIX + found.file, found.data, base=base)
    return recorded.begin(
        tx, found.file, root, state, author, latest_id=found.latest_id, whose=whose,
        workflow=workflow_id(found.text),
    )  # fmt: skip


def _begin(tx: Writing, found: Found, root: str, author: Author) -> Document:
    around = found.around
    state = Recovery(
        last_checkpoint=recorded.latest_checkpoint(tx.execute, found.latest_id),
        current_phase=around.current_phase,
        current_phase_name=around.current_phase_name,
        workflow_status=around.workflow_status or "ACTIVE",
        current_activity="idle",
        next_step="",
        context_fill_at_update=None,
        updated_at=clock.rfc3339(clock.now_us()),
    )
    new = begin(state, [found.file], around.gates)
    workflow = workflow_id(found.text)
    return recorded.begin(
        tx, found.file, root, new, author, latest_id=found.latest_id, workflow=workflow
    )


def whose(journal: Journal, found: Found, root: str) -> Whose:
    """Who wrote each record of a section that can be taken over; nothing where it cannot be."""
    return whose_as_read(journal, found, root) if found.is_valid else {}


def whose_as_read(journal: Journal, found: Found, root: str) -> Whose:
    """The same of any section, as a person reads it: for those who are about to see it."""
    return judged(journal, found.file, root, redact_value(found.readable.section))


def take_over(tx: Writing, found: Found, root: str, author: Author, by: Whose) -> bool:
    """Take over a valid section that nobody told us of; anything else is left alone."""
    is_known = in_file(tx, found.text, found.file) is not None
    if is_known or not found.is_valid:
        return False
    _take(tx, found, root, author, by)
    return True


class Done(NamedTuple):
    """A migration: what was read, where it stood, and by which name the file as it was is kept."""

    moved: Migrated
    found: Found
    kept: str


def migrate_file(tx: Writing, root: str, file: str, author: Author) -> Done | None:
    """Bring a section to v2.0, the file as it was kept in the journal; None if it is v2.0."""
    found = look(root, file)
    if found.is_valid or not found.has_section:
        return None
    moved = found.readable
    kept = overwritten_files.keep(tx, file, found.data, WHY, author)
    tx.append("resumption.migrated", {"file": file, "kept": kept}, author)
    known = in_file(tx, found.text, file)
    if known is not None:
        _edit(tx, known, found, author)
        return Done(moved, found, kept)
    _take(tx, found._replace(value=moved.section, version=FIRST_VERSION), root, author)
    return Done(moved, found, kept)


def _edit(tx: Writing, document: Document, found: Found, author: Author) -> None:
    """A file whose section we keep already: a person says that what stands in it is right.

    Its time is no news: it was there before what we know, or with it.
    """
    section: Any = redact_value(found.readable.section)
    unsaid = [path for path, _ in records(section) if not found.readable.says(path)]
    theirs = section_arrival.as_said(section, [*unsaid, _UPDATED], document.section)
    arrival = rewound(document.section, theirs)
    origin = f"{found.file}, migrated"
    whose: Whose = dict.fromkeys(arrival.taken, author)
    recorded.adopt(tx, document, arrival, document.latest_id, origin, whose, {})
    recorded.pass_over(tx, document, arrival.kept, origin, author)
    know(tx, PREFIX + found.file, found.data, base=None)

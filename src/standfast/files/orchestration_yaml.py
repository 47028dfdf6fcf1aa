"""`ORCHESTRATION.yaml`: a file of the orchestrator's, in which one section is ours to write.

The section is published from the journal; everything around it is somebody else's and stays byte
for byte. An edit of the section is adopted record by record where its rules allow it; what they do
not allow is kept in the journal and named.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from standfast.errors import BadDocument, FaceInvalid
from standfast.files import authors
from standfast.files.carrying import carry, text_of
from standfast.files.face import Face
from standfast.files.merge import Changes, Known, Record
from standfast.journal import place
from standfast.journal import resumption as recorded
from standfast.journal.author import USER
from standfast.protocol import orchestration, resumption_records, yaml_sections
from standfast.protocol.json_schema import shown
from standfast.protocol.resumption_check import validate
from standfast.protocol.resumption_migration import FIRST_VERSION, Around, migrate, version_of
from standfast.protocol.resumption_records import LATEST, weave
from standfast.protocol.resumption_schema import SUB_SECTIONS
from standfast.protocol.yaml_writing import write
from standfast.redact import redact_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.errors import StandfastError
    from standfast.journal.author import Author
    from standfast.journal.resumption_folds import Document
    from standfast.journal.store import Journal
    from standfast.journal.writing import Writing
    from standfast.protocol.resumption_schema import Section

PREFIX = "resumption/"
_GIT = "through git"


def render(document: Document, data: bytes | None, path: str) -> bytes:
    """The file with the section as the journal has it, and not a byte beside it changed."""
    return with_section(document.section, data, path)


def with_section(section: Section, data: bytes | None, path: str) -> bytes:
    """The same with any section."""
    block = write({orchestration.KEY: _in_its_order(section, data, path)})
    if data is None:
        return block.encode()
    try:
        return yaml_sections.replace(text_of(data, path), orchestration.KEY, block, path).encode()
    except BadDocument as error:
        raise FaceInvalid(error.problem, file=path, line=error.line) from error


def _in_its_order(section: Section, data: bytes | None, path: str) -> Section:
    """With the project's own keys where somebody put them: a new place costs their comments."""
    if data is None or len(section) == len(SUB_SECTIONS):
        return section
    try:
        span = yaml_sections.find(text_of(data, path), orchestration.KEY, path)
    except BadDocument:
        return section  # it is refused with its line by whoever writes
    had = span.value if span is not None and isinstance(span.value, dict) else {}
    return {**{name: section[name] for name in had if name in section}, **section}


def read(data: bytes, path: str) -> tuple[Record, ...]:
    """The records of the section, and the checkpoint that the file itself calls the latest."""
    text = text_of(data, path)
    span = yaml_sections.find(text, orchestration.KEY, path)
    latest = Record(_key(LATEST), _words(LATEST, orchestration.latest_id(text)), 1)
    if span is None or span.value in (None, {}):
        return (latest,)
    if version_of(span.value) == FIRST_VERSION or not isinstance(span.value, dict):
        raise FaceInvalid("the section `resumption` is of v1.0", file=path, line=span.line)
    findings = validate(span.value, span.lines)
    moved = migrate(span.value, Around("", path))
    if moved.removed:  # what would get lost waits for who wrote it
        raise FaceInvalid(
            f"`{findings[0].at}` {findings[0].problem}", file=path, line=findings[0].line
        )
    value: Any = redact_value(moved.section)
    return (latest, *(each for each in _records(value, span.lines) if moved.says(_said(each)[0])))


def _records(section: Any, lines: Any = None) -> Iterator[Record]:  # noqa: ANN401  # validated
    places = lines or {}
    for path, value in resumption_records.records(section):
        line = next((places[at] for at in _places(path) if at in places), 1)
        yield Record(_key(path), _words(path, value), line)


def _places(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where a record stands in the document, or what it stands in."""
    whole = (orchestration.KEY, *path)
    yield from (whole[:end] for end in range(len(whole), 1, -1))


def _key(path: tuple[str, ...]) -> str:
    return json.dumps(path, ensure_ascii=False)


def _words(path: tuple[str, ...], value: object) -> str:
    """What is compared: no two records of a section have the same."""
    return json.dumps([path, value], ensure_ascii=False, sort_keys=True)


def _said(record: Record) -> tuple[tuple[str, ...], Any]:
    path, value = json.loads(record.value)
    return tuple(path), value


def known(document: Document) -> Known:
    """The records as the journal has them; what was added to a log once is no news."""
    present = {str(each.key): each.value for each in _records(document.section)}
    present[_key(LATEST)] = _words(LATEST, document.latest_id)
    return Known(present=present, ever=frozenset(present.values()))


def record(tx: Writing, changes: Changes, origin: str, walk: Walk) -> None:
    """Take in what others wrote, as far as the rules allow; keep and name the rest."""
    document = recorded.known(tx.execute, walk.file)
    latest = document.latest_id
    ours = document.section
    lines = {_said(each)[0]: each.line for each in (*changes.added, *changes.amended)}
    named = [_said(each)[1] for each in (*changes.added, *changes.amended) if _is_latest(each)]
    if named:
        latest = named[-1]
        checkpoint = recorded.latest_checkpoint(tx.execute, latest)
        state = {**ours["recovery_state"], "last_checkpoint": checkpoint}
        ours = {**ours, "recovery_state": state}
    changed = [_said(each) for each in changes.amended if not _is_latest(each)]
    added = [_said(each) for each in changes.added if not _is_latest(each)]
    woven = weave(ours, changed, added, from_git=origin.endswith(_GIT))
    whose, decided_by = _authors(changes)
    recorded.adopt(tx, document, woven, latest, origin, whose, decided_by)
    kept = [each for each in (*changed, *added) if each[0] in {fault.path for fault in woven.left}]
    author = recorded.one_of({path: whose[path] for path, _ in kept if path in whose})
    recorded.pass_over(tx, file=walk.file, left=woven.left, said=kept, origin=origin, author=author)
    for fault in woven.left:
        line = lines.get(tuple(map(str, fault.path)), 1)
        problem = f"`{shown(fault.path)}` {fault.problem}"
        walk.left.append(FaceInvalid(problem, file=walk.path, line=line, remedy=fault.remedy))


def _authors(changes: Changes) -> tuple[recorded.Whose, dict[tuple[str, str], Author]]:
    """Who wrote each record, and each decision, which may get another id here."""
    whose, decided_by = {}, {}
    for each in (*changes.added, *changes.amended):
        path, value = _said(each)
        whose[path] = each.by or USER
        if path[0] == "decision_log":
            decided_by[value["decision"], value["rationale"]] = each.by or USER
    return whose, decided_by


def judged(journal: Journal, file: str, root: str, section: Any) -> recorded.Whose:  # noqa: ANN401  # validated
    """Who wrote each record of a section that nobody has told us of."""
    in_git = place.git_dir(root) is not None
    made, _ = declared(file, root, in_git=in_git)
    records = list(_records(section))
    written_us = authors.written_us(made.path)
    by = authors.of(journal, made, [each.value for each in records], written_us=written_us)
    return {_said(each)[0]: by[each.value] for each in records}


def _is_latest(each: Record) -> bool:
    return each.key == _key(LATEST)


class Walk:
    """One walk over a document's file: which state was rendered last, what was left out."""

    def __init__(self, file: str, path: str) -> None:
        self.file = file
        self.path = path
        self.seq = 0
        self.left: list[StandfastError] = []


def face(document: Document, *, in_git: bool) -> tuple[Face, Walk]:
    """The declaration, and what it will tell of its walk."""
    return declared(document.file, document.root, in_git=in_git)


def declared(file: str, root: str, *, in_git: bool) -> tuple[Face, Walk]:
    """The same, also for a file that no document is known of."""
    walk = Walk(file, f"{root}/{file}")

    def now(journal: Journal) -> Document:
        return recorded.known(journal.query, file)

    def rendered(journal: Journal, data: bytes | None) -> bytes:
        state = now(journal)
        walk.seq = state.seq
        return render(state, data, walk.path)

    made = Face(
        name=PREFIX + file,
        root=root,
        relative=file,
        in_git=in_git,
        render=rendered,
        read=read,
        known=lambda journal: known(now(journal)),
        record=lambda tx, changes, origin: record(tx, changes, origin, walk),
        is_judged=True,
        is_whole=lambda _: True,  # an edit that is torn does not read as YAML, or is found again
        carry=lambda current, theirs, base: carry(current, theirs, base, walk.path),
    )
    return made, walk

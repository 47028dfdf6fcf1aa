"""`ORCHESTRATION.yaml`: a file of the orchestrator's, in which one section is ours to write.

The section is published from the journal; everything around it is somebody else's and stays byte
for byte. What stands in the section and not in the journal is taken in by `section_arrival`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from standfast.errors.base import BadDocument, FaceInvalid
from standfast.faces import edit_authors
from standfast.faces.drafts import without_secrets
from standfast.faces.face import Face
from standfast.faces.look import rebase
from standfast.faces.merge import Record
from standfast.formats import yaml_sections
from standfast.formats.yaml_writer import write
from standfast.journal import place
from standfast.journal.author import STANDFAST
from standfast.protocols.resumption.files import section_arrival
from standfast.protocols.resumption.files.masked_words import unmasked
from standfast.protocols.resumption.files.surrounding_edits import carry, text_of
from standfast.protocols.resumption.records import document_records as recorded
from standfast.protocols.resumption.rules import orchestration, section_units, updated_at
from standfast.protocols.resumption.rules.near_sections import near
from standfast.protocols.resumption.rules.section_schema import SUB_SECTIONS
from standfast.redaction.redactor import MASK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from standfast.errors.base import StandfastError
    from standfast.journal.store import Journal
    from standfast.journal.tables.document_folds import Document
    from standfast.protocols.resumption.rules.arrivals import Arrival
    from standfast.protocols.resumption.rules.log_union import Kept
    from standfast.protocols.resumption.rules.near_sections import Near
    from standfast.protocols.resumption.rules.section_schema import Section

PREFIX = "resumption/"


def render(document: Document, data: bytes | None, path: str) -> bytes:
    """The file with the section as the journal has it, and not a byte beside it changed."""
    return with_section(document.section, data, path)


def with_section(section: Section, data: bytes | None, path: str) -> bytes:
    """The same with any section."""
    block = write({orchestration.KEY: section})
    if data is None:
        return block.encode()
    _refuse_second(data, path)
    if len(section) != len(SUB_SECTIONS) or MASK in block:
        had = _said(data, path)
        ours = cast("Section", unmasked(_in_its_order(section, had), had))
        block = write({orchestration.KEY: ours})
    try:
        return yaml_sections.replace(text_of(data, path), orchestration.KEY, block, path).encode()
    except BadDocument as error:
        raise FaceInvalid(error.problem, file=path, line=error.line) from error


def _refuse_second(data: bytes, path: str) -> None:
    """A section is not put beside one that somebody takes for it."""
    text = data.decode("utf-8", "replace")
    found = None if updated_at.has_section(text) else near(text)
    if found is not None and yaml_sections.find(text, orchestration.KEY, path) is None:
        refuse_near(found, path)


def refuse_near(found: Near, path: str) -> NoReturn:
    """Say where what was meant as the section stands, and what makes it one."""
    raise FaceInvalid(found.problem, file=path, line=found.line, remedy=found.remedy)


def _said(data: bytes, path: str) -> Section:
    """The section as the file has it; one that cannot be read is refused by whoever writes it."""
    try:
        span = yaml_sections.find(text_of(data, path), orchestration.KEY, path)
    except BadDocument:
        return {}
    return span.value if span is not None and isinstance(span.value, dict) else {}


def _in_its_order(section: Section, had: Section) -> Section:
    """With the project's own keys where somebody put them: a new place costs their comments."""
    return {**{name: section[name] for name in had if name in section}, **section}


def read(data: bytes, path: str) -> tuple[Record, ...]:
    """The records of the section: whose words they are is judged for each."""
    found = section_arrival.read(data, path)
    return () if found.section is None else tuple(_records(found.section, found.lines))


def _records(section: Any, lines: Any = None) -> Iterator[Record]:  # noqa: ANN401  # validated
    places = lines or {}
    for path, value in section_units.records(section):
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


def _told(record: Record) -> tuple[tuple[str, ...], Any]:
    path, value = json.loads(record.value)
    return tuple(path), value


def judged(journal: Journal, file: str, root: str, section: Any) -> recorded.Whose:  # noqa: ANN401  # validated
    """Who wrote each record of a section that nobody has told us of."""
    in_git = place.git_dir(root) is not None
    made, _ = declared(file, root, in_git=in_git)
    records = list(_records(section))
    written_us = edit_authors.written_us(made.path)
    by = edit_authors.of(journal, made, [each.value for each in records], written_us=written_us)
    return {_told(each)[0]: by[each.value] for each in records}


def brought(journal: Journal, document: Document, arrival: Arrival, data: bytes) -> recorded.Whose:
    """Who wrote what a file brings and nobody has taken in yet."""
    made, walk = face(document, in_git=place.git_dir(document.root) is not None)
    return section_arrival.whose_of(
        journal, made, arrival, section_arrival.read(data, walk.path), _words
    )


def adopt(journal: Journal, document: Document, data: bytes) -> list[Kept]:
    """Take the file's section as it is: a person's word."""
    made, walk = face(document, in_git=place.git_dir(document.root) is not None)
    found, origin = section_arrival.read(data, walk.path), f"{document.file}, as a person said"
    act = section_arrival.take(
        journal, document, made, found, _words, origin, judge=section_arrival.rewind
    )
    with journal.writing() as tx:
        kept = act(tx)
        rebase(tx, made, without_secrets(data))
    return kept


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

    def now(journal: Journal, data: bytes | None) -> Document:
        if data is None:
            return recorded.known(journal.query, file)
        text = data.decode("utf-8", "replace")
        found = recorded.in_file(journal.query, file, text)
        found = found or recorded.last_in(journal.query, file, text)  # its id was just edited
        if found is None:
            problem = "the file leads another workflow than any that was begun here"
            raise FaceInvalid(problem, file=walk.path)
        return found

    def rendered(journal: Journal, data: bytes | None) -> bytes:
        state = now(journal, data)
        walk.seq = state.seq
        return render(state, data, walk.path)

    def take(journal: Journal, data: bytes, became: str, *, in_place: bool) -> None:
        found = section_arrival.read(data, walk.path)
        text = data.decode("utf-8", "replace")
        document = now(journal, data)
        act = section_arrival.take(journal, document, made, found, _words, f"{file}, {became}")
        with journal.writing() as tx:
            kept = act(tx)
            recorded.give_name(tx, recorded.known(tx.execute, document.name), text, STANDFAST)
            if in_place:
                rebase(tx, made, without_secrets(data))
        walk.left += section_arrival.named(made, found, kept)

    made = Face(
        name=PREFIX + file,
        root=root,
        relative=file,
        in_git=in_git,
        render=rendered,
        read=read,
        known=_never,
        record=_never,
        is_judged=True,
        is_whole=lambda _: True,  # an edit that is torn does not read as YAML, or is found again
        carry=lambda current, theirs, base: carry(current, theirs, base, walk.path),
        take=take,
    )
    return made, walk


def _never(*_: object) -> NoReturn:
    raise NotImplementedError("a section is judged as a whole, by its values")

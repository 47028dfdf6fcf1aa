"""`standfast resumption validate` and `migrate`: whether a section is v2.0, and how it gets so."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from standfast.app import faces
from standfast.errors.base import NothingFound, StandfastError, UnsafePath
from standfast.formats.json_schema import shown
from standfast.journal.tables.document_folds import Document
from standfast.protocols.resumption.files import document_files, orchestration_yaml, section_file
from standfast.protocols.resumption.records import document_records
from standfast.protocols.resumption.rules.migration.section_migration import FIRST_VERSION
from standfast.protocols.resumption.rules.section_schema import VERSION
from standfast.protocols.resumption.rules.update_matrix import Resumption
from standfast.surfaces.cli import consent, persons
from standfast.surfaces.cli import migration_report as migrated
from standfast.surfaces.cli import section_view as looking
from standfast.surfaces.cli import section_write as writing
from standfast.surfaces.cli.acknowledgement import acknowledge
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    from standfast.protocols.resumption.files.section_file import Found
    from standfast.surfaces.cli.command_context import Context


class Wrong(NamedTuple):
    """One thing that is wrong with a file."""

    file: str
    line: int
    path: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        at = f"`{self.path}` " if self.path else ""
        ends = "" if self.problem.endswith(".") else "."
        return f"{self.file}:{self.line}: {at}{self.problem}{ends} {self.remedy}"


def validate(context: Context, given: str | None) -> int:
    """Every finding with its line; nothing is written, and no journal is needed."""
    name = given or context.config.orchestration_file
    wrong = _wrong(context, name, given)
    if context.json:
        print(json_line([each._asdict() for each in wrong]))
    elif wrong:
        print("\n".join(printable(str(each)) for each in wrong))
    else:
        print(printable(f"{name}: the resumption section is valid, v{VERSION}"))
    return 1 if wrong else 0


def _wrong(context: Context, name: str, given: str | None) -> list[Wrong]:
    try:
        found = section_file.look(*_where(context, name, given))
    except StandfastError as error:
        return [Wrong(name, error.line or 1, "", error.problem, error.remedy)]
    if not found.exists:
        return [Wrong(name, 1, "", "there is no such file", looking.BEGIN)]
    flag = f" --file {shlex.quote(given)}" if given else ""
    migrate = f"Bring it to v{VERSION} with `standfast resumption migrate{flag}`."
    if found.version == FIRST_VERSION:
        return [Wrong(name, found.line, "resumption", f"is v1.0, not v{VERSION}", migrate)]
    if found.near is not None:
        return [Wrong(name, found.near.line, "", found.near.problem, found.near.remedy)]
    if not found.has_section:
        return [Wrong(name, 1, "resumption", "is missing", looking.BEGIN)]
    findings = (*found.findings, *found.advice)
    wrong = [Wrong(name, each.line, each.at, each.problem, each.remedy) for each in findings]
    if found.findings:
        wrong.append(Wrong(name, found.line, "resumption", f"is nearly v{VERSION}", migrate))
    return wrong


def _where(context: Context, name: str, given: str | None) -> tuple[str, str]:
    """A root and a file below it; what is only looked at may be anywhere."""
    try:
        return context.place.root, writing.file_of(context, given)
    except UnsafePath:
        path = os.path.realpath(os.path.join(context.directory, name))
        return os.path.dirname(path), os.path.basename(path)


def adopt(context: Context, given: str | None) -> int:
    """Take a file's section as it stands, whatever is newer: a person's word."""
    persons.refuse_agents(context)
    file = writing.file_of(context, given)
    found = section_file.look(context.place.root, file)
    if not found.has_section:
        return _nothing_to_do(context, found)
    document = writing.known(context, file)
    is_edit = document is not None and found.version != FIRST_VERSION
    if not is_edit or found.readable.removed:  # what we know may be edited as people do
        section_file.refuse(found)
    context.may_write()
    document_files.take_over(context.journal, context.place, file)
    document = writing.known(context, file)
    if document is None:
        raise NothingFound("the section could not be taken over", file=found.path)
    kept = orchestration_yaml.adopt(context.journal, document, found.data)
    replaced = [shown(each.path) for each in kept]
    what = f"; replaced: {', '.join(replaced)}" if replaced else ": the journal said the same"
    words = printable(f"Adopted {file} as it stands{what}")
    facts = {"file": file, "adopted": True, "replaced": replaced}
    return acknowledge(context, _newest(context, document), words, facts)


def _newest(context: Context, document: Document) -> Document:
    return document_records.find(context.journal.query, document.name) or document


def migrate(context: Context, given: str | None, *, is_dry: bool = False) -> int:
    """Bring a section to v2.0, and say what was read otherwise, and what has no place in it."""
    if not is_dry:
        writing.refuse_agents(context)
    file = writing.file_of(context, given)
    root = faces.document_root(context.journal, context.place, file)
    found = section_file.look(root, file)
    if found.is_valid or not found.has_section:
        return _nothing_to_do(context, found)
    after = orchestration_yaml.with_section(found.readable.section, found.data, found.path)
    if is_dry:
        return _show(context, found, after)
    context.may_write()
    with context.journal.writing() as tx:
        done = section_file.migrate_file(tx, root, file, writing.author(context))
    if done is None:  # another command was quicker
        return _nothing_to_do(context, section_file.look(root, file))
    told = migrated.Told(done.found, after, done.kept)
    named = Document(file, root, Resumption(done.moved.section))
    document = writing.known(context, file) or named  # else the file is gone meanwhile
    return acknowledge(context, document, told.words(context.screen), told.as_dict())


def _show(context: Context, found: Found, after: bytes) -> int:
    """What a migration would say and write."""
    told = migrated.Told(found, after, None)
    diff = consent.diff(found.data.decode("utf-8"), after.decode("utf-8"), found.file)
    if context.json:
        print(json_line({**told.as_dict(), "diff": diff}))
    else:
        print(told.words(context.screen))
        print(consent.paint(diff, context.screen))
    return 0


def _nothing_to_do(context: Context, found: Found) -> int:
    if not found.has_section:
        raise looking.absent(found)
    if context.json:
        print(json_line({"file": found.file, "migrated": False}))
    else:
        print(printable(f"Nothing to do: {found.file} is v{VERSION} already"))
    return 0

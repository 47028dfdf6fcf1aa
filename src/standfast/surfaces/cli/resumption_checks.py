"""`standfast resumption validate` and `migrate`: whether a section is v2.0, and how it gets so."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors import NothingFound, StandfastError, UnsafePath
from standfast.files import documents_kept, homes, orchestration_yaml, resumption_files
from standfast.protocol.json_schema import shown
from standfast.protocol.resumption_migration import FIRST_VERSION
from standfast.protocol.resumption_schema import VERSION
from standfast.protocol.text import printable
from standfast.surfaces.cli import persons
from standfast.surfaces.cli import resumption_looking as looking
from standfast.surfaces.cli import resumption_writing as writing
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    from standfast.files.resumption_files import Found
    from standfast.surfaces.cli.context import Context

_MOVES = (
    ("last_checkpoint", "recovery_state.last_checkpoint"),
    ("current_state", "recovery_state.current_activity"),
    ("next_step", "recovery_state.next_step"),
    ("files_to_read", "files_to_read"),
    ("cross_session_portable", "recovery_state.cross_session_portable"),
    ("ephemeral_references", "recovery_state.ephemeral_references"),
)


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
        found = resumption_files.look(*_where(context, name, given))
    except StandfastError as error:
        return [Wrong(name, error.line or 1, "", error.problem, error.remedy)]
    if not found.exists:
        return [Wrong(name, 1, "", "there is no such file", looking.BEGIN)]
    if found.version == FIRST_VERSION:
        flag = f" --file {shlex.quote(given)}" if given else ""
        remedy = f"Bring it to v2.0 with `standfast resumption migrate{flag}`."
        return [Wrong(name, found.line, "resumption", "is v1.0, not v2.0", remedy)]
    if not found.has_section:
        return [Wrong(name, 1, "resumption", "is missing", looking.BEGIN)]
    return [Wrong(name, each.line, each.at, each.problem, each.remedy) for each in found.findings]


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
    found = resumption_files.look(context.place.root, file)
    if not found.has_section:
        return _nothing_to_do(context, found)
    resumption_files.refuse(found)
    context.may_write()
    documents_kept.take_over(context.journal, context.place, file)
    document = writing.known(context, file)
    if document is None:
        raise NothingFound("the section could not be taken over", file=found.path)
    kept = orchestration_yaml.adopt(context.journal, document, found.data)
    replaced = [shown(each.path) for each in kept]
    if context.json:
        print(json_line({"file": file, "adopted": True, "replaced": replaced}), flush=True)
    else:
        what = f"; replaced: {', '.join(replaced)}" if replaced else ": the journal said the same"
        print(printable(f"Adopted {file} as it stands{what}"), flush=True)
    context.heal(resumption=file)  # after the acknowledgement: it undoes nothing
    return 0


def migrate(context: Context, given: str | None) -> int:
    """Bring a section to v2.0, and say what moved where and what could not be carried over."""
    writing.refuse_agents(context)
    file = writing.file_of(context, given)
    root = homes.document_root(context.journal, context.place, file)
    found = resumption_files.look(root, file)
    if found.version != FIRST_VERSION:
        return _nothing_to_do(context, found)
    context.may_write()
    with context.journal.writing() as tx:
        done = resumption_files.migrate_file(tx, root, file, writing.author(context))
    if done is None:  # another command was quicker
        return _nothing_to_do(context, resumption_files.look(root, file))
    moved = [(old, new) for old, new in _MOVES if old in done.original]
    if context.json:
        print(json_line({"file": file, "migrated": True, "moved": dict(moved),
                         "notes": done.notes, "resumption": done.section}), flush=True)  # fmt: skip
    else:
        print(printable(f"Migrated {file} to v{VERSION}"))
        print(context.screen.table([(f"  {old}", "->", new) for old, new in moved]))
        print("".join(f"  note: {printable(note)}\n" for note in done.notes),
              end="", flush=True)  # fmt: skip
    context.heal(resumption=file)  # after the acknowledgement: it undoes nothing
    return 0


def _nothing_to_do(context: Context, found: Found) -> int:
    resumption_files.refuse(found)
    if not found.has_section:
        what = "the file has no resumption section" if found.exists else "there is no such file"
        raise NothingFound(what, file=found.path, remedy=looking.BEGIN)
    if context.json:
        print(json_line({"file": found.file, "migrated": False}))
    else:
        print(printable(f"Nothing to do: {found.file} is v{VERSION} already"))
    return 0

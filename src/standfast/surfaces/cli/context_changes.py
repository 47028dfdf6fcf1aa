"""`standfast context migrate` and `write`: an agent's file is changed, and what it was is kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.brief import context_entries, sessions
from standfast.errors.base import BadName, NothingFound
from standfast.protocols.context.files import context_files, file_rewrite
from standfast.protocols.context.rules import context_migration, context_writer
from standfast.protocols.context.rules.context_schema import FOLDER, SUFFIX
from standfast.surfaces.cli import consent
from standfast.surfaces.cli.context_findings import checked, minute, told
from standfast.surfaces.cli.screen import json_line
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from standfast.protocols.context.files.file_rewrite import Rewritten
    from standfast.surfaces.cli.command_context import Context

_LONGEST_DIFF = 20_000  # lines: of more, comparing takes longer than anybody reads


def migrate(context: Context, file: str) -> int:
    """Make a file valid, show the difference; what it was is in the journal."""
    root = context.place.root
    path = context_files.below(root, context.directory, file)
    role = context_files.role_of(path)
    if role is None:
        raise BadName(
            f"`{one_line(path, 120)}` is not named after a role",
            remedy=f"Name it {FOLDER}/ROLE{SUFFIX}; its Role has to be that role.",
        )
    before = checked(context, file)
    if not before.is_read:
        print(json_line(before.as_dict()) if context.json else told(context.screen, before))
        return 1
    now = minute()

    def change(data: bytes | None) -> bytes:
        text = context_files.text_of(data or b"", path)
        return context_migration.migrate(text, role=role, now=now).encode()

    _begin(context)
    done = file_rewrite.rewrite(context.journal, root, path, change, context.author)
    return _tell(context, file, path, done)


def write(context: Context, name: str) -> int:
    """Write what the journal knows into a role's file, around what is there by hand."""
    role = ids.role(name)
    path, now = context_files.relative(role), minute()
    _begin(context)
    context.heal()  # what waits in spools and inboxes is known too
    source = _source(context, role)
    known = context_entries.known(context.journal.query, source.session)

    def change(data: bytes | None) -> bytes:
        text = None if data is None else context_files.text_of(data, path)
        return context_writer.compose(text, role=role, now=now, known=known).encode()

    root = context.place.root
    done = file_rewrite.rewrite(context.journal, root, path, change, context.author)
    return _tell(context, f"{root}/{path}", path, done, source)


def _begin(context: Context) -> None:
    """From here on there is a journal: who cannot keep what a file was must not change it."""
    context.may_write()
    with context.journal.writing():
        pass


class _Source(NamedTuple):
    """The session whose work is written, and why it is that one."""

    session: sessions.Session | None
    why: str

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {"session": self.session.session if self.session else None, "source": self.why}

    def __str__(self) -> str:
        """For people."""
        if self.session is None:
            return f"No session is known to write from: {self.why}"
        return f"From session {self.session.session}: {self.why}"


def _source(context: Context, role: str) -> _Source:
    """The caller's own session, else the role's newest, else the newest that is nobody else's."""
    ask = context.journal.query
    if (own := context.config.session) is not None:
        try:
            return _Source(sessions.find(ask, own), "the caller's own")
        except NothingFound:
            return _Source(None, f"nothing is recorded of the caller's own, {own}")
    if (found := sessions.newest_in(ask, role)) is not None:
        return _Source(found, f"the newest of role {role}")
    if (found := sessions.newest_in_no_role(ask)) is not None:
        return _Source(found, "the newest that is not known to be another role's")
    return _Source(None, f"none is role {role}'s, nor without a role")


def _tell(
    context: Context, file: str, path: str, done: Rewritten, source: _Source | None = None
) -> int:
    """The difference, then whether the file passes now."""
    now = checked(context, file)
    is_changed = done.before != done.after
    diff = _diff(done, path) if is_changed else ""
    if context.json:
        facts = {"changed": is_changed, "kept": done.kept, "diff": diff}
        print(json_line({**now.as_dict(), **facts, **(source.as_dict() if source else {})}))
    else:
        if source:
            print(printable(str(source)))
        if diff:
            print(consent.paint(diff, context.screen))
        print(told(context.screen, now))
    for words in _troubles(context, done):
        print(printable(words), file=sys.stderr)
    return 1 if now.errors else 0


def _troubles(context: Context, done: Rewritten) -> list[str]:
    said = [f"but {each.where}: {each.problem}" for each in context.trouble]
    if done.kept:
        said.append(
            f"{done.kept} edits that came while the file was replaced are in the journal only:"
            " `standfast journal kept` lists them."
        )
    return said


def _diff(done: Rewritten, path: str) -> str:
    before = None if done.before is None else done.before.decode("utf-8")
    after = done.after.decode("utf-8")
    if max((before or "").count("\n"), after.count("\n")) > _LONGEST_DIFF:
        return f"(over {_LONGEST_DIFF:,} lines: too long to compare; all of them are kept)"
    return consent.diff(before, after, path)

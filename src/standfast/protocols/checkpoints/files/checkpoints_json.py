"""`checkpoints.json`: the face of the checkpoints, an array that other tools read and write.

It stands in the main checkout, whichever worktree a command is called in: a lane that wrote a file
of its own would be a lane that nobody resumes. An edit is told from an old copy by the `id` of the
write that it was made to; one of a record that has moved on since is kept in the journal.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

from standfast.authorship import REPOSITORY
from standfast.errors.base import FaceInvalid, MoveRefused
from standfast.faces.face import Face
from standfast.faces.merge import Changes, Known, Record
from standfast.journal.author import USER
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.protocols.checkpoints.rules import checkpoint_fields
from standfast.protocols.checkpoints.rules import checkpoints_text as text
from standfast.redaction.redactor import might_hold_secret, redact, redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing


def render(journal: Journal, root: str) -> bytes:
    """The whole file, the same bytes for the same records."""
    return text.write(text.line(value, key, root) for key, value in recorded.texts(journal))


def read(data: bytes, path: str) -> tuple[Record, ...]:
    """The records in the file; BadDocument with its line for anything that is not one."""
    return tuple(_record(entry, path) for entry in text.read(data, path))


def _record(entry: text.Entry, path: str) -> Record:
    name, words = str(entry.key), _words(entry.record)
    if might_hold_secret(words):  # redacting every field of every record would take seconds
        words = _words(redact_value(entry.record))
        if redact(name) != name:
            problem = "the run, phase or lane looks like a secret"
            raise FaceInvalid(problem, file=path, line=entry.line)
    return Record(key=name, value=words, line=entry.line)


def _words(record: object) -> str:
    """What is compared: the same for the same fields, in whatever order they stand."""
    return json.dumps(record, sort_keys=True)


def known(journal: Journal) -> Known:
    """Every record as it is and as it ever was, under the id of its write and without."""
    ever = recorded.ever(journal)
    present = {str(key): _words(json.loads(value)) for key, value in recorded.texts(journal)}
    words = {_words(said) for record in ever for said in (record, _without_id(record))}
    return Known(present=present, ever=frozenset(words))


def _without_id(record: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in record.items() if name != rules.ID}


def record(tx: Writing, changes: Changes, origin: str, path: str) -> None:
    """Take in what others wrote; FaceInvalid with its line where it may not follow."""
    for each in (*changes.added, *changes.amended):
        theirs = cast("rules.Record", json.loads(each.value))
        try:
            _take(tx, theirs, each.by or USER, origin, is_amended=each in changes.amended)
        except MoveRefused as error:
            raise FaceInvalid(error.problem, file=path, line=each.line) from error


def _take(
    tx: Writing, theirs: rules.Record, author: Author, origin: str, *, is_amended: bool
) -> None:
    """One record: new, amended, or of a write that another has followed since.

    The repository's takes the place of nobody else's, and none in a run that was begun here.
    """
    ours = recorded.present(tx, rules.key(theirs))
    said = checkpoint_fields.in_order(cast("rules.Record", _without_id(theirs)))
    if ours is not None and said == _without_id(ours):
        return
    if author.actor == REPOSITORY and recorded.is_held(tx, rules.key(theirs)):
        recorded.pass_over(tx, theirs, str(ours[rules.ID]) if ours else "", origin, author)
    elif ours is None:
        recorded.upsert(tx, said, author, origin=origin, adopted=True)
    elif is_amended and theirs.get(rules.ID, ours[rules.ID]) == ours[rules.ID]:
        recorded.upsert(tx, said, author, origin=origin)
    else:
        recorded.pass_over(tx, theirs, str(ours[rules.ID]), origin, author)


def face(*, name: str, root: str, relative: str, in_git: bool) -> Face:
    """The declaration: everything else is the mechanism's."""
    path = os.path.join(root, relative)
    return Face(
        name=name,
        root=root,
        relative=relative,
        in_git=in_git,
        render=lambda journal, _: render(journal, root),
        read=read,
        known=known,
        record=lambda tx, changes, origin: record(tx, changes, origin, path),
        is_judged=True,
        judged_as=lambda value: _words(_without_id(json.loads(value))),
        is_whole=lambda _: True,  # JSON says itself where it ends
    )

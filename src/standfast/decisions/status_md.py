"""`status.md`, a face: the decisions that bind, as a list that a person may add to.

What the journal holds of them is in `journal/tables/decision_records.py`.

Below `## Decisions` a line `- RD-001 words` is a decision, and `- words` is one that somebody
added by hand; `*`, `+` and `1.` will do for `-`. Those of the repository's stand below a heading
of their own, before the others. Above stand only our own lines. Anything
else is refused with its line, and the file is left alone until it is mended.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.authorship import REPOSITORY
from standfast.errors.base import FaceInvalid, StandfastError
from standfast.formats.document_limits import decode
from standfast.journal import questions
from standfast.journal.author import USER
from standfast.journal.tables import decision_records

if TYPE_CHECKING:
    from standfast.faces.face import Face
    from standfast.faces.merge import Changes, Known, Record
    from standfast.journal.questions import Decision
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

FILE = "status.md"
NAME = "status"
_HEADING = "## Decisions"
_FOREIGN = "## From the repository"
_CONFIRM = "These bind nobody, until `standfast note --confirm ID` makes one bind."
_ABOVE = (
    "# Standfast",
    "Kept by Standfast. Add a decision as a line `- …` at the end and it is taken in;",
    "a line that you take away comes back, because nothing that was decided is forgotten.",
)
_ENTRY = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:(RD-\d{3,9})[ \t]+)?(\S.*)")


def render(found: list[Decision]) -> bytes:
    """The whole file, the same bytes for the same decisions."""
    title, *about = _ABOVE
    binds = [f"- {d.id} {d.text}" for d in found if d.binds]
    foreign = [f"- {d.id} {d.text}" for d in found if not d.binds]
    above = [_FOREIGN, "", _CONFIRM, "", *foreign, ""] if foreign else []
    lines = [title, "", *about, "", *above, _HEADING, "", *binds]
    return "\n".join(lines).encode() + b"\n"


def read(data: bytes, path: str) -> tuple[Record, ...]:
    """The records in the file; FaceInvalid with its line for anything that is not one."""
    records: list[Record] = []
    below = is_foreign = False
    for number, line in enumerate(decode(data, name=path).split("\n"), 1):
        text = line.strip()
        if text in {_HEADING, _FOREIGN}:
            below, is_foreign = True, text == _FOREIGN
        elif is_foreign and text == _CONFIRM:
            continue
        elif text and not below and text not in _ABOVE:
            raise FaceInvalid("only lines below `## Decisions` are read", file=path, line=number)
        elif text and below:
            records.append(_record(text, path, number)._replace(is_foreign=is_foreign))
    return tuple(records)


def _record(text: str, path: str, number: int) -> Record:
    from standfast.faces.merge import Record  # rendering alone needs none of this

    entry = _ENTRY.fullmatch(text)
    if entry is None:
        raise FaceInvalid("this is not a list entry: begin it with `- `", file=path, line=number)
    try:
        return Record(key=entry[1], value=decision_records.clean(entry[2]), line=number)
    except StandfastError as error:
        raise FaceInvalid(error.problem, file=path, line=number) from error


def known(journal: Journal) -> Known:
    """Every decision's words, now and before."""
    from standfast.faces.merge import Known

    ever = journal.query("SELECT text FROM wordings")
    return Known(
        present={d.id: d.text for d in questions.decisions(journal)},
        ever=frozenset(str(row[0]) for row in ever),
    )


def record(tx: Writing, changes: Changes, origin: str) -> None:
    """What somebody wrote is recorded as theirs."""
    for new in changes.added:
        _note(tx, new, origin)
    for other in changes.amended:
        author = other.by or USER
        is_theirs = other.key is not None and decision_records.said_by(tx, other.key) == REPOSITORY
        if author.actor == REPOSITORY and not is_theirs:
            _note(tx, other, origin)  # nobody else's words go for what the repository says
        elif other.key is not None:
            decision_records.amend(tx, other.key, other.value, author, origin=origin)


def _note(tx: Writing, new: Record, origin: str) -> None:
    was = f", there as {new.key}" if new.key else ""
    decision_records.note(tx, new.value, new.by or USER, origin=origin + was)


def face(*, name: str, root: str, relative: str, in_git: bool) -> Face:
    """The declaration: everything else is the mechanism's."""
    from standfast.faces.face import Face

    return Face(
        name=name,
        root=root,
        relative=relative,
        in_git=in_git,
        render=lambda journal, _: render(questions.decisions(journal)),
        read=read,
        known=known,
        record=record,
        is_judged=True,
        is_list=True,
    )

"""`status.md`: the first face. The decisions that bind, as a list that a person may add to.

Below `## Decisions` a line `- RD-001 words` is a decision, and `- words` is one that somebody
added by hand; `*`, `+` and `1.` will do for `-`. Above it stand only our own lines. Anything
else is refused with its line, and the file is left alone until it is mended.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.errors import FaceInvalid, StandfastError
from standfast.journal import decisions, reading
from standfast.protocol.documents import decode

if TYPE_CHECKING:
    from standfast.files.face import Face
    from standfast.files.merge import Changes, Known, Record
    from standfast.journal.reading import Decision
    from standfast.journal.store import Journal
    from standfast.journal.writing import Writing

FILE = "status.md"
NAME = "status"
_HEADING = "## Decisions"
_ABOVE = (
    "# Standfast",
    "Kept by Standfast. Add a decision as a line `- …` at the end and it is taken in;",
    "a line that you take away comes back, because nothing that was decided is forgotten.",
)
_ENTRY = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:(RD-\d{3,9})[ \t]+)?(\S.*)")


def render(found: list[Decision]) -> bytes:
    """The whole file, the same bytes for the same decisions."""
    title, *about = _ABOVE
    lines = [title, "", *about, "", _HEADING, "", *(f"- {d.id} {d.text}" for d in found)]
    return "\n".join(lines).encode() + b"\n"


def read(data: bytes, path: str) -> tuple[Record, ...]:
    """The records in the file; FaceInvalid with its line for anything that is not one."""
    records: list[Record] = []
    below = False
    for number, line in enumerate(decode(data, name=path).split("\n"), 1):
        text = line.strip()
        if text == _HEADING:
            below = True
        elif text and not below and text not in _ABOVE:
            raise FaceInvalid("only lines below `## Decisions` are read", file=path, line=number)
        elif text and below:
            records.append(_record(text, path, number))
    return tuple(records)


def _record(text: str, path: str, number: int) -> Record:
    from standfast.files.merge import Record  # rendering alone needs none of this

    entry = _ENTRY.fullmatch(text)
    if entry is None:
        raise FaceInvalid("this is not a list entry: begin it with `- `", file=path, line=number)
    try:
        return Record(key=entry[1], value=decisions.clean(entry[2]), line=number)
    except StandfastError as error:
        raise FaceInvalid(error.problem, file=path, line=number) from error


def known(journal: Journal) -> Known:
    """Every decision's words, now and before."""
    from standfast.files.merge import Known

    ever = journal.query("SELECT text FROM wordings")
    return Known(
        present={d.id: d.text for d in reading.decisions(journal)},
        ever=frozenset(str(row[0]) for row in ever),
    )


def record(tx: Writing, changes: Changes, origin: str) -> None:
    """What a person wrote is recorded as theirs."""
    for new in changes.added:
        was = f", there as {new.key}" if new.key else ""
        decisions.note(tx, new.value, origin=origin + was)
    for other in changes.amended:
        if other.key is not None:
            decisions.amend(tx, other.key, other.value, origin=origin)


def face(*, name: str, root: str, relative: str, in_git: bool) -> Face:
    """The declaration: everything else is the mechanism's."""
    from standfast.files.face import Face

    return Face(
        name=name,
        root=root,
        relative=relative,
        in_git=in_git,
        render=lambda journal, _: render(reading.decisions(journal)),
        read=read,
        known=known,
        record=record,
    )

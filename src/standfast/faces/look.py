"""What became of a face since we last published it, and what the journal remembers of it."""

from __future__ import annotations

import hashlib
import os
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, disk
from standfast.errors.base import GitFailed, NotARepository, ProgramMissing, ProgramTimedOut

if TYPE_CHECKING:
    from standfast.faces.face import Face
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

_MOMENT_US = 2 * clock.MICROSECONDS


class Became(StrEnum):
    """The kinds of change, in the order in which they are told apart."""

    ABSENT = "absent"
    SAME = "as published"
    REWOUND = "an older version of ours"
    UNSETTLED = "still being written"
    FROM_GIT = "through git"
    EDITED = "edited by hand"


class Remembered(NamedTuple):
    """A face's row in the journal."""

    digest: str | None = None  # of what was last published
    base: bytes | None = (
        None  # what the file said when the journal last knew it: an edit is to that
    )
    unsettled: str | None = None  # seen once without its last line end
    refused: str | None = None  # why it cannot be read, for `status`
    draft: str | None = None  # intent: this draft is about to be swapped in
    drafted: str | None = None  # its text: if it was swapped in, an edit is against that


_COLUMNS = {"base": "bytes"}
_QUERY = "SELECT digest, bytes, unsettled, refused, draft, drafted FROM faces WHERE face = ?"


def digest(data: bytes | None) -> str:
    """How contents are told apart."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def remembered(journal: Journal, face: Face) -> Remembered:
    """What the journal knows of a face's file."""
    rows = journal.query(_QUERY, (face.name,))
    return Remembered._make(rows[0]) if rows else Remembered()


def remember(journal: Journal, face: Face, **columns: str | bytes | None) -> None:
    """Change a face's row, durably; nothing is written when nothing changes."""
    memory = remembered(journal, face)
    if all(getattr(memory, name) == value for name, value in columns.items()):
        return
    names = [_COLUMNS.get(name, name) for name in columns]
    with journal.writing() as tx:
        tx.execute("INSERT OR IGNORE INTO faces (face) VALUES (?)", (face.name,))
        sets = ", ".join(f"{name} = ?" for name in names)
        tx.execute(f"UPDATE faces SET {sets} WHERE face = ?", (*columns.values(), face.name))  # noqa: S608  # our own names
        _know_since(tx, face.name)
        if columns.get("digest") is not None:
            values = (face.name, columns["digest"])
            tx.execute("INSERT OR IGNORE INTO published VALUES (?, ?)", values)


def rebase(tx: Writing, face: Face, data: bytes | None) -> None:
    """The journal knows these bytes now, together with what was taken from them."""
    tx.execute("INSERT OR IGNORE INTO faces (face) VALUES (?)", (face.name,))
    tx.execute("UPDATE faces SET bytes = ? WHERE face = ?", (data, face.name))
    _know_since(tx, face.name)


def know(tx: Writing, name: str, data: bytes, *, base: bytes | None) -> None:
    """What stands there now is known, whatever it says: the next publish may replace it.

    *base* is the same without its secrets, if an edit of it can be told.
    """
    tx.execute("INSERT OR IGNORE INTO faces (face) VALUES (?)", (name,))
    sql = "UPDATE faces SET digest = ?, bytes = ?, refused = NULL WHERE face = ?"
    tx.execute(sql, (digest(data), base, name))
    _know_since(tx, name)


def _know_since(tx: Writing, name: str) -> None:
    """Who writes into the file from now on writes something new."""
    tx.execute("DELETE FROM published WHERE face = ?", (f"since:{name}",))
    sql = "INSERT INTO published SELECT ?, ifnull(max(seq), 0) FROM events"
    tx.execute(sql, (f"since:{name}",))


def known_since(journal: Journal, name: str) -> int:
    """The event by which the journal last knew a face's file; 0 where it never did."""
    rows = journal.query("SELECT digest FROM published WHERE face = ?", (f"since:{name}",))
    return int(rows[0][0]) if rows else 0


def remember_published(
    journal: Journal, face: Face, data: bytes, **columns: str | bytes | None
) -> None:
    """These bytes are on disk now, and whoever finds them again later has an old copy of ours."""
    known: dict[str, str | bytes | None] = {"base": data, "refused": None, "unsettled": None}
    remember(journal, face, digest=digest(data), **known | columns)


def contents(face: Face) -> bytes | None:
    """The file's bytes; None when there is none. Links, devices and huge files are refused."""
    try:
        return disk.read_beneath(face.root, face.relative, limit=face.limit)
    except FileNotFoundError:
        return None


def make_durable(face: Face) -> None:
    """Sync what somebody wrote before it is journalled: editors do not.

    A power cut would put zeros in the place of words that are known already, and those would
    look like an edit that nobody can read.
    """
    try:
        fd = disk.open_beneath(face.root, face.relative)
    except FileNotFoundError:
        return
    disk.sync_and_close(fd)


def is_at_rest(path: str, folder: int | None = None) -> bool:
    """Whether nobody has written to a file for a moment: an editor may stop in mid-line."""
    try:
        written_us = os.stat(path, dir_fd=folder, follow_symlinks=False).st_mtime_ns // 1000
    except FileNotFoundError:
        return False
    return not 0 <= clock.now_us() - written_us < _MOMENT_US


def classify(journal: Journal, face: Face, data: bytes | None, *, settled: bool) -> Became:
    """Name the change. An edit is the last thing that is believed.

    A file that is not whole (its last line has no end) is still being written, unless it was
    seen so before and has been at rest.
    """
    if data is None:
        return Became.ABSENT
    memory, found = remembered(journal, face), digest(data)
    if found == memory.digest:
        return Became.SAME
    if _once_published(journal, face, found):
        return Became.REWOUND
    if not settled and not face.is_whole(data):
        return Became.UNSETTLED
    if face.is_list and face.in_git and _came_through_git(face, data, memory.base):
        return Became.FROM_GIT
    return Became.EDITED


def _once_published(journal: Journal, face: Face, found: str) -> bool:
    query = "SELECT 1 FROM published WHERE face = ? AND digest = ?"
    return bool(journal.query(query, (face.name, found)))


def _came_through_git(face: Face, data: bytes, published: bytes | None) -> bool:
    """Whether git wrote these bytes: they are HEAD's, or a merge put them into the index.

    Asked of lists alone: there another clone's line and an amended one look the same, and to add
    it loses neither.
    What a person edited and added is in the index too, but then HEAD still has what we published.
    """
    from pathlib import Path

    from standfast.git.command import Git  # only when a file changed: most looks find nothing

    git = Git(directory=Path(face.root))
    try:
        blob, head = git.hash_blob(data), git.blob_at_head(face.relative)
        if blob == head:
            return True
        staged_by_hand = published is not None and git.hash_blob(published) == head
        return blob == git.blob_in_index(face.relative) and not staged_by_hand
    except (GitFailed, NotARepository, ProgramMissing, ProgramTimedOut):
        return False  # then it counts as an edit, which loses nothing either


def refused_faces(journal: Journal) -> list[str]:
    """Faces that wait for a person, each with file, line and reason."""
    rows = journal.query("SELECT refused FROM faces WHERE refused IS NOT NULL ORDER BY face")
    return [str(row[0]) for row in rows]

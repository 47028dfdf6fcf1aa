"""Which faces there are, and whether this checkout is their home.

A face has one home: the checkout where it was first kept, recorded in the journal. The same
file in another worktree is a copy that git brought: neither published nor adopted.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors import Conflict, StandfastError
from standfast.files import status_md
from standfast.journal import reading

if TYPE_CHECKING:
    from standfast.files.face import Face
    from standfast.files.publish import Outcome
    from standfast.journal.place import Place
    from standfast.journal.store import Journal


def faces(place: Place, status_file: str | None) -> list[Face]:
    """Beside the journal always; in the work tree only what the configuration names."""
    found = [
        status_md.face(
            name=status_md.NAME, root=place.folder, relative=status_md.FILE, in_git=False
        )
    ]
    if status_file is not None:
        found.append(
            status_md.face(
                name=f"tree/{status_file}",
                root=place.root,
                relative=status_file,
                in_git=place.in_git,
            )
        )
    return found


def keep_all(journal: Journal, place: Place, status_file: str | None) -> list[Outcome]:
    """Bring every face that is at home here up to date."""
    if status_file is None and is_settled(journal):
        return []
    from standfast.files import publish

    return [
        publish.keep(journal, face)
        for face in faces(place, status_file)
        if not face.in_git or is_home(journal, face)
    ]


def is_settled(journal: Journal) -> bool:
    """Whether the face beside the journal says what it should and nobody touched it.

    What `publish.keep` would find out too, without loading any of it: most commands change nothing.
    """
    known = journal.query(
        "SELECT digest FROM faces"
        " WHERE face = ? AND draft IS NULL AND refused IS NULL AND unsettled IS NULL",
        (status_md.NAME,),
    )
    if not known:
        return False
    watched = journal.query("SELECT at, seen FROM displaced WHERE face = ?", (status_md.NAME,))
    rendered = status_md.render(reading.decisions(journal))
    try:
        present = disk.read_beneath(journal.folder, status_md.FILE)
        untouched = all(
            sha256(disk.read_beneath(journal.folder, str(at))).hexdigest() == seen
            for at, seen in watched
        )
    except (OSError, StandfastError):
        return False
    return untouched and present == rendered and sha256(present).hexdigest() == known[0][0]


def is_home(journal: Journal, face: Face) -> bool:
    """Whether the face lives in this checkout; the first to ask decides, a lost home moves."""
    key = f"home:{face.name}"
    found = reading.cell(journal, key)
    if found is not None and found[0].get("root") == face.root:
        return True
    if found is not None and os.path.isdir(str(found[0].get("root"))):
        return False
    try:
        with journal.writing() as tx:
            tx.set(key, {"root": face.root}, expect=found[1] if found else 0)
    except Conflict:
        return is_home(journal, face)  # another checkout was quicker
    return True

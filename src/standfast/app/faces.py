"""Which faces there are, and whether this checkout is their home.

A face has one home: the checkout where it was first kept, recorded in the journal. The same
file in another worktree is a copy that git brought: neither published nor adopted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.decisions import status_md
from standfast.errors.base import Conflict, NothingFound, UnsafePath
from standfast.faces import rest
from standfast.journal import id_file, questions
from standfast.journal.place import is_checkout
from standfast.journal.tables.schema import ANY_DOCUMENT

if TYPE_CHECKING:
    from standfast.faces.face import Face
    from standfast.faces.publish import Outcome
    from standfast.journal.place import Place
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

CHECKPOINTS = "checkpoints"
CHECKPOINTS_FILE = ".claude/ai-dev-kit/run-logs/checkpoints.json"


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


def keep_all(
    journal: Journal,
    place: Place,
    status_file: str | None,
    checkpoints_file: str | None = None,
    *,
    checkpoints: bool = False,
    writes: bool = True,
) -> list[Outcome]:
    """Bring every face that is at home here up to date; *checkpoints*: their command was called.

    A command that only reads (not *writes*) takes in what stands in a work tree, and leaves it so.
    """
    wanted = checkpoints or _wants_checkpoints(journal, place, checkpoints_file)
    written = checkpoints_face(journal, place, checkpoints_file) if wanted else None
    if status_file is None and is_settled(journal) and _checkpoints_settled(journal, written):
        return []
    from standfast.faces import publish

    keep = publish.keep if writes else publish.take_in
    found = [
        publish.keep(journal, face) if not face.in_git else keep(journal, face)
        for face in faces(place, status_file)
        if not face.in_git or is_home(journal, place, face)
    ]
    if written is not None and is_home(journal, place, written):
        kept = _keep_in_folder(journal, written) if writes else publish.take_in(journal, written)
        found.append(kept)
    return found


def take_checkpoints(journal: Journal, place: Place, named: str | None) -> Outcome | None:
    """Take in what others wrote into the file of the checkpoints, and leave it as it is."""
    face = checkpoints_face(journal, place, named)
    if _checkpoints_settled(journal, face) or not is_home(journal, place, face):
        return None
    from standfast.faces import publish

    return publish.take_in(journal, face)


def _keep_in_folder(journal: Journal, face: Face) -> Outcome:
    """The protocol gives the file a folder of its own, which need not be there."""
    from standfast.faces import publish
    from standfast.faces.look import Became

    try:
        if not os.path.lexists(face.path):
            disk.make_folders_beneath(face.root, face.relative)
    except UnsafePath as refused:
        return publish.Outcome(became=Became.ABSENT, refused=refused)
    return publish.keep(journal, face)


def _wants_checkpoints(journal: Journal, place: Place, named: str | None) -> bool:
    """Whether anybody wants the file: it is there, a setting names it, its command was called.

    A command that died before it could write the file has left its home in the journal. A file
    that was written and is gone was taken away by somebody: it comes back with the next call.
    """
    root = checkpoints_root(journal, place)
    if named or os.path.lexists(os.path.join(root, CHECKPOINTS_FILE)):
        return True
    rows = journal.query("SELECT digest FROM faces WHERE face = ?", (CHECKPOINTS,))
    unwritten = not rows or rows[0][0] is None
    return unwritten and questions.cell(journal, f"home:{CHECKPOINTS}") is not None


def checkpoints_face(journal: Journal, place: Place, named: str | None) -> Face:
    """The file of the checkpoints, where it is at home."""
    from standfast.protocols.checkpoints.files import checkpoints_json

    return checkpoints_json.face(
        name=CHECKPOINTS,
        root=checkpoints_root(journal, place),
        relative=named or CHECKPOINTS_FILE,
        in_git=place.in_git,
    )


def checkpoints_root(journal: Journal, place: Place) -> str:
    """Where the file is at home: lanes in other worktrees write into the same one."""
    try:
        home = questions.cell(journal, f"home:{CHECKPOINTS}")
    except NothingFound:  # nothing yet, or another command makes the journal at this moment
        home = None
    root = id_file.here(journal, str(home[0].get("root"))) if home is not None else ""
    return root if is_checkout(place, root) else place.main_root


def document_root(journal: Journal, place: Place, file: str) -> str:
    """Where a file with a resumption section is at home: where it was first known, if that is."""
    try:
        any_known = bool(journal.query(ANY_DOCUMENT))
    except NothingFound:
        any_known = False
    if not any_known:
        return place.root
    from standfast.protocols.resumption.files import section_file

    found = section_file.document_at(journal.query, place.root, file)
    root = id_file.here(journal, found.root) if found is not None else ""
    there = section_file.document_at(journal.query, root, file) if found is not None else None
    if found is not None and (there is None or there.name != found.name):
        return place.root  # another workflow stands there now
    return root if is_checkout(place, root) else place.root


def is_settled(journal: Journal) -> bool:
    """Whether the face beside the journal says what it should and nobody touched it.

    What `publish.keep` would find out too, without loading any of it: most commands change nothing.
    """
    rendered = status_md.render(questions.decisions(journal))
    return rest.says(journal, status_md.NAME, journal.folder, status_md.FILE, rendered)


def _checkpoints_settled(journal: Journal, face: Face | None) -> bool:
    if face is None:
        return True
    return rest.says(journal, face.name, face.root, face.relative, face.render(journal, None))


def claim(tx: Writing, journal: Journal, face: Face) -> None:
    """Make this the face's home, together with the first fact that it shows."""
    found = questions.cell(journal, f"home:{face.name}")
    if found is None or found[0].get("root") != face.root:
        tx.set(f"home:{face.name}", {"root": face.root})


def is_home(journal: Journal, place: Place, face: Face) -> bool:
    """Whether the face lives in this checkout; the first to ask decides, a lost home moves."""
    key = f"home:{face.name}"
    found = questions.cell(journal, key)
    root = id_file.here(journal, str(found[0].get("root"))) if found is not None else ""
    if root == face.root:
        return True
    if is_checkout(place, root):
        return False
    try:
        with journal.writing() as tx:
            tx.set(key, {"root": face.root}, expect=found[1] if found else 0)
    except Conflict:
        return is_home(journal, place, face)  # another checkout was quicker
    return True

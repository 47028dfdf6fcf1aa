"""The context files of agents: where they are, reading them, and taking in what agents wrote.

They are the agents' own. What one wrote is journalled as it is found, so that no later version,
ours or anybody's, can be the end of it.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from standfast import disk, ids
from standfast.errors.base import BadName, UnsafePath
from standfast.formats.document_limits import decode
from standfast.journal import overwritten_files, questions
from standfast.journal.author import USER
from standfast.protocols.context.rules.context_schema import FOLDER, SUFFIX

if TYPE_CHECKING:
    from standfast.journal.author import Author
    from standfast.journal.store import Journal

LIMIT = 16 * 1024 * 1024
ADOPTED = "context.adopted"
_WHY = "an agent's context file"

# A cell outlives the events of its time; what they kept is then to be kept anew.
_KNOWN = """
    SELECT 1 FROM cells JOIN events ON events.seq = cells.seq
    WHERE key = ? AND value ->> 'digest' = ?"""


def relative(role: str) -> str:
    """Where a role's file is, from the root of the repository."""
    return f"{FOLDER}/{ids.role(role)}{SUFFIX}"


def role_of(path: str) -> str | None:
    """The role that a file is named after; None where it is named otherwise."""
    name = os.path.basename(path)
    try:
        return ids.role(name.removesuffix(SUFFIX)) if name.endswith(SUFFIX) else None
    except BadName:
        return None


def read(root: str, role: str) -> bytes:
    """A role's file; FileNotFoundError when there is none."""
    return disk.read_beneath(root, relative(role), limit=LIMIT)


def text_of(data: bytes, path: str) -> str:
    """The text with its line ends and its byte order mark as they are; UTF-8 or refused."""
    decode(data, name=path, limit=LIMIT)
    return data.decode("utf-8")


def listed(root: str) -> list[str]:
    """Every context file there is, from the root of the repository, in the order of names."""
    try:
        folder = disk.open_folder_beneath(root, f"{FOLDER}/x")
    except FileNotFoundError:
        return []
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    finally:
        os.close(folder)
    return [f"{FOLDER}/{name}" for name in names]


def below(root: str, directory: str, path: str) -> str:
    """A path that somebody named in *directory*, from the root; one that leads outside is refused.

    Links are not looked at here: who opens the file follows none.
    """
    here = os.path.realpath(directory)
    full = os.path.normpath(os.path.join(here, path))
    inside = os.path.relpath(full, root)
    if inside == os.curdir or inside.split(os.sep)[0] == os.pardir:
        raise UnsafePath(
            "it is outside of the repository",
            file=path,
            remedy=f"Name a file below {root}, such as {FOLDER}/ROLE{SUFFIX}.",
        )
    return inside


def digest_of(journal: Journal, role: str) -> str | None:
    """The digest of what was journalled last of a role's file, in whatever worktree."""
    found = questions.cell(journal, f"context:{relative(role)}")
    return str(found[0].get("digest")) if found else None


def adopt(
    journal: Journal, role: str, data: bytes, author: Author = USER, *, path: str | None = None
) -> bool:
    """Journal what stands in a role's file, if it is not what was journalled last; whether so."""
    path = path or relative(role)
    digest = hashlib.sha256(data).hexdigest()
    key = f"context:{path}"
    with journal.writing() as tx:
        if tx.execute(_KNOWN, (key, digest)):
            return False
        overwritten_files.keep(tx, path, data, _WHY, author)
        facts = {"role": role, "path": path, "digest": digest, "size": len(data)}
        tx.append(ADOPTED, facts, author)
        tx.set(key, {"digest": digest})
    return True

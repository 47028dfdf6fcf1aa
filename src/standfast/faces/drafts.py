"""Where drafts and displaced files of faces lie, opened so that no path is walked twice.

Beside the journal where that is the same filesystem, so that a work tree never shows them; else
beside the face. `drafts/NAME` or `beside/NAME` is how the journal remembers one.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import UnsafePath
from standfast.faces.look import digest
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.faces.face import Face
    from standfast.journal.store import Journal

DRAFTS = "drafts"
KEPT = "kept"
_BESIDE = "beside"
_PREFIX, _SUFFIX = ".standfast-", ".draft"
_PIECE = 64 * 1024


def new_name() -> str:
    """A name that nobody else will choose."""
    return f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"


def where_for(journal: Journal, face: Face) -> str:
    """Drafts beside the journal if a rename from there can reach the face, else beside the face."""
    disk.make_folder(os.path.join(journal.folder, DRAFTS))
    here = os.stat(os.path.join(journal.folder, DRAFTS)).st_dev
    folder = disk.open_folder_beneath(face.root, face.relative)
    try:
        return DRAFTS if os.fstat(folder).st_dev == here else _BESIDE
    finally:
        os.close(folder)


@contextmanager
def folders(journal: Journal, face: Face, where: str) -> Iterator[tuple[int, int]]:
    """The face's folder and the drafts' folder, open: no path is walked twice."""
    target = disk.open_folder_beneath(face.root, face.relative)
    drafts = target
    try:
        if where != _BESIDE:
            path = os.path.join(journal.folder, DRAFTS)
            drafts = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        yield target, drafts
    finally:
        if drafts != target:
            os.close(drafts)
        os.close(target)


def read(face: Face, folder: int, name: str) -> bytes | None:
    """The contents of a file in an open folder; None when there is none of the kind we keep."""
    try:
        return disk.read_regular(name, limit=face.limit, folder=folder)
    except FileNotFoundError:
        return None
    except UnsafePath:
        return None  # a link was swapped in at the last instant; it holds nobody's words


def sweep(journal: Journal, face: Face) -> None:
    """Remove what is neither about to be swapped in nor still watched."""
    rows = journal.query(
        "SELECT draft FROM faces WHERE draft IS NOT NULL UNION SELECT at FROM displaced"
    )
    named = {str(row[0]).split("/")[1] for row in rows}
    where = where_for(journal, face)
    with folders(journal, face, where) as (_, drafts):
        for name in os.listdir(drafts):
            if name.startswith(_PREFIX) and _SUFFIX in name and name not in named:
                with suppress(OSError):  # not a file: not ours
                    disk.forget(name, folder=drafts)


def keep_aside(journal: Journal, face: Face, data: bytes | None) -> str:
    """Keep what can neither be adopted nor stay where it was, less its secrets; the file."""
    folder = os.path.join(journal.folder, KEPT)
    disk.make_folder(folder)
    path = os.path.join(folder, f"{digest(data)[:12]}-{os.path.basename(face.relative)}")
    disk.replace(path, without_secrets(data) or b"")
    return path


@lru_cache(maxsize=2)
def without_secrets(data: bytes | None) -> bytes | None:
    """The same bytes, every secret in them replaced; a publish asks twice for what it writes."""
    return None if data is None else b"".join(map(_redacted, _pieces(data)))


def _redacted(data: bytes) -> bytes:
    return redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _pieces(data: bytes) -> Iterator[bytes]:
    """A long file of one record a line in parts: a look at all of it takes ten times its size.

    No secret goes from one record into the next; any other file is looked at as a whole.
    """
    start = 0
    while data.startswith(b"[\n{") and len(data) - start > 2 * _PIECE:
        end = data.find(b"\n{", start + _PIECE)
        if end < 0:
            break
        yield data[start:end]
        start = end
    yield data[start:]

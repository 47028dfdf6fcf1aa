"""Whose lifecycle is meant: each worktree has its own, as each has its own context files."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from typing import TYPE_CHECKING

from standfast.errors.base import StandfastError
from standfast.journal import place as places
from standfast.protocols.context.files import context_files
from standfast.protocols.context.records.lifecycle_records import MAIN, Here

if TYPE_CHECKING:
    from standfast.journal.place import Place
    from standfast.journal.store import Journal


def here(journal: Journal, place: Place) -> Here:
    """The checkout that a command or a hook stands in."""
    own = places.git_dir(place.root) if place.in_git else None
    common = os.path.dirname(place.folder)
    if own is None or own == os.path.realpath(common):
        return MAIN
    mark = hashlib.sha256(os.fsencode(os.path.basename(own))).hexdigest()[:8]
    return Here(mark, partial(_owns, journal, place.root, place.main_root))


def _owns(journal: Journal, root: str, main: str, role: str) -> bool:
    """Whether a lifecycle that names no worktree speaks of the file here, not of the main one's."""
    known = context_files.digest_of(journal, role)
    return _likeness(root, role, known) > _likeness(main, role, known)


def _likeness(root: str, role: str, known: str | None) -> int:
    """2: the file is there as it was saved last; 1: it is there; 0: it is not."""
    try:
        data = context_files.read(root, role)
    except (OSError, StandfastError):
        return 0
    return 2 if hashlib.sha256(data).hexdigest() == known else 1

"""Marks of hook calls that could be kept nowhere: neither in the journal nor in its spool.

One small file each, in the state folder or, where that cannot be written, in a temporary one:
why on the first line, the project on the second. The launcher writes the same when Python
itself is gone. The next command or hook that can write makes a gap record of them. Hook path.
"""

from __future__ import annotations

import os

from standfast import clock, disk, xdg
from standfast.errors.base import StandfastError
from standfast.journal import place
from standfast.redaction.redactor import redact
from standfast.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST = 256  # marks in one folder; more would say nothing new
_SIZE_LIMIT = 8 * 1024
_LONGEST_WHY = 300


def folders(environ: Mapping[str, str]) -> list[str]:
    """Where marks may be, in the order in which they are tried."""
    ours = f"standfast-lost-{os.geteuid()}"
    return [
        os.path.join(xdg.state_home(environ), "standfast", "lost"),
        *(os.path.join(temporary, ours) for temporary in xdg.temporaries(environ)),
    ]


def mark(environ: Mapping[str, str], project: str, why: str) -> bool:
    """Leave a mark in the first folder that can be written."""
    data = os.fsencode(f"{one_line(redact(why), _LONGEST_WHY)}\n{project}\n")
    for folder in folders(environ):
        try:
            disk.make_folder(folder)
            if _is_ours(folder) and len(os.listdir(folder)) < MOST:
                disk.create(os.path.join(folder, f"{clock.now_us()}-{os.getpid()}"), data)
                return True
        except (OSError, StandfastError):
            continue
    return False


def marks(environ: Mapping[str, str], journal_folder: str) -> Iterator[tuple[str, str]]:
    """The marks of one journal's project: the file, and why the call was lost."""
    for folder in folders(environ):
        for path in _files(folder):
            found = _read(path)
            if found and _journal_of(found[1], environ) == journal_folder:
                yield path, found[0]


def _files(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder)) if _is_ours(folder) else []
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def _is_ours(folder: str) -> bool:
    """A temporary folder is everybody's: somebody else may have made ours first."""
    facts = os.lstat(folder)
    return facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def _read(path: str) -> tuple[str, str] | None:
    try:
        text = os.fsdecode(disk.read_regular(path, limit=_SIZE_LIMIT))
    except (OSError, StandfastError):
        return None
    why, line_end, project = text.partition("\n")  # a folder's name may hold line ends too
    return (why, project.removesuffix("\n")) if line_end else None


def _journal_of(project: str, environ: Mapping[str, str]) -> str | None:
    if not os.path.isdir(project):
        return None
    return place.find(project, state_home=xdg.state_home(environ)).folder

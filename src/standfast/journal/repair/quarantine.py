"""The quarantine: a damaged journal is copied aside, all of it, before anything is changed.

`<folder>/quarantine/<when>/` holds the database, its log and the log's index, the mirror and the
spool, byte for byte. It grows under a name that ends in `.partial` and is renamed when it is
whole; what a crash leaves under such a name is swept. Nothing ever deletes a whole one.
"""

from __future__ import annotations

import calendar
import errno
import os
import re
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from standfast import clock, disk
from standfast.errors.base import JournalUnreadable, StandfastError
from standfast.journal import damage, mirror
from standfast.journal.fallback import spool
from standfast.journal.repair import salvage
from standfast.journal.retention import event_drop
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "quarantine"
ODD = "odd-"  # so begin the names of what was moved here, and is no file of ours
FILES = ("journal.db", "journal.db-wal", "journal.db-shm", "journal.db-journal", spool.FILE)
_PARTIAL = ".partial"
_NO_FILE_OF_OURS = {
    *(errno.ENOENT, errno.ELOOP, errno.EISDIR, errno.ENOTDIR, errno.ENXIO, errno.ENODEV)
}
_NAME = re.compile(r"(\d{8}T\d{6})\.(\d{6})Z", re.ASCII)


def copy_aside(folder: str) -> str:
    """A durable copy of everything, not yet under its name; on failure none is left."""
    above = _made(folder)
    sweep(folder)
    partial = os.path.join(above, _new_name(above) + _PARTIAL)
    try:
        disk.make_folder(partial)
        for name in FILES:
            _copy(folder, partial, name)
        disk.make_folder(os.path.join(partial, mirror.FOLDER))
        for path in mirror_files(folder):
            _copy(folder, partial, os.path.relpath(path, folder))
        disk.sync_folder(os.path.join(partial, mirror.FOLDER))
        disk.sync_folder(partial)
    except BaseException as error:
        drop(partial)
        if isinstance(error, OSError):
            raise disk.disk_error(error, above) from error
        raise
    return partial


def _made(folder: str) -> str:
    above = os.path.join(folder, FOLDER)
    disk.refuse_link(above)
    disk.make_folder(above)
    return above


def keep(partial: str) -> str:
    """Give a whole copy its name, and the folder that way."""
    path = partial.removesuffix(_PARTIAL)
    os.rename(partial, path)
    disk.sync_folder(os.path.dirname(path))
    return path


@contextmanager
def workplace(folder: str) -> Iterator[str]:
    """A folder where SQLite may write to copies of copies; empty before, gone afterwards."""
    path = os.path.join(folder, FOLDER, "work")
    drop(path)
    disk.make_folder(path)
    try:
        yield path
    finally:
        drop(path)


def set_aside(path: str, copy: str) -> str:
    """Move what no copy was made of to where the copies are: a link, a FIFO, a huge file."""
    kept = os.path.join(copy, f"{ODD}{os.path.basename(path)}")
    os.rename(path, kept)
    return kept


def put_away(folder: str, odd: list[str]) -> tuple[str, ...]:
    """The same before anything is copied, into a folder of its own; durable on return."""
    above = _made(folder)
    own = os.path.join(above, _new_name(above))
    disk.make_folder(own)
    kept = tuple(set_aside(path, own) for path in odd)
    disk.sync_folder(own)
    disk.sync_folder(folder)
    return kept


def drop(partial: str) -> None:
    """Take away a copy that nobody needs: nothing was changed."""
    shutil.rmtree(partial, ignore_errors=True)


def sweep(folder: str) -> None:
    """What a crash left; only under the writers' lock."""
    above = os.path.join(folder, FOLDER)
    for name in os.listdir(above):
        if name.endswith(_PARTIAL) and _NAME.fullmatch(name.removesuffix(_PARTIAL)):
            drop(os.path.join(above, name))


def mark(folder: str, copy: str, found: list[str]) -> None:
    """From here on a repair goes on from this copy: nobody opens the journal until it is done."""
    why, *more = [one_line(words, 300) for words in found]
    lines = [why, os.path.basename(copy), *more]
    disk.replace(os.path.join(folder, damage.MARK), "\n".join(lines).encode() + b"\n")


def marked(folder: str) -> tuple[list[str], str | None]:
    """What the mark says: what was found, and the copy that an unfinished repair goes on from."""
    try:
        data = disk.read_regular(os.path.join(folder, damage.MARK), limit=64 * 1024)
    except (OSError, StandfastError):
        return [], None
    why, name, *more = [*data.decode("utf-8", "replace").split("\n"), ""]
    path = os.path.join(folder, FOLDER, name)
    copy = path if _NAME.fullmatch(name) and os.path.isdir(path) else None
    return [words for words in (why, *more) if words], copy


def name_of(copy: str) -> str:
    """The name that a copy has or will have."""
    return os.path.basename(copy).removesuffix(_PARTIAL)


def made_at(name: str) -> int:
    """When a copy was made, in microseconds: its name says so."""
    found = _NAME.fullmatch(name)
    if found is None:
        return clock.now_us()
    second = calendar.timegm(time.strptime(found[1], "%Y%m%dT%H%M%S"))
    return second * clock.MICROSECONDS + int(found[2])


def mirror_files(folder: str) -> Iterator[str]:
    """The mirror's files as far as they can be its own: regular, no larger than we make them."""
    try:
        paths = mirror.segments(folder)
    except StandfastError:
        return
    yield from (path for path in paths if is_plain(path, mirror.LARGEST))
    yield from filter(is_plain, event_drop.base_files(folder))


def is_plain(path: str, largest: int | None = None) -> bool:
    """Whether a regular file stands there, not larger than it may be.

    One that cannot be opened may hold the only copy of something: then there is no repair yet.
    """
    try:
        fd = disk.open_regular(path)
    except OSError as error:
        if error.errno in _NO_FILE_OF_OURS:
            return False
        if isinstance(error, PermissionError):
            raise JournalUnreadable("this user may not read the journal", file=path) from error
        raise disk.disk_error(error, path, "read") from error
    try:
        return largest is None or os.fstat(fd).st_size <= largest
    finally:
        os.close(fd)


def _new_name(above: str) -> str:
    while True:
        second, part = divmod(clock.now_us(), clock.MICROSECONDS)
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(second))}.{part:06d}Z"
        if not os.path.lexists(os.path.join(above, name)):
            return name


def _copy(folder: str, partial: str, name: str) -> None:
    source = os.path.join(folder, name)
    if is_plain(source):
        salvage.copy(source, os.path.join(partial, name))

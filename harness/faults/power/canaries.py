"""Bugs that only a power cut shows, to be planted: a replay that does not find them is broken."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.journal import database
from standfast.journal.journal_file import ID

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw


class Canary(NamedTuple):
    """A bug, the script that it must show in, and how: lost, half, wedged or wrong."""

    plant: Callable[[], None]
    script: str
    shows: str


def _no_sync() -> None:
    disk.sync_fd = lambda _fd: None  # type: ignore[assignment]  # a name of its own


def _no_folder_sync() -> None:
    sync = disk.sync_fd

    def sync_files(fd: int) -> None:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            sync(fd)

    disk.sync_fd = sync_files
    disk.sync_folder = lambda _path: None  # type: ignore[assignment]  # as above


def _in_every_connection(*pragmas: str) -> Callable[[], None]:
    def plant() -> None:
        connect = database.connect

        def connect_so(path: str, *, checkpoint: bool = True) -> apsw.Connection:
            connection = connect(path, checkpoint=checkpoint)
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}").fetchall()
            return connection

        database.connect = connect_so

    return plant


def _spool_header_with_body() -> None:
    """Of the two syncs that a slot takes, the first is left out."""
    sync = disk.sync_fd
    seen: list[int] = []

    def sync_late(fd: int) -> None:
        if os.readlink(f"/proc/self/fd/{fd}").endswith("/spool"):
            seen.append(fd)
            if len(seen) % 2:
                return
        sync(fd)

    disk.sync_fd = sync_late


def _in_place() -> None:
    def write_over(path: str, data: bytes, *, mode: int = disk.FILE_MODE) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        disk.write_all(fd, data)
        disk.sync_fd(fd)
        os.close(fd)
        disk.sync_folder(os.path.dirname(path))

    disk.replace = write_over


def _id_not_synced() -> None:
    create = disk.create

    def either(
        path: str, data: bytes, *, mode: int = disk.FILE_MODE, folder: int | None = None
    ) -> None:
        if not path.endswith(ID):
            create(path, data, mode=mode, folder=folder)
            return
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        disk.write_all(fd, data)
        os.close(fd)

    disk.create = either


CANARIES: dict[str, Canary] = {
    "no fsync": Canary(_no_sync, "one is spooled", "lost"),
    "no fsync of a face": Canary(_no_sync, "note", "half"),
    "no folder fsync": Canary(_no_folder_sync, "first-note", "lost"),
    "WAL with NORMAL": Canary(_in_every_connection("synchronous=NORMAL"), "Stop", "lost"),
    "DELETE with FULL": Canary(
        _in_every_connection("journal_mode=DELETE", "synchronous=FULL"), "Stop", "lost"
    ),
    "spool header with its body": Canary(_spool_header_with_body, "one is spooled", "half"),
    "id not synced": Canary(_id_not_synced, "first-note", "half"),
    "written in place": Canary(_in_place, "off", "half"),
}

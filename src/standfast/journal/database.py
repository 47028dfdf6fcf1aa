"""The door to SQLite: how a journal file is opened, and what its errors mean.

WAL with `synchronous=FULL`, page checksums by cksumvfs, never a checkpoint on close: the WAL
stays, so that a reader who may not write here can still open the file. Every cursor is
drained: `execute` with several rows or statements stops at the first row otherwise.
"""

from __future__ import annotations

import os
import stat
import sys

import apsw

from standfast import disk
from standfast.errors.base import (
    DiskFailed,
    Exhausted,
    JournalBusy,
    JournalDamaged,
    JournalUnreadable,
    JournalUnwritable,
    NotAJournal,
    OldSqlite,
    StandfastError,
    Unsupported,
)

OLDEST_SQLITE = (3, 51, 3)  # before it, two processes that write and checkpoint can lose commits
PAGE_CHECKSUM_BYTES = 8
PAGE_BYTES = 2048  # a commit writes whole pages: half of the usual size is a few percent faster
_CHECKSUMS = "cksmvfs"
_BUSY_MS = 5_000  # the turnstile keeps writers apart; this is for somebody else's program
_HOOK_BUSY_MS = 100
_WAL_PAGES = 2_000  # 4 MiB, as SQLite does by itself with pages of the usual size
_KEPT_WAL_BYTES = 8 * 1024 * 1024
BESIDE = ("-wal", "-shm", "-journal")  # what SQLite opens beside the file, or finds there
_MAY_NOT_LOOK = "this user may not look into the journal's folder"
_SET_ASIDE = "Look at what it is and who made it; `standfast journal repair` sets it aside, kept."
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def connect(path: str, *, checkpoint: bool = True) -> apsw.Connection:
    """Open the journal file with every setting that the promises rest on."""
    _load_checksums()
    try:
        path.encode()
    except UnicodeEncodeError as error:
        remedy = "Give the folder on the way to it that has other bytes in its name another one."
        raise Unsupported("the path of the journal is not UTF-8", file=path,
                          remedy=remedy) from error  # fmt: skip
    refuse_irregular(path)
    flags = apsw.SQLITE_OPEN_READWRITE  # SQLite itself falls back to reading where it must
    try:
        connection = apsw.Connection(path, flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, vfs=_CHECKSUMS)
        connection.set_busy_timeout(_BUSY_MS if checkpoint else _HOOK_BUSY_MS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        for setting in (
            "trusted_schema=OFF",
            "synchronous=FULL",
            f"wal_autocheckpoint={_WAL_PAGES if checkpoint else 0}",
            f"journal_size_limit={_KEPT_WAL_BYTES}",
        ):
            connection.execute(f"PRAGMA {setting}").fetchall()
        if connection.execute("PRAGMA journal_mode").fetchall() != [("wal",)]:
            _use_rollback_journal(connection)
    except apsw.Error as error:
        raise translate(error, path) from error
    return connection


def is_there(path: str) -> bool:
    """Whether a file of a journal is there; who may not look cannot know, and is told so."""
    try:
        os.lstat(path)
    except PermissionError as error:
        raise JournalUnreadable(_MAY_NOT_LOOK, file=os.path.dirname(path)) from error
    except OSError as error:
        if disk.is_passing(error):
            raise disk.disk_error(error, path, "read") from error
        return False
    return True


def refuse_irregular(path: str) -> None:
    """A journal is a regular file, and so is all that SQLite opens for it.

    It opens them in C: at a pipe it would wait for ever, and hear nobody who asks it to end.
    """
    if (kind := _odd_kind(path)) is not None:
        raise NotAJournal(f"this is not a regular file but {kind}", file=path)
    for name in (f"{path}{end}" for end in BESIDE):
        if (kind := _odd_kind(name)) is not None:
            words = f"{kind} stands where SQLite keeps a file of the journal"
            raise NotAJournal(words, file=name, remedy=_SET_ASIDE)


def odd_beside(path: str) -> list[str]:
    """What stands beside a journal file where SQLite would open it, and is no regular file."""
    names = [f"{path}{end}" for end in BESIDE]
    return [name for name in names if _odd_kind(name) is not None]


def _odd_kind(path: str) -> str | None:
    """What stands there instead of a regular file; None for one, and where nothing is."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None  # whoever opens it says why
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "a device")


_scratch: apsw.Connection | None = None


def scratch() -> apsw.Connection:
    """A database in memory, for SQLite's own functions; one is enough."""
    global _scratch  # noqa: PLW0603  # making one takes a hook a tenth of a millisecond
    if _scratch is None:
        _scratch = apsw.Connection(":memory:")
    return _scratch


def in_memory() -> apsw.Connection:
    """A database of its own in memory, for what is in no journal: nothing of it ever moved."""
    connection = apsw.Connection(":memory:")
    connection.create_scalar_function("here", lambda *paths: paths[0], 1)
    return connection


def prepare(connection: apsw.Connection, *, wal: bool) -> None:
    """Before the first table: room for page checksums, then the journal mode, which must stick."""
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}").fetchall()
    connection.reserve_bytes(reserve=PAGE_CHECKSUM_BYTES)
    connection.execute("PRAGMA auto_vacuum=NONE").fetchall()
    if wal:
        _set_mode(connection, "wal")
        connection.execute("PRAGMA synchronous=FULL").fetchall()


def _use_rollback_journal(connection: apsw.Connection) -> None:
    """For filesystems without shared memory. FULL would lose its last commit in a power cut."""
    _set_mode(connection, "truncate")
    connection.execute("PRAGMA synchronous=EXTRA").fetchall()


def _set_mode(connection: apsw.Connection, mode: str) -> None:
    """Ask for a journal mode and believe only the answer."""
    if connection.execute(f"PRAGMA journal_mode={mode}").fetchall() != [(mode,)]:
        raise Unsupported(f"this filesystem cannot hold a journal: {mode} mode was refused")


def wal_is_safe(folder: str) -> bool:
    """Whether locks and shared memory can be trusted on the filesystem that holds *folder*."""
    from standfast import filesystems  # once in a journal's life

    return filesystems.kind_of(folder) not in filesystems.REMOTE


def _load_checksums() -> None:
    if _CHECKSUMS in apsw.vfs_names():
        return
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SQLITE:
        raise OldSqlite(f"apsw brings SQLite {apsw.sqlite_lib_version()}")
    suffix = "dylib" if sys.platform == "darwin" else "so"
    # By path: apsw.sqlite_extra would find it too, but imports json and pathlib for that.
    library = os.path.join(
        os.path.dirname(apsw.__file__), "sqlite_extra_binaries", f"cksumvfs.{suffix}"
    )
    plain = apsw.vfs_names()[0]
    loader = scratch()
    try:
        loader.enable_load_extension(True)  # noqa: FBT003  # apsw's own signature
        loader.load_extension(library)
    except apsw.Error as error:
        raise Unsupported(f"this build of apsw lacks the page checksums: {error}") from error
    finally:
        loader.enable_load_extension(False)  # noqa: FBT003  # as above
    apsw.set_default_vfs(plain)  # the extension makes itself everybody's default


def translate(error: apsw.Error, path: str) -> StandfastError:
    """Say an SQLite error in the user's terms."""
    reason = str(error) or type(error).__name__
    if isinstance(error, apsw.NotADBError):
        return NotAJournal("this file is not a Standfast journal", file=path)
    if isinstance(error, apsw.CorruptError) or _is_bad_checksum(error) or _is_gone(error):
        return JournalDamaged(f"the journal is damaged: {reason}", file=path)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return JournalBusy(f"another program has the journal open for itself: {reason}", file=path)
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError | apsw.AuthError):
        return JournalUnwritable("the journal cannot be written here", file=path)
    return _refused(error, path)


def _refused(error: apsw.Error, path: str) -> StandfastError:
    """What the system would not do."""
    if isinstance(error, apsw.NoMemError):
        return Exhausted("the system gave no more memory", file=path)
    if isinstance(error, apsw.CantOpenError):
        return _cannot_open(path)
    return DiskFailed(
        f"the journal's disk refused: {str(error) or type(error).__name__}", file=path
    )


def _is_gone(error: apsw.Error) -> bool:
    """Whether a table or column that every journal has is not there."""
    return isinstance(error, apsw.SQLError) and str(error).startswith("no such")


def _is_bad_checksum(error: apsw.Error) -> bool:
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA


def _cannot_open(path: str) -> StandfastError:
    try:  # SQLite does not say that there are too many open files
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return disk.disk_error(error, path, "read")
    if not is_there(path):
        return NotAJournal("the journal's file is not there any more", file=path)
    for name in (path, *(f"{path}{end}" for end in BESIDE)):
        if os.path.lexists(name) and not os.access(name, os.R_OK):
            return JournalUnreadable("this user may not read the journal", file=name)
    return JournalUnwritable("the journal cannot be opened here", file=path)

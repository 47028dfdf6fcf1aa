"""How a journal file comes to be open: found, made, brought up to date, or refused."""

from __future__ import annotations

import os

from standfast import disk
from standfast.errors.base import (
    JournalDamaged,
    JournalFromTheFuture,
    JournalGone,
    NotAJournal,
    NothingFound,
    StandfastError,
)
from standfast.journal import damage, database
from standfast.journal.chain import LAST
from standfast.journal.locks import TURNSTILE
from standfast.journal.tables import schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

ID = "-id"  # beside the journal's folder: what is left where somebody takes the folder away
LARGEST_ID = 256 * 1024


def open_existing(path: str, *, checkpoint: bool) -> apsw.Connection:
    """Open a journal to read it; NothingFound where nothing was ever recorded."""
    folder = os.path.dirname(path)
    disk.refuse_link(folder)
    if not database.is_there(path):
        damage.refuse(folder)
        if checkpoint and (mirrored := _mirrored(folder)):
            raise JournalDamaged(f"it is gone; its mirror holds {mirrored} events", file=path)
        raise _absent(folder)
    connection = _connect(path, checkpoint=checkpoint)
    if is_unfinished(connection):  # a crash while it was being made: nothing was promised
        connection.close()
        raise _absent(folder)
    return connection


def _absent(folder: str) -> NothingFound | JournalGone:
    """An id without a journal is a loss; without one nothing was ever recorded."""
    if not os.path.lexists(f"{folder}{ID}"):
        return NothingFound("nothing has been recorded here yet", file=folder)
    from standfast.journal import id_file

    return id_file.gone(folder)


def id_of(folder: str) -> bytes:
    """The id file as it is; empty where there is none, or nothing that can be read."""
    try:
        return disk.read_regular(f"{folder}{ID}", limit=LARGEST_ID)
    except OSError as error:
        if disk.is_passing(error):  # too many open files, say: the journal is not gone
            raise disk.disk_error(error, f"{folder}{ID}", "read") from error
        return b""
    except StandfastError:
        return b""


def is_at_home(folder: str, known: bytes) -> bool:
    """Whether the id file says that this is its home; an odd path, spelled otherwise, is not."""
    home = os.fsencode(os.path.dirname(folder))
    return b"\nhome %b\nfolder %b\n" % (home, mark_of(folder).encode()) in known


def is_ours(folder: str, known: bytes, state_home: str) -> bool:
    """Whether it is at home, and this user knows it: another's may stand at the same place."""
    name = known.partition(b"\n")[0].removeprefix(b"journal ").decode("ascii", "replace")
    return is_at_home(folder, known) and (not state_home or is_registered(state_home, name))


def registered(state_home: str, name: str) -> str:
    """Where the state directory of a user says that a journal of this id is theirs."""
    return os.path.join(state_home, "standfast", "journals", "ids", name)


def is_registered(state_home: str, name: str) -> bool:
    """Whether this user wrote in the journal of this id."""
    return name.isalnum() and os.path.lexists(registered(state_home, name))


def mark_of(folder: str) -> str:
    """What no tar brings along: the number of the home, and since when there is a lock in it.

    Numbers are used again. Nothing is ever written into that lock, and nobody can set when it
    was made; whoever changes its rights makes the folder another, which costs one look.
    """
    try:
        home, lock = os.stat(os.path.dirname(folder)), os.stat(os.path.join(folder, TURNSTILE))
    except OSError:
        return ""
    return f"{home.st_ino} {lock.st_ctime_ns}"


def open_or_create(path: str, *, checkpoint: bool) -> apsw.Connection:
    """Under the turnstile: open, making the file or bringing its tables up to date first."""
    folder = os.path.dirname(path)
    if not database.is_there(path):
        disk.create(path, b"")
    connection = _connect(path, checkpoint=checkpoint)
    if is_unfinished(connection):
        if os.path.lexists(f"{folder}{ID}"):
            from standfast.journal import id_file

            id_file.mark_gone(folder)
        database.prepare(connection, wal=database.wal_is_safe(folder))
    if is_old(connection):
        migrate(connection)
        disk.sync_folder(folder)
    return connection


def prepare_spool(folder: str) -> None:
    """Under the turnstile: whoever made the journal may have died before it had its spool."""
    if not os.path.lexists(os.path.join(folder, "spool")):
        from standfast.journal.fallback import spool  # once in a journal's life

        spool.prepare(folder)


def _connect(path: str, *, checkpoint: bool) -> apsw.Connection:
    """Open the file as it is before and after: a repair may put another in its place meanwhile."""
    while True:
        before = disk.identity(path)
        connection = _connect_once(path, checkpoint=checkpoint)
        damage.refuse(os.path.dirname(path))  # now: a repair that began later changed nothing yet
        if disk.identity(path) == before:
            return connection
        connection.close()


def _connect_once(path: str, *, checkpoint: bool) -> apsw.Connection:
    # The mirror is asked first: the journal runs ahead of it, never behind. A hook has no time
    # for that, unless the journal is new: then its mirror must be empty. The log's index is
    # asked before SQLite makes it anew.
    folder = os.path.dirname(path)
    damage.refuse(folder)
    mirrored, link = _newest(folder) if checkpoint else (0, "")
    database.refuse_irregular(path)
    log = damage.log_of(path)
    connection = database.connect(path, checkpoint=checkpoint)
    unfinished = is_unfinished(connection)
    if unfinished:
        mirrored = mirrored or _mirrored(folder)
    else:
        _check_version(connection, path)
    row = None if unfinished else connection.execute(LAST).fetchone()
    last = row[0] if row else 0
    damage.compare(path, log)
    if last < mirrored:  # emptied or rolled back by something that is not us
        raise JournalDamaged(
            f"the journal ends at event {last}, but its mirror holds {mirrored}", file=path
        )
    if link:
        _refuse_another(connection, mirrored, link, path)
    return connection


def _refuse_another(connection: apsw.Connection, seq: int, link: str, path: str) -> None:
    """Put back and written on since, or beside another's mirror: the numbers alone look right."""
    row = connection.execute("SELECT hex(hash) FROM events WHERE seq = ?", (seq,)).fetchone()
    if row is not None and str(row[0]).lower() != link:
        raise JournalDamaged(
            f"event {seq} is not the one in its mirror: one of them was put back", file=path
        )


def _newest(folder: str) -> tuple[int, str]:
    from standfast.journal import mirror

    return mirror.newest(folder)


def _mirrored(folder: str) -> int:
    from standfast.journal import mirror

    return mirror.last_seq(folder)


def is_unfinished(connection: apsw.Connection) -> bool:
    """An empty database: made by us, or about to be."""
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return tables == [(0,)] and _version(connection) == 0


def is_old(connection: apsw.Connection) -> bool:
    """Whether tables are missing that this version reads."""
    return _version(connection) < schema.VERSION


def _version(connection: apsw.Connection) -> int:
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    return int(str(version))


def _check_version(connection: apsw.Connection, path: str) -> None:
    if connection.execute("PRAGMA application_id").fetchall() != [(schema.APPLICATION_ID,)]:
        raise NotAJournal("this database is not a Standfast journal", file=path)
    version = _version(connection)
    if version > schema.VERSION:
        raise JournalFromTheFuture(
            f"the journal has schema {version}; this Standfast knows {schema.VERSION}", file=path
        )


def migrate(connection: apsw.Connection) -> None:
    """Every missing step and the new version, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in schema.MIGRATIONS[_version(connection) :]:
            for statement in statements:
                connection.execute(statement).fetchall()
        connection.execute(f"PRAGMA application_id={schema.APPLICATION_ID}").fetchall()
        connection.execute(f"PRAGMA user_version={schema.VERSION}").fetchall()
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

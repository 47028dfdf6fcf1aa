"""The journal itself: append facts, keep the current state with them, and let nothing slip.

`append` is the whole promise in one call: redacted, numbered without gaps, chained, folded
into the state tables and synced to disk before it returns. Several facts that belong
together go through `writing()`. On an I/O error the connection is thrown away and the
journal is read anew: a failed sync is never tried again, because the kernel may have dropped
the pages it could not write.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

import apsw

from standfast import clock, disk
from standfast.errors import (
    BadName,
    Conflict,
    FencedOut,
    JournalDamaged,
    JournalFromTheFuture,
    JournalUnwritable,
    NotAJournal,
    NothingFound,
    StandfastError,
)
from standfast.journal import chain, database, folds, schema, spool
from standfast.journal.author import USER, Author
from standfast.journal.payload import encode
from standfast.journal.turnstile import Turnstile
from standfast.protocol import ids
from standfast.protocol.text import printable
from standfast.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

FILE = "journal.db"
MIRROR_EVERY = 256

_LAST = "SELECT seq FROM events ORDER BY seq DESC LIMIT 1"
_HEAD = "SELECT hash FROM events WHERE stream = ? ORDER BY seq DESC LIMIT 1"
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Journal:
    """One repository's journal, open in this process. Not to be shared across a fork."""

    def __init__(
        self, folder: str, *, lock_timeout_s: float | None = 10.0, checkpoint: bool = True
    ) -> None:
        self.folder = folder
        self.path = os.path.join(folder, FILE)
        self.lock_timeout_s = lock_timeout_s
        self._checkpoint = checkpoint
        self._turnstile: Turnstile | None = None
        self._connection: apsw.Connection | None = None
        self._last = -1  # the sequence that `_heads` are true for
        self._heads: dict[str, bytes] = {}
        self._unmirrored = 0
        self._names: set[str] = set()  # names that were checked before

    @property
    def exists(self) -> bool:
        """Whether anything was ever recorded here; asking creates nothing."""
        return os.path.lexists(self.path)

    @property
    def connection(self) -> apsw.Connection:
        """The open database, made on first use."""
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def append(
        self,
        kind: str,
        payload: Mapping[str, object] | str,
        author: Author = USER,
        *,
        origin: str | None = None,
    ) -> int:
        """Record one fact and return its sequence number: from here on it survives anything."""
        with Writing(self) as tx:
            return tx.append(kind, payload, author, origin=origin)

    def writing(self) -> Writing:
        """A transaction for facts that belong together: all of them are kept, or none."""
        return Writing(self)

    def close(self) -> None:
        """Bring the mirror up to date and let go; what was recorded needs neither."""
        if self._unmirrored:
            self.mirror()
        self.abandon()
        if self._turnstile is not None:
            self._turnstile.close()
            self._turnstile = None

    def mirror(self) -> None:
        """Write what the mirror lacks. Its failure undoes no fact: `doctor` tells how far it is."""
        from standfast.journal import mirror  # hooks leave this to others

        self._unmirrored = 0
        with suppress(StandfastError):
            mirror.catch_up(self)

    def abandon(self) -> None:
        """Throw the connection away; the next use opens and reads anew."""
        connection, self._connection = self._connection, None
        self._last, self._heads = -1, {}
        if connection is not None:
            connection.close(True)  # noqa: FBT003  # apsw: close even where it reports errors

    def enter(self) -> apsw.Connection:
        """Become the writer and begin; `leave` must follow."""
        turnstile = self._turnstile or self._open_turnstile()
        turnstile.enter(self.lock_timeout_s)
        try:
            connection = self._connection or self._open_or_create()
            connection.execute("BEGIN IMMEDIATE")
        except BaseException as error:
            self.abandon()
            turnstile.leave()
            if isinstance(error, apsw.Error):
                raise database.translate(error, self.path) from error
            if isinstance(error, OSError):
                raise _refused(error, self.folder) from error
            raise
        return connection

    def leave(self, *, keep: bool) -> None:
        """End the transaction, durably or without a trace, and let the next writer in."""
        connection = self.connection
        try:
            if keep:
                connection.execute("COMMIT")
            else:
                self._last, self._heads = -1, {}
                if connection.in_transaction:  # SQLite has rolled back by itself on some errors
                    connection.execute("ROLLBACK")
        except apsw.Error as error:
            self.abandon()
            raise database.translate(error, self.path) from error
        finally:
            if self._turnstile is not None:
                self._turnstile.leave()

    def head(self, connection: apsw.Connection, stream: str) -> tuple[int, bytes]:
        """The last sequence of all and the last hash of *stream*, remembered while we are alone."""
        row = connection.execute(_LAST).fetchone()
        last = row[0] if row else 0
        if last != self._last:
            self._last, self._heads = last, {}
        if stream not in self._heads:
            found = connection.execute(_HEAD, (stream,)).fetchone()
            self._heads[stream] = found[0] if found else chain.START
        return last, self._heads[stream]

    def advance(self, stream: str, seq: int, link: bytes) -> None:
        """Remember the event just written as the newest."""
        self._last = seq
        self._heads[stream] = link
        self._unmirrored += 1

    def check_names(self, **names: str | None) -> None:
        """Refuse a name that could be mistaken for something else; each is checked once."""
        for what, name in names.items():
            if name is not None and name not in self._names:
                ids.name(name, what=what)
                if redact(name) != name:
                    raise BadName(f"the {what} looks like a secret", remedy="Give it a name.")
                self._names.add(name)

    def mirror_if_due(self) -> None:
        """After a commit: a batch is full."""
        if self._unmirrored >= MIRROR_EVERY:
            self.mirror()

    def _open_turnstile(self) -> Turnstile:
        disk.refuse_link(self.folder)
        try:
            disk.make_folder(self.folder)
            disk.make_private(self.folder)
            self._turnstile = Turnstile(self.folder)
        except OSError as error:
            raise _refused(error, self.folder) from error
        return self._turnstile

    def _open(self) -> apsw.Connection:
        if not self.exists:
            raise NothingFound("nothing has been recorded here yet", file=self.folder)
        disk.refuse_link(self.folder)
        try:
            mirrored = self._mirrored()
            connection = database.connect(self.path, checkpoint=self._checkpoint)
            if not _is_unfinished(connection):
                _check_version(connection, self.path)
            _refuse_behind(connection, mirrored, self.path)
            if _is_unfinished(connection):  # a crash while it was being made: nothing was promised
                raise NothingFound("nothing has been recorded here yet", file=self.folder)
        except apsw.Error as error:
            raise database.translate(error, self.path) from error
        return connection

    def _open_or_create(self) -> apsw.Connection:
        """Under the turnstile: open, making the file or bringing its tables up to date first."""
        if not self.exists:
            disk.create(self.path, b"")
        mirrored = self._mirrored()
        connection = database.connect(self.path, checkpoint=self._checkpoint)
        if not _is_unfinished(connection):
            _check_version(connection, self.path)
        _refuse_behind(connection, mirrored, self.path)
        if _is_unfinished(connection):
            database.prepare(connection, wal=database.wal_is_safe(self.folder))
        if _version(connection) < schema.VERSION:
            _migrate(connection)
            disk.sync_folder(self.folder)
        spool.prepare(self.folder)
        self._connection = connection
        return connection

    def _mirrored(self) -> int:
        """The newest event in the mirror, asked before the journal, which runs ahead of it."""
        if not self._checkpoint:
            return 0  # a hook has no time to look
        from standfast.journal import mirror

        return mirror.last_seq(self.folder)


class Writing:
    """One transaction under the turnstile."""

    __slots__ = ("_connection", "_journal", "at")

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def __enter__(self) -> Self:
        self._connection = self._journal.enter()
        self.at = clock.now_us()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._journal.leave(keep=error is None)
        if error is None:
            self._journal.mirror_if_due()
        elif isinstance(error, apsw.Error):
            self._journal.abandon()
            raise database.translate(error, self._journal.path) from error

    def append(
        self,
        kind: str,
        payload: Mapping[str, object] | str,
        author: Author = USER,
        *,
        origin: str | None = None,
        at: int | None = None,
    ) -> int:
        """Add one event and fold it into the state."""
        at = self.at if at is None else at
        run, session, actor, subdir = author.run, author.session, author.actor, author.subdir
        self._journal.check_names(run=run, session=session, actor=actor, kind=kind)
        if subdir:
            subdir = redact(printable(subdir))
        text = encode(payload)
        stream = chain.stream_of(run, session)
        last, before = self._journal.head(self._connection, stream)
        seq = last + 1
        link = chain.link(before, seq, at, run, session, actor, subdir, kind, origin, text)
        event = (seq, at, stream, run, session, actor, subdir, kind, origin, text, link)
        self._connection.execute(_INSERT, event)
        fold = folds.FOLDS.get(kind)
        if fold is not None:
            fold(self._connection, event)
        self._journal.advance(stream, seq, link)
        return seq

    def execute(
        self, sql: str, values: tuple[apsw.SQLiteValue, ...] = ()
    ) -> list[tuple[object, ...]]:
        """Read or write state inside the transaction."""
        return self._connection.execute(sql, values).fetchall()

    def allot(self, prefix: str) -> str:
        """The next free id of a kind: RD-001, RD-002, … without gaps, even across crashes."""
        ((number,),) = self._connection.execute(
            "INSERT INTO counters VALUES (?, 1)"
            " ON CONFLICT (prefix) DO UPDATE SET last = last + 1 RETURNING last",
            (prefix,),
        ).fetchall()
        return ids.format_id(prefix, int(str(number)))

    def set(self, key: str, value: Mapping[str, object], *, expect: int | None = None) -> int:
        """Set a cell; with *expect*, only if it is still as it was at that sequence (0: absent)."""
        if expect is not None:
            row = self._connection.execute("SELECT seq FROM cells WHERE key = ?", (key,)).fetchone()
            found = row[0] if row else 0
            if found != expect:
                raise Conflict(f"{key} was changed by event {found}, not {expect} as you read it")
        return self.append("cell.set", {"key": key, "value": value})

    def take(self, name: str, holder: str, *, expect: int | None = None) -> int:
        """Hold a lease under a token greater than all before: the holder before is fenced out."""
        token = self._token(name)
        if expect is not None and token != expect:
            raise Conflict(f"lease {name} is at token {token}, not {expect} as you read it")
        self.append("lease.taken", {"name": name, "holder": holder, "token": token + 1})
        return token + 1

    def fence(self, name: str, token: int) -> None:
        """Refuse to go on under a token that somebody has overtaken."""
        newest = self._token(name)
        if token != newest:
            raise FencedOut(f"token {token} of lease {name} is void: {newest} was given out since")

    def _token(self, name: str) -> int:
        row = self._connection.execute(
            "SELECT token FROM leases WHERE name = ?", (name,)
        ).fetchone()
        return int(row[0]) if row else 0


def _refused(error: OSError, folder: str) -> StandfastError:
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return JournalUnwritable("the journal cannot be written here", file=folder)
    return disk.disk_error(error, folder)


def _version(connection: apsw.Connection) -> int:
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    return int(version)  # type: ignore[arg-type]  # SQLite answers a number here


def _refuse_behind(connection: apsw.Connection, mirrored: int, path: str) -> None:
    """A journal that lacks what its own mirror holds was emptied or rolled back by something."""
    row = None if _is_unfinished(connection) else connection.execute(_LAST).fetchone()
    last = row[0] if row else 0
    if last < mirrored:
        raise JournalDamaged(
            f"the journal ends at event {last}, but its mirror holds {mirrored}", file=path
        )


def _check_version(connection: apsw.Connection, path: str) -> None:
    if connection.execute("PRAGMA application_id").fetchall() != [(schema.APPLICATION_ID,)]:
        raise NotAJournal("this database is not a Standfast journal", file=path)
    version = _version(connection)
    if version > schema.VERSION:
        raise JournalFromTheFuture(
            f"the journal has schema {version}; this Standfast knows {schema.VERSION}", file=path
        )


def _is_unfinished(connection: apsw.Connection) -> bool:
    """An empty database: made by us, or about to be."""
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return tables == [(0,)] and _version(connection) == 0


def _migrate(connection: apsw.Connection) -> None:
    """Under the turnstile: every missing step and the new version, in one transaction."""
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

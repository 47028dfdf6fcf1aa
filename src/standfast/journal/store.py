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
from _weakref import ref  # `weakref` loads more than a hook can afford

import apsw

from standfast import clock, disk
from standfast.errors.base import (
    BadDocument,
    JournalDamaged,
    JournalGone,
    JournalUnwritable,
    StandfastError,
)
from standfast.journal import database, journal_file
from standfast.journal.author import USER, Author, check
from standfast.journal.chain import LAST, Heads
from standfast.journal.payload import encode
from standfast.journal.tables import folds
from standfast.journal.writer_queue import Turnstile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from standfast.journal.transaction import Writing
    from standfast.journal_id import Identity

FILE = "journal.db"
MIRROR_EVERY = 1024
_MOMENT_NS = 2_000_000


class Journal:
    """One repository's journal, open in one thread of one process."""

    def __init__(
        self,
        folder: str,
        *,
        lock_timeout_s: float | None = 10.0,
        checkpoint: bool = True,
        known: bytes = b"",
        state_home: str = "",
    ) -> None:
        self.folder = folder
        self.state_home = state_home  # where this user's journals are known; else it is believed
        self.path = os.path.join(folder, FILE)
        self.lock_timeout_s = lock_timeout_s
        self._checkpoint = checkpoint
        self._turnstile: Turnstile | None = None
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._left = 0
        self._heads = Heads()
        self._unmirrored = 0
        self._known = known  # the line of its id, once it has one
        self._said = b""  # all that the id file said when this was opened
        self._is_at_home = False
        self._is_shadowed = False  # read as a stranger's: nothing may be written through that
        self._identity: Identity | None = None
        self._reached: tuple[int, bytes] | None = None  # the last that this process committed
        self._inserted: tuple[int, bytes] | None = None
        self._names: set[tuple[str | None, ...]] = set()  # those that were checked before

    @property
    def exists(self) -> bool:
        """Whether anything was ever recorded here; asking creates nothing.

        Absent, there, or not to be known: whoever may not look is told that, and nothing else.
        """
        return database.is_there(self.path)

    @property
    def connection(self) -> apsw.Connection:
        """The open database, made on first use."""
        if self._connection is not None and not self._is_in_place():
            self.abandon()
        if self._connection is None:
            file = disk.identity(self.path)  # before: if it is another by then, it is opened anew
            said = self._id()
            try:
                found = journal_file.open_existing(self.path, checkpoint=self._checkpoint)
            except apsw.Error as error:
                raise database.translate(error, self.path) from error
            if journal_file.is_old(
                found
            ):  # a writer brings the tables up to date, also for a reader
                found.close()
                found = self.enter()
                self.leave()
            self._refuse_older(found)
            self._connection, self._file = found, file
            self._define(found)
            self._know(said)
            if self.state_home and not journal_file.is_ours(self.folder, said, self.state_home):
                self._shadow(found)
        return self._connection

    def _shadow(self, connection: apsw.Connection) -> None:
        """A stranger's journal is read as one, before anybody wrote here."""
        from standfast.journal import id_file

        try:
            self._is_shadowed = id_file.read_as_strangers(self, connection)
        except apsw.Error as error:
            self.abandon()
            raise database.translate(error, self.path) from error

    @property
    def is_anothers(self) -> bool:
        """Whether others wrote it as it stands, and this user has not taken it over yet."""
        self.query("SELECT 1")  # whose it is was looked at when it was opened
        return self._is_shadowed

    def as_it_stands(self) -> apsw.Connection:
        """The database for whoever checks it, whosever it is."""
        self.state_home = ""
        if self._is_shadowed:
            self.abandon()
        return self.connection

    def _is_in_place(self) -> bool:
        """Whether the open file is still the journal: a repair puts another in its place."""
        return disk.identity(self.path) == self._file or bool(
            self._connection and self._connection.in_transaction
        )

    def query(self, sql: str, values: Sequence[apsw.SQLiteValue] = ()) -> list[tuple[Any, ...]]:
        """Ask the open database, with errors in the user's terms."""
        try:
            return self.connection.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise database.translate(error, self.path) from error

    def append(
        self,
        kind: str,
        payload: Mapping[str, object] | str,
        author: Author = USER,
        *,
        origin: str | None = None,
    ) -> int:
        """Record one fact and return its sequence number: from here on it survives anything."""
        if kind in folds.FOLDS:
            with self.writing() as tx:
                return tx.append(kind, payload, author, origin=origin)
        self.refuse_nested()
        text = encode(payload)  # everything that needs no lock comes before it
        try:  # one statement is a transaction of its own
            connection = self.enter()
            seq = self.insert(connection, kind, text, author, origin=origin, at=clock.now_us())
        except apsw.Error as error:
            self.abandon()
            raise database.translate(error, self.path) from error
        finally:
            self.leave()
        self.mirror_if_due()
        return seq

    @property
    def identity(self) -> Identity:
        """Whose journal it is, and where it was before."""
        if self._identity is None:
            from standfast.journal import id_file

            self._identity = id_file.look(self.folder)
        return self._identity

    def another(self, *, lock_timeout_s: float | None) -> Journal:
        """The same journal for another thread: it will not take one that came since for it."""
        return Journal(self.folder, lock_timeout_s=lock_timeout_s, known=self._known,
                       state_home=self.state_home)  # fmt: skip

    def make(self) -> None:
        """Have it stand, with an id; nothing is recorded but what was lost before it."""
        try:
            self.enter()
        finally:
            self.leave()

    def make_if_gone(self) -> None:
        """Where it was taken away, recording goes on in a new one, which begins with that."""
        if not self.exists and os.path.lexists(f"{self.folder}{journal_file.ID}"):
            try:
                self.make()
            except JournalDamaged:
                pass  # its mirror is left: whoever goes on is told

    def writing(self) -> Writing:
        """A transaction for facts that belong together: all of them are kept, or none."""
        from standfast.journal.transaction import Writing

        return Writing(self)

    def refuse_nested(self) -> None:
        """A second transaction inside an open one would end the first with it."""
        if self._connection is not None and self._connection.in_transaction:
            raise RuntimeError("this journal is being written already: use the open transaction")

    def enter(self) -> apsw.Connection:
        """Become the one writer; `leave` must follow."""
        turnstile = self._turnstile or self._open_turnstile()
        turnstile.enter(self.lock_timeout_s)
        if self._is_shadowed:
            self.abandon()
        if self._connection is not None:
            # A repair holds the same lock for longer than this: it cannot have been in between.
            if clock.monotonic_ns() - self._left < _MOMENT_NS or self._is_in_place():
                if self._is_at_home:
                    return self._connection
            else:
                self.abandon()
        try:
            return self._open_to_write()
        except BaseException as error:
            self.abandon()
            self.leave()
            if isinstance(error, apsw.Error):
                raise database.translate(error, self.path) from error
            if isinstance(error, OSError):
                raise write_refused(error, self.folder) from error
            raise

    def _open_to_write(self) -> apsw.Connection:
        """Open or make it; from here on it has an id, and is at home here."""
        if self._known and not database.is_there(self.path):
            raise self._taken_away()
        if self._connection is None:
            self._connection = journal_file.open_or_create(self.path, checkpoint=self._checkpoint)
            self._refuse_older(self._connection)
            self._define(self._connection)
            self._file = disk.identity(self.path)
        journal_file.prepare_spool(self.folder)
        found = self._id()
        if not journal_file.is_ours(self.folder, found, self.state_home):
            from standfast.journal import id_file  # once in a journal's life, and when it moves

            id_file.settle(self, self._connection)
            self._known, self._identity = b"", None  # a copy has another from here on
            found = self._id()
        self._know(found)
        self._is_at_home = True
        return self._connection

    def _refuse_older(self, connection: apsw.Connection) -> None:
        """An older copy of it in its place lacks what this process was told is kept."""
        if self._reached is None:
            return
        seq, link = self._reached
        rows = connection.execute("SELECT hash FROM events WHERE seq = ?", (seq,)).fetchall()
        last = connection.execute(LAST).fetchone()
        if rows != [(link,)] and (rows or last is None or last[0] < seq):  # else it was dropped
            raise self._taken_away()

    def _id(self) -> bytes:
        """The id file; going on in another journal would do everything twice."""
        found = journal_file.id_of(self.folder)
        if self._known and found.partition(b"\n")[0] != self._known:
            raise self._taken_away()
        return found

    def _know(self, found: bytes) -> None:
        self._said = found
        line = found.partition(b"\n")[0]
        self._known = line if line.startswith(b"journal ") else b""

    def _define(self, connection: apsw.Connection) -> None:
        """`here(path)`: what was recorded before a move is never told, nor looked at, as it was."""
        mine = ref(self)  # else the two would keep each other, and their files open, for ever

        def here(*paths: apsw.SQLiteValue) -> apsw.SQLiteValue:
            journal = mine()
            return paths[0] if journal is None else journal._here(paths[0])  # noqa: SLF001  # ours

        connection.create_scalar_function("here", here, 1)

    def _here(self, path: apsw.SQLiteValue) -> apsw.SQLiteValue:
        """A recorded path as it is now; where nothing ever moved nothing is loaded for it."""
        is_moved = b"\nwas " in self._said or not journal_file.is_at_home(self.folder, self._said)
        if not (is_moved and isinstance(path, str)):
            return path
        from standfast.journal import id_file

        return id_file.here(self, path)

    def _taken_away(self) -> JournalGone:
        words = "the journal was taken away while this command was at work"
        return JournalGone(words, file=self.folder)

    def leave(self) -> None:
        """Let the next writer in."""
        self._reached, self._inserted = self._inserted or self._reached, None
        if self._turnstile is not None:
            self._left = clock.monotonic_ns()
            self._turnstile.leave()

    def insert(
        self,
        connection: apsw.Connection,
        kind: str,
        text: str,
        author: Author,
        *,
        origin: str | None,
        at: int,
    ) -> int:
        """Write one event between `enter` and `leave`, and fold it into the state."""
        self._check(kind, author)
        try:
            row = self._heads.insert(connection, kind, text, author, origin=origin, at=at)
        except apsw.ConstraintError as error:
            if getattr(error, "extendedresult", 0) == apsw.SQLITE_CONSTRAINT_CHECK:
                raise BadDocument("the payload is not JSON") from error
            self._heads.forget()  # the number is taken: another process wrote meanwhile
            row = self._heads.insert(connection, kind, text, author, origin=origin, at=at)
        fold = folds.FOLDS.get(kind)
        if fold is not None:
            fold(connection, row)
        self._unmirrored += 1
        self._inserted = (row[0], row[10])
        return row[0]

    def _check(self, kind: str, author: Author) -> None:
        """Names are checked once each."""
        names = (author.run, author.session, author.actor, kind)
        if names in self._names:
            return
        check(author, kind)
        self._names.add(names)

    def forget(self) -> None:
        """Remember nothing of where the chains end: a transaction was undone."""
        self._heads.forget()
        self._inserted = None

    def abandon(self) -> None:
        """Throw the connection away; the next use opens and reads anew."""
        connection, self._connection = self._connection, None
        self._is_at_home = self._is_shadowed = False
        self.forget()
        if connection is not None:
            connection.close(True)  # noqa: FBT003  # apsw: close even where it reports errors

    def mirror_if_due(self) -> None:
        """After a commit: write a batch that is full."""
        if self._unmirrored >= MIRROR_EVERY:
            self.mirror()

    def mirror(self) -> None:
        """Write what the mirror lacks. Its failure undoes no fact: `doctor` tells how far it is."""
        from standfast.journal import mirror  # hooks leave this to others

        self._unmirrored = 0
        try:
            mirror.catch_up(self)
        except StandfastError:
            pass

    def checkpoint(self) -> None:
        """Bring the write-ahead log into the database, as far as nobody is in the way."""
        self.query("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Bring the mirror up to date and let go; what was recorded needs neither."""
        if self._unmirrored:
            self.mirror()
        self.let_go()

    def let_go(self) -> None:
        """Give every file back, and leave the mirror to others."""
        self.abandon()
        if self._turnstile is not None:
            self._turnstile.close()
            self._turnstile = None

    def _open_turnstile(self) -> Turnstile:
        disk.refuse_link(self.folder)
        try:
            disk.make_folder(self.folder)
            disk.make_private(self.folder)
            self._turnstile = Turnstile(self.folder)
        except OSError as error:
            raise write_refused(error, self.folder) from error
        return self._turnstile


def write_refused(error: OSError, folder: str) -> StandfastError:
    """Say why the journal's folder takes nothing."""
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return JournalUnwritable("the journal cannot be written here", file=folder)
    return disk.disk_error(error, folder)

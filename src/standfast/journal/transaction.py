"""Facts that belong together: one transaction under the turnstile, all of it kept or none."""

from __future__ import annotations

import apsw

from standfast import clock, ids
from standfast.errors.base import Conflict, FencedOut
from standfast.journal import database
from standfast.journal.author import USER, Author
from standfast.journal.payload import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

    from standfast.journal.store import Journal


class Writing:
    """A transaction; use it with `with journal.writing() as tx`."""

    __slots__ = ("_at", "_connection", "_journal")

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    @property
    def journal(self) -> Journal:
        """What is written into."""
        return self._journal

    def __enter__(self) -> Self:
        self._journal.refuse_nested()
        self._at = clock.now_us()
        try:
            self._connection = self._journal.enter()
            self._connection.execute("BEGIN IMMEDIATE")
        except BaseException as error:
            self._journal.leave()
            self._give_up(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._end(keep=error is None)
            if isinstance(error, apsw.Error):
                self._give_up(error)
        except BaseException as failed:
            self._give_up(failed)
            raise
        finally:
            self._journal.leave()
        if error is None:
            self._journal.mirror_if_due()

    def _end(self, *, keep: bool) -> None:
        if keep:
            self._connection.execute("COMMIT")
            return
        self._journal.forget()
        if self._connection.in_transaction:  # SQLite has rolled back by itself on some errors
            self._connection.execute("ROLLBACK")

    def _give_up(self, error: BaseException) -> None:
        """Throw the connection away, whatever state it is in; say an SQLite error in our words."""
        self._journal.abandon()
        if isinstance(error, apsw.Error):
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
        """Add one event; *at* is for facts that come in late and tell their own time."""
        text = encode(payload)
        at = self._at if at is None else at
        return self._journal.insert(self._connection, kind, text, author, origin=origin, at=at)

    def trial(self, part: Callable[[], None]) -> None:
        """Do a part that may fail by itself: it leaves no trace then, and the rest goes on."""
        self.execute("SAVEPOINT trial")
        try:
            part()
        except BaseException:
            self._journal.forget()
            if self._connection.in_transaction:  # a full disk ends the whole transaction
                self.execute("ROLLBACK TO trial")
                self.execute("RELEASE trial")
            raise
        self.execute("RELEASE trial")

    def execute(
        self, sql: str, values: tuple[apsw.SQLiteValue, ...] = ()
    ) -> list[tuple[object, ...]]:
        """Read or write state inside the transaction."""
        return self._connection.execute(sql, values).fetchall()

    def allot(self, prefix: str) -> str:
        """The next free id of a kind: RD-001, RD-002, … without gaps, even across crashes."""
        ((number,),) = self.execute(
            "INSERT INTO counters VALUES (?, 1)"
            " ON CONFLICT (prefix) DO UPDATE SET last = last + 1 RETURNING last",
            (prefix,),
        )
        return ids.format_id(prefix, int(str(number)))

    def set(self, key: str, value: Mapping[str, object], *, expect: int | None = None) -> int:
        """Set a cell; with *expect*, only if it is still as it was at that sequence (0: absent)."""
        found = self._number("SELECT seq FROM cells WHERE key = ?", key)
        if expect is not None and found != expect:
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
        return self._number("SELECT token FROM leases WHERE name = ?", name)

    def _number(self, sql: str, value: str) -> int:
        rows = self.execute(sql, (value,))
        return int(str(rows[0][0])) if rows else 0

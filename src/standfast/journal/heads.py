"""Where each chain ends: the next number and link, remembered as long as nobody else writes."""

from __future__ import annotations

from standfast.journal import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from standfast.journal.author import Author
    from standfast.journal.folds import Row

LAST = "SELECT seq FROM events ORDER BY seq DESC LIMIT 1"
_HEAD = "SELECT hash FROM events WHERE stream = ? ORDER BY seq DESC LIMIT 1"
_DROPPED_HEAD = "SELECT hash FROM heads WHERE stream = ?"
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Heads:
    """The newest number of all and the newest hash of every stream that was asked for."""

    __slots__ = ("_hashes", "_last")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Somebody else may have written: ask the journal again."""
        self._last: int | None = None
        self._hashes: dict[str, bytes] = {}

    def insert(
        self,
        connection: apsw.Connection,
        kind: str,
        payload: str,
        author: Author,
        *,
        origin: str | None,
        at: int,
    ) -> Row:
        """Write one event under the next number. A number that is taken raises ConstraintError."""
        run, session, actor, subdir = author.run, author.session, author.actor, author.subdir
        stream = chain.stream_of(run, session)
        last, before = self._ask(connection, stream)
        seq = last + 1
        link = chain.link(before, seq, at, run, session, actor, subdir, kind, origin, payload)
        row = (seq, at, stream, run, session, actor, subdir, kind, origin, payload, link)
        connection.execute(_INSERT, row)
        self._last = seq
        self._hashes[stream] = link
        return row

    def _ask(self, connection: apsw.Connection, stream: str) -> tuple[int, bytes]:
        if self._last is None:
            row = connection.execute(LAST).fetchone()
            self._last = row[0] if row else 0
        before = self._hashes.get(stream)
        if before is None:
            found = connection.execute(_HEAD, (stream,)).fetchone()
            if found is None:  # a new stream, or one whose events were all dropped
                found = connection.execute(_DROPPED_HEAD, (stream,)).fetchone()
            before = found[0] if found else chain.START
        return self._last, before

"""The hash chain: each event's hash covers the one before it in the same stream.

A stream is a run (`run:ID`), a session (`session:ID`) or the repository itself (`repo`).
The hashed bytes are ten lines of UTF-8, no line end after the last: the hash before in hex
(64 zeros at the start of a stream), sequence, time in microseconds, run, session, actor,
subdirectory, kind, origin, payload. Names hold no line ends and JSON escapes its own, so two
different events never have the same bytes; a shell with sha256sum can check a journal.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256

    import apsw

    from standfast.journal.author import Author
    from standfast.journal.tables.folds import Row
elif sys.version_info >= (3, 12):
    # CPython's own, without OpenSSL: quicker for so few bytes, and 3 ms less for a hook to load.
    from _sha2 import sha256
else:
    from _sha256 import sha256

__all__ = ["LAST", "START", "Heads", "link", "sha256", "stream_of"]

START = bytes(32)
LAST = "SELECT seq FROM events ORDER BY seq DESC LIMIT 1"
_HEAD = "SELECT hash FROM events WHERE stream = ? ORDER BY seq DESC LIMIT 1"
_DROPPED_HEAD = "SELECT hash FROM heads WHERE stream = ?"
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def stream_of(run: str | None, session: str | None) -> str:
    """The stream that an event belongs to: its run's, else its session's, else the repository's."""
    if run:
        return f"run:{run}"
    return f"session:{session}" if session else "repo"


def link(
    before: bytes,
    seq: int,
    at: int,
    run: str | None,
    session: str | None,
    actor: str,
    subdir: str,
    kind: str,
    origin: str | None,
    payload: str,
) -> bytes:
    """The hash of one event, given the hash before it."""
    text = (
        f"{before.hex()}\n{seq}\n{at}\n{run or ''}\n{session or ''}\n{actor}\n{subdir}\n{kind}\n"
        f"{origin or ''}\n{payload}"
    )
    return sha256(text.encode("utf-8")).digest()


class Heads:
    """Where each chain ends: the next number and hash, remembered as long as nobody else writes."""

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
        stream = stream_of(run, session)
        last, before = self._ask(connection, stream)
        seq = last + 1
        hashed = link(before, seq, at, run, session, actor, subdir, kind, origin, payload)
        row = (seq, at, stream, run, session, actor, subdir, kind, origin, payload, hashed)
        connection.execute(_INSERT, row)
        self._last = seq
        self._hashes[stream] = hashed
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
            before = found[0] if found else START
        return self._last, before

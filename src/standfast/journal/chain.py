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
elif sys.version_info >= (3, 12):
    # CPython's own, without OpenSSL: quicker for so few bytes, and 3 ms less for a hook to load.
    from _sha2 import sha256
else:
    from _sha256 import sha256

__all__ = ["START", "link", "sha256", "stream_of"]

START = bytes(32)


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

"""Who says a fact, and in which run or session and part of the repository. Hook path."""

from __future__ import annotations

from standfast.protocol.text import printable
from standfast.redact import redact


class Author:
    """The four names that every event carries; a value, never changed."""

    __slots__ = ("actor", "run", "session", "subdir")

    def __init__(
        self,
        actor: str = "user",
        *,
        run: str | None = None,
        session: str | None = None,
        subdir: str = "",
    ) -> None:
        self.actor = actor
        self.run = run
        self.session = session
        self.subdir = redact(printable(subdir)) if subdir else ""


USER = Author()
STANDFAST = Author("standfast")

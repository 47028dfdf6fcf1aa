"""Who says a fact, and in which run or session and part of the repository. Hook path."""

from __future__ import annotations

from standfast import ids
from standfast.errors.base import BadName
from standfast.redaction.redactor import redact
from standfast.text import printable


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

    def in_run(self, run: str | None) -> Author:
        """The same, of something that belongs to this run."""
        return Author(self.actor, run=run, session=self.session, subdir=self.subdir)


def check(author: Author, kind: str) -> None:
    """Refuse names that could be mistaken for something else, or hold a secret."""
    names = {"run": author.run, "session": author.session, "actor": author.actor, "kind": kind}
    for what, name in names.items():
        if name is not None and redact(ids.name(name, what=what)) != name:
            raise BadName(f"the {what} looks like a secret", remedy="Give it another name.")


USER = Author()
STANDFAST = Author("standfast")

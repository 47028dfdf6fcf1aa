"""What must be in the journal, as plain lists and dicts: every rule of the state once more.

Written without a look at the tables and their SQL, so that a mistake there is not made here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Payload = Mapping[str, object]


class Broken(AssertionError):
    """A promise was not kept."""


class Fact(NamedTuple):
    """One acknowledged event; a payload of None may be anything."""

    kind: str
    session: str | None
    payload: Payload | None


class Cell(NamedTuple):
    """A cell's value, the event that set it, and when that was told."""

    value: object
    seq: int
    at: int


class Truth:
    """The facts in their order, and the state that follows from them."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.decisions: dict[str, str] = {}
        self.ever: set[str] = set()  # all words that a decision ever had
        self.cells: dict[str, Cell] = {}
        self.leases: dict[str, tuple[str, int]] = {}
        self.counters: dict[str, int] = {}

    def copy(self) -> Truth:
        """Another one, to try things on."""
        other = Truth()
        for name, value in vars(self).items():
            setattr(other, name, value.copy())
        return other

    def append(self, kind: str, payload: Payload | None, session: str | None = None) -> int:
        """Take one fact as it is."""
        self.facts.append(Fact(kind, session, payload))
        return len(self.facts)

    def allot(self, prefix: str) -> str:
        """The id that comes next."""
        self.counters[prefix] = self.counters.get(prefix, 0) + 1
        return f"{prefix}-{self.counters[prefix]:03}"

    def note(self, text: str, session: str | None = None) -> str:
        """A decision under the next id."""
        identity = self.allot("RD")
        self.append("decision.noted", {"id": identity, "text": text}, session)
        self.decisions[identity] = text
        self.ever.add(text)
        return identity

    def amend(self, identity: str, text: str) -> None:
        """Other words for a decision that there is."""
        self.append("decision.amended", {"id": identity, "text": text})
        self.decisions[identity] = text
        self.ever.add(text)

    def set(self, key: str, value: object, at: int) -> None:
        """A cell."""
        seq = self.append("cell.set", {"key": key, "value": value})
        self.cells[key] = Cell(value, seq, at)

    def take(self, name: str, holder: str) -> int:
        """A lease under the next token."""
        token = self.leases.get(name, ("", 0))[1] + 1
        self.append("lease.taken", {"name": name, "holder": holder, "token": token})
        self.leases[name] = (holder, token)
        return token

"""One journal on a real disk beside the truth about it, and what must be so at any time.

Two open journals stand for two processes that take turns. Every choice comes from outside, so
the same steps can be drawn by a seed or by a search that makes failures small.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from harness.model.truth import Broken, Payload, Truth
from standfast.journal import mirror, questions
from standfast.journal.store import Journal
from standfast.journal.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    Choose = Callable[[int], int]  # a number below the one given

KEYS = ("a", "b")
_FLAVOURS = ("", " äöü ☃", ' "quoted" \\', " see RD-001", " a: b # c")


class Ground:
    """The journal, what must be in it, and what waits outside."""

    def __init__(self, folder: str, choose: Choose) -> None:
        self.folder = os.path.join(folder, "standfast")
        self.temporary = os.path.join(folder, "tmp")
        os.mkdir(self.temporary, 0o700)
        self.choose = choose
        self.truth = Truth()
        self.handles = [Journal(self.folder), Journal(self.folder)]
        self.spooled: list[tuple[int, str, Payload]] = []  # when it was told, kind, payload
        self.posted: list[str | None] = []  # in their order; None is what cannot be read
        self.gaps = self.gaps_told = self._checked = self._words = 0
        self.handles[0].append("world.begins", {})
        self.truth.append("world.begins", {})

    def words(self) -> str:
        """Words that nobody has said before."""
        self._words += 1
        return f"w{self._words:05}x{_FLAVOURS[self.choose(len(_FLAVOURS))]}"

    def journal(self) -> Journal:
        """One of the two that are open."""
        return self.handles[self.choose(2)]

    # What becomes of the processes and of their files.

    def reopen(self) -> None:
        """A process ends, well or badly, and another begins; then everything is looked at."""
        which = self.choose(2)
        ends = (self.handles[which].close, self.handles[which].let_go, self.handles[which].abandon)
        ends[self.choose(3)]()
        self.handles[which] = Journal(self.folder)
        self.check_all()

    def tear_mirror(self) -> None:
        """The newest lines of the mirror were never synced."""
        for path in mirror.segments(self.folder)[-1:]:
            os.truncate(path, max(0, os.path.getsize(path) - self.choose(400)))

    def renew(self) -> None:
        """Both processes have ended, and others have begun."""
        for number, handle in enumerate(self.handles):
            handle.let_go()
            self.handles[number] = Journal(self.folder)

    # What must be so.

    def check(self) -> None:
        """The newest events are what was acknowledged, in that order, each once."""
        found = questions.events(self.handles[0], questions.Filter(after=self._checked))
        for event in found:
            if event.seq != self._checked + 1 or event.seq > len(self.truth.facts):
                raise Broken(f"event {event.seq} ({event.kind}) is one too many or out of turn")
            kind, session, payload = self.truth.facts[event.seq - 1]
            told = json.loads(event.payload)
            if (event.kind, event.session) != (kind, session) or payload not in (None, told):
                raise Broken(f"event {event.seq}: {event.kind} {told}, not {kind} {payload}")
            self._checked = event.seq
        same("the number of facts", self._checked, len(self.truth.facts))

    def check_all(self) -> None:
        """The journal from its first event on, its state, and what `verify` says of it."""
        journal = self.handles[self.choose(2)]
        self._checked = 0
        self.check()
        same("decisions", _decisions(journal), self.truth.decisions)
        cells = journal.query("SELECT key, value, seq FROM cells")
        held = {key: (cell.value, cell.seq) for key, cell in self.truth.cells.items()}
        same("cells", {key: (json.loads(value), seq) for key, value, seq in cells}, held)
        leases = journal.query("SELECT name, holder, token FROM leases")
        same("leases", {name: (holder, token) for name, holder, token in leases}, self.truth.leases)
        same("counters", dict(journal.query("SELECT * FROM counters")), self.truth.counters)
        same("what verify says", verify(journal).problems, [])

    def close(self) -> None:
        """Look at everything once more, and let go."""
        self.check_all()
        for handle in self.handles:
            handle.close()


def _decisions(journal: Journal) -> dict[str, str]:
    return {found.id: found.text for found in questions.decisions(journal)}


def same(what: str, found: object, expected: object) -> None:
    """Say what differs."""
    if found != expected:
        raise Broken(f"{what}: {found!r:.600}, not {expected!r:.600}")

"""The journal and its writers: appending, belonging together, being refused, being killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.model.death import in_a_process_that_dies, kill_oneself
from harness.model.ground import KEYS, same
from harness.model.late import Late
from harness.model.truth import Broken, Truth
from standfast import clock
from standfast.errors.base import Conflict, DiskFailed, FencedOut
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records

if TYPE_CHECKING:
    from standfast.journal.transaction import Writing

_SESSIONS = (None, "s-1", "s-2")


class _WithdrawnError(Exception):
    """The writer thinks better of it, in the middle of its transaction."""


class World(Late):
    """Everything that may happen to a journal."""

    def append(self) -> None:
        """One fact in one of several streams."""
        session, payload = _SESSIONS[self.choose(3)], {"said": self.words()}
        seq = self.journal().append("model.said", payload, Author("user", session=session))
        if seq != self.truth.append("model.said", payload, session):
            raise Broken(f"fact {len(self.truth.facts)} was given the number {seq}")

    def transaction(self) -> None:
        """Some facts that belong together: kept, or withdrawn, or refused; all or none."""
        trial = self.truth.copy()
        try:
            with self.journal().writing() as tx:
                for _ in range(1 + self.choose(4)):
                    self._act(tx, trial)
                if self.choose(4) == 0:
                    raise _WithdrawnError  # noqa: TRY301  # that is how it is withdrawn
        except (_WithdrawnError, Conflict, FencedOut):
            return
        self.truth = trial

    def _act(self, tx: Writing, trial: Truth) -> None:
        acts = (self._note, self._note, self._number, self._set, self._take, self._fence)
        acts[self.choose(len(acts))](tx, trial)

    def _note(self, tx: Writing, trial: Truth) -> None:
        session, words = _SESSIONS[self.choose(3)], self.words()
        given = decision_records.note(tx, words, Author("user", session=session))
        same("the id of a decision", given, trial.note(words, session))

    def _number(self, tx: Writing, trial: Truth) -> None:
        identity = tx.allot("CP")
        same("an id", identity, trial.allot("CP"))
        tx.append("model.numbered", {"id": identity})
        trial.append("model.numbered", {"id": identity})

    def _set(self, tx: Writing, trial: Truth) -> None:
        key, value = KEYS[self.choose(2)], {"words": self.words()}
        now = trial.cells[key].seq if key in trial.cells else 0
        expect = (None, now, now, now + 1)[self.choose(4)]
        tx.set(key, value, expect=expect)
        if expect not in {None, now}:
            raise Broken(f"cell {key} was set over event {now} by one that had read {expect}")
        trial.set(key, value, clock.now_us())

    def _take(self, tx: Writing, trial: Truth) -> None:
        name, holder = KEYS[self.choose(2)], f"h{self.choose(3)}"
        now = trial.leases.get(name, ("", 0))[1]
        expect = (None, now, now, now - 1)[self.choose(4)]
        token = tx.take(name, holder, expect=expect)
        if expect not in {None, now}:
            raise Broken(f"lease {name} was taken at token {now} by one that had read {expect}")
        same("the token of a lease", token, trial.take(name, holder))

    def _fence(self, tx: Writing, trial: Truth) -> None:
        name = KEYS[self.choose(2)]
        now = trial.leases.get(name, ("", 0))[1]
        token = now - self.choose(2)
        tx.fence(name, token)
        if token != now:
            raise Broken(f"token {token} of lease {name} still opened, {now} was given out")

    def refused_commit(self) -> None:
        """The disk is full, or says no at the commit: nothing of it is there, and it goes on."""
        journal, trial = self.journal(), self.truth.copy()
        connection = journal.connection
        if self.choose(2):
            connection.execute("PRAGMA max_page_count=1").fetchall()  # as large as it is now
        else:
            connection.set_commit_hook(lambda: True)
        try:
            with journal.writing() as tx:
                for _ in range(2):
                    payload = {"said": self.words() * 500}
                    tx.append("model.large", payload)
                    trial.append("model.large", payload)
        except DiskFailed:
            return
        self.truth = trial  # there were free pages
        journal.abandon()

    def killed_writer(self) -> None:
        """A process is killed before its commit, in it, or right after it and before it says so."""
        moment, facts = self.choose(3), [{"said": self.words()} for _ in range(1 + self.choose(3))]
        for handle in self.handles:  # a child must not hold our connections
            handle.let_go()

        def work() -> None:
            journal = Journal(self.folder)
            connection = journal.connection
            if moment == 1:
                connection.set_commit_hook(kill_oneself)
            if moment == 2:  # noqa: PLR2004  # after the commit
                connection.set_wal_hook(lambda *_: kill_oneself())
            with journal.writing() as tx:
                for payload in facts:
                    tx.append("model.last-words", payload)
                if moment == 0:
                    kill_oneself()

        in_a_process_that_dies(work)
        if moment == 2:  # noqa: PLR2004  # as above
            for payload in facts:
                self.truth.append("model.last-words", payload)

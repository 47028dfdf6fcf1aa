"""What goes round the journal and comes home later: the spool, the inbox, and merging them."""

from __future__ import annotations

from harness.model.death import Death, after_calls, die
from harness.model.ground import KEYS, Ground
from harness.model.truth import Broken, Payload, Truth
from standfast import clock
from standfast.journal import questions
from standfast.journal.fallback import inbox, spool, strays

_FAR_US = 3_600 * 1_000_000


class Late(Ground):
    """A journal whose writers cannot always have it."""

    def spool(self) -> None:
        """A fact whose writer could not have the journal."""
        choices: tuple[tuple[str, Payload], ...] = (
            ("tool.late", {"said": self.words()}),
            ("decision.noted", {"text": self.words()}),  # no hook decides: refused, as what follows
            ("lease.taken", {"holder": "nameless"}),
            ("cell.set", {"key": KEYS[self.choose(2)], "value": {"words": self.words()}}),
        )
        kind, payload = choices[self.choose(len(choices))]
        far = (-_FAR_US, _FAR_US)[self.choose(2)]
        at = clock.now_us() + far + self._words
        if spool.keep(self.folder, kind, payload, at=at):
            self.spooled.append((at, kind, payload))
            return
        if sum(1 for _ in spool.strays(self.folder)) < spool.SLOTS - 1:
            raise Broken("the spool refused a fact and had room")
        self.gaps += 1

    def flood(self) -> None:
        """More facts than the spool has slots."""
        for _ in range(spool.SLOTS + self.choose(3)):
            self.spool()

    def post(self) -> None:
        """A decision of somebody who may not write here; now and then what is none."""
        words: str | None = self.words() if self.choose(5) else ""
        path = inbox.leave(self.folder, [self.temporary], "decision.noted", {"text": words})
        if not self.choose(5):
            words = None
            with open(path, "r+b") as file:
                file.truncate(self.choose(100))
        self.posted.append(words)

    def merge(self) -> None:
        """Bring home what waits, and die at some step of it or not at all."""
        journal, nth = self.journal(), self.choose(12)
        trial = self.truth.copy()
        self._bring_home(trial)
        try:
            with after_calls({nth: die}):  # 0: never
                strays.merge(journal, [self.temporary])
        except Death:
            self.renew()
            if questions.last_seq(self.handles[0]) == len(self.truth.facts):
                return  # none of it, which is as good as all of it
        else:
            if spool.is_used(self.folder):
                raise Broken("what came home still holds its slot in the spool")
        self.truth, self.spooled, self.posted = trial, [], []
        self.gaps_told = self.gaps

    def _bring_home(self, trial: Truth) -> None:
        for _, kind, payload in self.spooled:  # in the order of doing, whatever the clock said
            if kind == "tool.late":
                trial.append(kind, payload)
            else:
                trial.append("stray.refused", None)
        for words in sorted(self.posted, key=lambda words: words is not None):
            self._bring_note(trial, words or "")  # what cannot be read has no time: it is first
        if self.gaps > self.gaps_told:
            trial.append("gap", None)
            trial.set("spool:gaps", {"told": self.gaps}, clock.now_us())

    @staticmethod
    def _bring_note(trial: Truth, words: str) -> None:
        if words:
            trial.note(words)
        else:
            trial.append("stray.refused", None)

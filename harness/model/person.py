"""Keeping the face while somebody edits it: what comes into the journal, and what must be so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from harness.model.death import Death, after_calls, die
from harness.model.editor import BROKEN, Editor, first_of
from harness.model.truth import Broken, Truth
from standfast.decisions import status_md
from standfast.faces import publish
from standfast.faces.look import Became
from standfast.journal import questions

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.model.world import World
    from standfast.faces.publish import Outcome


class Person(Editor):
    """Somebody with an editor, whose file we keep."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._unfinished: set[bytes] = set()  # seen by us without their last line end
        self._has_twin = False  # the file and its draft, when death came between two calls
        self._drafted: bytes | None = None  # what a publish that died had put in place

    def keep(self) -> None:
        """Adopt and publish; nobody disturbs."""
        before = self._look()
        outcome = publish.keep(self.world.journal(), self.face, exchange=bool(self.world.choose(2)))
        self._absorb(before)
        self._judge(outcome, before)
        self._judge_name(outcome, before)
        self._is_seen(before)
        self._has_twin = False
        if _is_done(outcome):
            self._is_published(before)
        self.check()

    def keep_and_die(self) -> None:
        """Death strikes after some step; it may be that the person saved just before."""
        self._is_seen(self._look())
        last = 1 + self.world.choose(16)
        plan = {self.world.choose(last): self._disturb(), last: die}  # 0: not at all
        try:
            with after_calls(plan):
                publish.keep(self.world.journal(), self.face, exchange=bool(self.world.choose(2)))
        except Death:
            self.world.renew()
        self.whole.add(None)  # without a swap there is a moment without a file
        self._absorb()
        self._is_seen(self._bytes())
        if self._bytes() == _page(self.world.truth):
            self._drafted = self._bytes()
        # A first file that has two names for an instant: nobody can tell later which came first.
        self._has_twin = [*self._all_bytes()].count(self._bytes() or b"") > 1
        self.check()

    def keep_and_race(self) -> None:
        """The person saves while we are at it."""
        act, before = self._disturb(), self._look()
        handle, exchange = self.world.journal(), bool(self.world.choose(2))
        with after_calls({1 + self.world.choose(10): act}):
            outcome = publish.keep(handle, self.face, exchange=exchange)
        self.whole.add(None)
        self._absorb()
        self._judge(outcome, before)
        self._is_seen(before, self._bytes())
        self._remember_published()
        self.check()

    def _disturb(self) -> Callable[[], None]:
        acts = (self.add, self.add, self.amend, self.add_unfinished, self.spoil, self.delete)
        return acts[self.world.choose(len(acts))]

    def _look(self) -> bytes | None:
        """The file before we keep it. What a death left as it was is known to be ours from here."""
        data, drafted = self._bytes(), self._drafted
        if data is not None and data == drafted and data not in self.published:
            self.published.append(data)
        self._drafted = None
        return data

    def _is_seen(self, *versions: bytes | None) -> None:
        """We have looked at these: a line without its end is not new to us any more."""
        self._unfinished.update(data for data in versions if data is not None)

    def _absorb(self, before: bytes | None = None) -> None:
        """What came into the journal must be what the person wrote, once."""
        truth = self.world.truth
        known = questions.Filter(after=len(truth.facts))
        self.whole.add(_page(truth))
        for event in questions.events(self.world.handles[0], known):
            told = json.loads(event.payload)
            words = str(told.get("text"))
            if self.said.get(first_of(words)) != words or words in truth.ever:
                raise Broken(f"the face brought {event.kind} {told}, which nobody wrote just now")
            if event.kind == "decision.noted":
                self._judge_new(words, before or b"")
                truth.note(words)
            elif (before or b"").count(b"- %s " % told["id"].encode()) > 1:
                raise Broken(f"{told['id']} stood there twice, and was amended")
            else:
                truth.amend(told["id"], words)
            self.whole.add(_page(truth))

    def _judge_new(self, words: str, before: bytes) -> None:
        """Other words for words that still hold are no new decision."""
        identity, replaced = self._replaces.get(first_of(words), ("", ""))
        line = f"- {identity} {words}\n".encode()
        once = line in before and before.count(b"- %s " % identity.encode()) == 1
        if once and not self._has_twin and self.world.truth.decisions[identity] == replaced:
            raise Broken(f"other words for {identity} became a decision of their own: {words}")

    def _judge(self, outcome: Outcome, before: bytes | None) -> None:
        """A refusal and a delay must have a reason; without one nothing is put off."""
        both = [*self._all_bytes(), before or b""]
        if outcome.refused is not None and not any(BROKEN in data for data in both):
            raise Broken(f"the face was refused: {outcome.refused.problem}")
        if outcome.became is Became.UNSETTLED and all(
            data.endswith(b"\n") for data in both if data
        ):
            raise Broken("the face waits for the end of a line that has one")
        if _is_done(outcome):
            later = {data for data in both[1:] if BROKEN in data or not data.endswith(b"\n")}
            put_off = self.waiting - self._held([self._bytes() or b"", *later])
            if put_off:
                raise Broken(f"{sorted(put_off)} lie in a file that we took away")

    def _judge_name(self, outcome: Outcome, before: bytes | None) -> None:
        """An old copy of ours is no edit; a line without its end is not taken at first sight."""
        if outcome.refused is not None or before is None:
            return
        if before in self.published:
            if outcome.became not in {Became.SAME, Became.REWOUND}:
                raise Broken(f"an old copy of ours was taken for {outcome.became}")
        elif not before.endswith(b"\n"):
            settled = before in self._unfinished and before == self._rested
            if not settled and outcome.became is not Became.UNSETTLED:
                raise Broken(f"a line without its end was taken at once: {outcome.became}")

    def _is_published(self, before: bytes | None) -> None:
        """Nobody disturbed and nothing was refused: the file says what the journal says."""
        if self._bytes() != _page(self.world.truth):
            raise Broken(f"the face says {self._bytes()!r:.2000}")
        for first in self.waiting:
            if first.encode() in (before or b"") and self.said[first] not in self.world.truth.ever:
                raise Broken(f"{first} stood in the face, and was not taken in")
        self._remember_published()

    def _remember_published(self) -> None:
        data = self._bytes()
        if data == _page(self.world.truth) and data not in self.published[-1:]:
            self.published.append(data)


def _is_done(outcome: Outcome) -> bool:
    return outcome.refused is None and outcome.became is not Became.UNSETTLED


def _page(truth: Truth) -> bytes:
    found = [
        questions.Decision(identity, text, "user", "", None, 0)
        for identity, text in truth.decisions.items()
    ]
    return status_md.render(found)

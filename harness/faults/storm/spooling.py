"""The spool while somebody sits on the journal: many keep facts there, many merge them later.

More come than there is room for. What was taken is in the journal once in the end, what was not is
told as a gap, and nothing is there twice although several merge at the same moment.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING

from harness.faults.storm.at_once import FAILED, at_once
from standfast.errors.base import JournalBusy
from standfast.journal import questions
from standfast.journal.author import Author
from standfast.journal.fallback import spool, strays
from standfast.journal.store import Journal

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = "tool.spooled"
_KEEPERS, _EACH, _MERGERS = 10, 7, 4
_TRIES = 300


class Spooling:
    """Rounds of it, in one journal."""

    def __init__(self, folder: str, plant: Callable[[], None]) -> None:
        self.folder = folder
        self.kept = 0
        self._refused = 0
        self._plant = plant
        journal = Journal(folder)
        journal.append("begin", {})
        journal.close()

    def round(self, number: int) -> list[str]:
        """Keep while it is held, then merge at once; what went wrong."""
        works = [lambda keeper=keeper: self._keep(number, keeper) for keeper in range(_KEEPERS)]
        ready, release, holder = self._hold()
        os.read(ready, 1)
        said = at_once(works, self._plant)
        os.close(release)
        os.waitpid(holder, 0)
        os.close(ready)
        merged = at_once([self._merge] * _MERGERS, self._plant)
        failed = [words for words in (*said, *merged) if words.startswith(FAILED)]
        return [f"wrong round {number}: {words}" for words in failed] or self._count(number, said)

    def _hold(self) -> tuple[int, int, int]:
        heard, said = os.pipe()
        wait, release = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(release)
            with Journal(self.folder).writing():
                os.write(said, b"!")
                os.read(wait, 1)
            os._exit(0)
        os.close(said)
        os.close(wait)
        return heard, release, pid

    def _keep(self, number: int, keeper: int) -> str:
        """One letter for each fact: kept or not."""
        author = Author("writer", session=f"k{keeper}")
        return "".join(self._keep_one(author, f"{number}-{one}") for one in range(_EACH))

    def _keep_one(self, author: Author, fact: str) -> str:
        for _ in range(_TRIES):
            try:
                return "k" if spool.keep(self.folder, KIND, {"fact": fact}, author) else "n"
            except JournalBusy:
                continue
        raise JournalBusy("nobody gets the spool")

    def _merge(self) -> str:
        journal = Journal(self.folder)
        strays.merge(journal, [])
        journal.close()
        return ""

    def _count(self, number: int, said: list[str]) -> list[str]:
        journal = Journal(self.folder)
        strays.merge(journal, [])  # a slot that was not free to be cleared
        events = list(questions.events(journal, questions.Filter()))
        journal.close()
        there = Counter(
            (event.session, json.loads(event.payload)["fact"])
            for event in events
            if event.kind == KIND
        )
        promised = {
            (f"k{keeper}", f"{number}-{one}"): letter == "k"
            for keeper, letters in enumerate(said)
            for one, letter in enumerate(letters)
        }
        self.kept += sum(promised.values())
        self._refused += len(promised) - sum(promised.values())
        gaps = sum(json.loads(event.payload)["facts"] for event in events if event.kind == "gap")
        found = [f"lost round {number}: {fact} was kept and is not there"
                 for fact, kept in promised.items() if kept and fact not in there]  # fmt: skip
        found += [f"wrong round {number}: {fact} is there {times} times"
                  for fact, times in there.items() if times != 1]  # fmt: skip
        if gaps != self._refused:
            found.append(f"wrong round {number}: {self._refused} found no room, told are {gaps}")
        return found

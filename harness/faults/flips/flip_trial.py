"""One flip: one byte of one file is another, and the product is asked.

It may answer as before, or name the damage; anything else is wrong: other facts, fewer facts
without a word, an error that speaks of something else, a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import JournalDamaged, NotAJournal, StandfastError
from standfast.journal import questions
from standfast.journal.author import Author
from standfast.journal.fallback import spool
from standfast.journal.store import Journal
from standfast.journal.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable

READ, COMMAND, HOOK = "read", "note", "hook"  # only read; write first, as one or the other
RIGHT, NAMED, MENDED, WRONG = "right", "named", "mended", "wrong"
_NEW = Author("claude", session="after-the-flip")


class Flip(NamedTuple):
    """Which bits of which byte are turned over, and who asks first."""

    shape: str
    file: str
    offset: int
    bits: int
    asked: str

    def __str__(self) -> str:
        return f"{self.shape}:{self.file}@{self.offset}^{self.bits}:{self.asked}"


def parse(text: str) -> Flip:
    """The flip that `str` gives back."""
    shape, place, asked = text.split(":")
    file, _, byte = place.rpartition("@")
    offset, _, bits = byte.partition("^")
    return Flip(shape, file, int(offset), int(bits), asked)


class Told(NamedTuple):
    """Everything that a journal says: each table, the decisions, and what waits in the spool."""

    events: list[questions.Event]
    decisions: list[questions.Decision]
    tables: dict[str, list[tuple[object, ...]]]
    strays: list[tuple[object, ...]]
    gaps: int


class Outcome(NamedTuple):
    """How the product answered."""

    how: str  # right, named, mended or wrong
    words: str = ""


def told(folder: str) -> Told:
    """Ask for everything, as a command does."""
    journal = Journal(folder)
    try:
        names = journal.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
        return Told(
            list(questions.events(journal, questions.Filter())),
            questions.decisions(journal),
            {name: journal.query(f"SELECT * FROM {name}") for (name,) in names},
            [_stray(slot, found) for slot, found in spool.strays(folder)],
            spool.gaps(folder),
        )
    finally:
        journal.let_go()


def _stray(slot: int, found: spool.Stray | str) -> tuple[object, ...]:
    if isinstance(found, str):
        return (slot,)
    who = found.author
    about = (who.actor, who.run, who.session, who.subdir)
    return slot, found.id, found.kind, found.payload, *about, found.at


def outcome(folder: str, truth: Told, asked: str) -> Outcome:
    """Ask, after the byte was changed."""
    return answered(lambda: _outcome(folder, truth, asked))


def answered(ask: Callable[[], Outcome]) -> Outcome:
    """What is asked, or how it was refused: damage is named by two errors, and by no other."""
    try:
        return ask()
    except (JournalDamaged, NotAJournal) as error:
        return Outcome(NAMED, f"{error.code} {error.problem}")
    except StandfastError as error:
        return Outcome(WRONG, f"told as {type(error).__name__}: {error.problem}")
    except Exception as error:  # noqa: BLE001  # a bug, told as what it is
        return Outcome(WRONG, f"traceback: {type(error).__name__}: {error}")


def _outcome(folder: str, truth: Told, asked: str) -> Outcome:
    if asked != READ:
        _go_on(folder, asked)
    found = told(folder)
    if asked != READ:
        found, own = _without_new(found)
        if own != 1:
            return Outcome(WRONG, f"the new fact is there {own} times")
    words = _differences(truth, found, tables=asked == READ)
    if not words:
        return Outcome(RIGHT)
    others = _differences(truth, found._replace(strays=truth.strays), tables=asked == READ)
    if not others and _are_named(truth.strays, found.strays):
        return Outcome(NAMED, "a spool slot does not check")
    return Outcome(WRONG, f"{words}; {_verified(folder)}")


def _go_on(folder: str, asked: str) -> None:
    """A fact after the flip: by a command, which looks at the mirror, or by a hook."""
    journal = Journal(folder, checkpoint=asked == COMMAND)
    try:
        journal.append("after.flip", {"number": 1}, _NEW)
    finally:
        journal.close() if asked == COMMAND else journal.let_go()


def _without_new(found: Told) -> tuple[Told, int]:
    events = [event for event in found.events if event.session != _NEW.session]
    return found._replace(events=events), len(found.events) - len(events)


def _differences(truth: Told, found: Told, *, tables: bool) -> str:
    """What is not as it was, in a few words."""
    words = []
    if found.events != truth.events:
        words.append(f"events {len(found.events)} of {len(truth.events)}")
    if found.decisions != truth.decisions:
        words.append("decisions")
    if tables or found.tables.keys() != truth.tables.keys():
        words += [
            f"table {name}" for name, rows in truth.tables.items() if found.tables.get(name) != rows
        ]
    if found.strays != truth.strays:
        words.append(f"spooled {len(found.strays)} of {len(truth.strays)}")
    if found.gaps != truth.gaps:
        words.append(f"gaps {found.gaps}")
    return ", ".join(words)


def _are_named(truth: list[tuple[object, ...]], found: list[tuple[object, ...]]) -> bool:
    """A slot that does not check is told as refused, with its number; also one that was empty."""
    before = {stray[0]: stray for stray in truth}
    now = {stray[0]: stray for stray in found}
    return before.keys() <= now.keys() and all(
        len(stray) == 1 or stray == before.get(slot) for slot, stray in now.items()
    )


def _verified(folder: str) -> str:
    named = verified(folder)
    return "verify says nothing" if named.how == RIGHT else f"then {named.words}"


def verified(folder: str) -> Outcome:
    """What `journal verify` says: every problem is damage that has a name."""

    def ask() -> Outcome:
        journal = Journal(folder)
        try:
            problems = verify(journal).problems
        finally:
            journal.let_go()
        return Outcome(NAMED, problems[0]) if problems else Outcome(RIGHT)

    return answered(ask)

"""What a repair tells, as the newest events of the journal that it made.

`journal.repaired` has every loss for programs and for the next repair. A `gap` beside it is what
`status` and the brief show: nobody has to ask for it to learn that something is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.journal import chain
from standfast.journal.author import STANDFAST
from standfast.journal.payload import encode
from standfast.journal.repair.losses import KIND, Losses
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import apsw

    from standfast.journal.repair.verdicts import Chosen, Range

MORE = "what could not be read may have held more"
_RANGES_EACH = 4_000  # in one event: a payload is bounded
_SHOWN = 20
_LONGEST_WHY = 300
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Story(NamedTuple):
    """What is known of a repair before it chooses."""

    quarantine: str  # its name
    at: int
    found: list[str]  # by whoever noticed
    pieces: list[str]  # in the quarantine that do not check

    @property
    def damaged(self) -> list[str]:
        """All of it, in words."""
        return [*self.found, *self.pieces]


class Outcome(NamedTuple):
    """What was believed, and all that is known of the rest."""

    chosen: Chosen
    numbers: dict[str, int]  # the last id given out, where no event that is left uses it
    ids: list[tuple[str, str]]  # from the first to the last id whose event is gone
    ids_gone: int  # how many those are
    is_unsure: bool

    @classmethod
    def of(
        cls, chosen: Chosen, end: int | None, given: Mapping[str, int], used: Mapping[str, int]
    ) -> Outcome:
        """*end* is the database's newest number, if that could be read; a mirror lags behind."""
        numbers = {p: last for p, last in given.items() if last > used.get(p, 0)}
        spans = {p: (used.get(p, 0) + 1, last) for p, last in numbers.items()}
        gone = [
            (ids.format_id(p, first), ids.format_id(p, last)) for p, (first, last) in spans.items()
        ]
        is_unsure = end is None or end < chosen.last or bool(gone and not chosen.missing)
        count = sum(last - first + 1 for first, last in spans.values())
        return cls(chosen, numbers, gone, count, is_unsure)

    @property
    def forked(self) -> list[Range]:
        """The numbers for which the mirror has other events."""
        return [(fork.first, fork.last) for fork in self.chosen.forked]

    @property
    def fork_words(self) -> list[str]:
        """The same for people."""
        return [
            f"{span(fork.first, fork.last)} {'stands' if fork.first == fork.last else 'stand'}"
            f" differently in the mirror: kept in the quarantine, in file {fork.file}"
            for fork in self.chosen.forked
        ]

    @property
    def id_words(self) -> list[str]:
        """Which ids have no event any more."""
        return [_named(first, last) for first, last in self.ids]


def span(first: int, last: int) -> str:
    """A range of events in words."""
    return f"event {first}" if first == last else f"events {first} to {last}"


def _named(first: str, last: str) -> str:
    what = ("decision ", "decisions ") if first.startswith("RD-") else ("", "")
    if first == last:
        return f"{what[0]}{first} is missing"
    return f"{what[1]}{first} to {last} are missing"


def tell(
    connection: apsw.Connection, outcome: Outcome, story: Story, base: Mapping[str, object]
) -> int:
    """The newest events: what was lost, so that nobody takes the rest for the whole."""
    new = Losses.told(connection).count_new(outcome.chosen.missing)
    story.pieces.extend(outcome.fork_words[:_SHOWN])
    about = {
        "quarantine": story.quarantine,
        "events": outcome.chosen.events,
        "damaged": story.damaged,
        "numbers": outcome.numbers,
        **base,
        **({"unsure": True} if outcome.is_unsure else {}),
    }
    seq = outcome.chosen.last
    for part in _parts(outcome):
        seq += 1
        _append(connection, outcome.chosen, story.at, seq, KIND, {**about, **part})
    if new or outcome.is_unsure or outcome.forked or outcome.ids:
        seq += 1
        gap = {"facts": max(new or outcome.ids_gone, 1), "why": _why(outcome, new)}
        _append(connection, outcome.chosen, story.at, seq, "gap", gap)
    return seq


def _append(
    connection: apsw.Connection,
    chosen: Chosen,
    at: int,
    seq: int,
    kind: str,
    payload: Mapping[str, object],
) -> None:
    before = chosen.heads.get("repo", chain.START)
    rest = (STANDFAST.actor, "", kind, None, encode(payload))
    link = chain.link(before, seq, at, None, None, *rest)
    connection.execute(_INSERT, (seq, at, "repo", None, None, *rest, link))
    chosen.heads["repo"] = link


def _parts(outcome: Outcome) -> Iterator[dict[str, object]]:
    lists: dict[str, Sequence[object]] = {
        "missing": outcome.chosen.missing,
        "sealed": outcome.chosen.sealed,
        "forked": outcome.forked,
    }
    for at in range(0, max(1, *map(len, lists.values())), _RANGES_EACH):
        yield {name: found[at : at + _RANGES_EACH] for name, found in lists.items()}


def _why(outcome: Outcome, new: int) -> str:
    """One line for `status`; `journal verify` has the numbers."""
    words = ["the journal was damaged and rebuilt"]
    if new:
        words.append(f"{new:,} events are lost" if new > 1 else "1 event is lost")
    words += outcome.id_words
    if outcome.is_unsure:
        words.append(MORE)
    words += [f"{span(*found)}: the mirror told otherwise" for found in outcome.forked]
    return one_line("; ".join(words), _LONGEST_WHY)
